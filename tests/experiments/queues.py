"""Small queues over a thin link, shared by the tests of what is measured of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from heliograph.experiments import thin_sim
from heliograph.experiments.load import capacity
from heliograph.experiments.thin_link import QUEUES

if TYPE_CHECKING:
    from heliograph.experiments.transit import Transit

SIZE = capacity(64)
BULK = 47_800.0


@cache
def ran(name: str, seed: int = 1, seconds: float = 150.0) -> Transit:
    (queue,) = [one for one in QUEUES if one.name == name]
    found = thin_sim.simulate(queue, SIZE, seconds, seed)
    found.bulk = BULK
    return found
