from __future__ import annotations

import pytest

from heliograph.experiments import fanout_real, namespaces
from heliograph.experiments.namespaces import alone
from heliograph.experiments.thin_real import EndError

REASON = namespaces.unavailable()
needs_namespaces = pytest.mark.skipif(bool(REASON), reason=REASON or "namespaces work here")


@needs_namespaces
def test_a_planet_and_plain_forwarding_are_measured_in_a_namespace() -> None:
    shares: list[float] = []
    ((count, late),) = fanout_real.measure([2], 25, shares.append)
    assert count == 2
    assert [[len(one) for one in kind] for kind in late] == [[5, 5]] * 3
    assert shares == [1]


@needs_namespaces
def test_a_program_that_does_not_start_is_told() -> None:
    with alone() as place:
        place.address = "192.0.2.1"
        with pytest.raises(EndError, match="did not start"):
            fanout_real.start(place, "planet")
