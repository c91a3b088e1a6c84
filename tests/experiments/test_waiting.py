from __future__ import annotations

import threading

from heliograph.experiments.waiting import told


def test_it_tells_how_far_it_is_until_the_block_is_done() -> None:
    enough = threading.Event()
    shares: list[float] = []

    def tell(share: float) -> None:
        shares.append(share)
        if len(shares) == 2:
            enough.set()

    with told(tell, 0.001):
        assert enough.wait(30)
    count = len(shares)
    assert shares[-1] == 1, "it may take longer than it was said to"
    assert threading.active_count() >= 1
    assert len(shares) == count
