"""PACK's Figure 7, simulated: latency grows with the receivers, and a planet adds little."""

from __future__ import annotations

import numpy as np
import pytest

from heliograph.experiments.fanout_sim import simulate


def usual(receivers: int, *, buffered: bool) -> float:
    return float(np.mean(simulate(receivers, 4.0, 1, buffered=buffered)))


def test_latency_grows_by_the_same_for_each_receiver() -> None:
    late = [usual(count, buffered=True) for count in (1, 5, 9, 13)]
    assert np.diff(late) == pytest.approx(np.diff(late)[0], rel=0.05)
    assert late[0] > 0


def test_buffering_adds_little_to_plain_forwarding() -> None:
    assert usual(8, buffered=True) < 1.1 * usual(8, buffered=False)


def test_every_receiver_has_its_latencies() -> None:
    assert [len(one) for one in simulate(3, 1.0, 1, buffered=True)] == [6, 6, 6]
