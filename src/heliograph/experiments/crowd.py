"""Crowd: several receivers behind one thin link, each with a policy; one run, simulated or real."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from heliograph.experiments import thin_real
from heliograph.experiments.load import THIN_RATE, capacity, levels, tail
from heliograph.experiments.namespaces import ThinLink, joined
from heliograph.experiments.rig import PLANET, Rig
from heliograph.experiments.thin_ends import FarJob, NearJob
from heliograph.experiments.thin_sim import QUALITY
from heliograph.experiments.transit import SECOND
from heliograph.planet.config import PlanetConfig
from heliograph.sim.world import SimulationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heliograph.policy.model import Policy

LANE_EVENTS: Final = 64
LANE_BYTES: Final = capacity(LANE_EVENTS)
# Of a run, the part after which it is measured: all lanes have been full for long by then.
_WARM: Final = 0.5


@dataclass(frozen=True)
class Crowd:
    """What the receivers of one run got in the part that is measured."""

    kind: str
    seed: int
    seconds: float
    published: int
    came: list[int]  # Events, by receiver.
    late: list[float]  # The mean latency of each, in seconds.

    @property
    def receivers(self) -> int:
        """How many there were."""
        return len(self.came)

    @property
    def latency(self) -> float:
        """The mean of their latencies."""
        return float(np.mean(self.late))

    @property
    def delivered(self) -> float:
        """The part of what was published that the mean receiver got."""
        return float(np.mean(self.came)) / self.published

    @property
    def least(self) -> float:
        """What the receiver got that got least, as a part of the mean."""
        return min(self.came) / float(np.mean(self.came))


def policies(kind: str, receivers: int, seed: int) -> list[Policy]:
    """Return the policies of a crowd: own or equal tails, or levels that keep other events each."""
    if kind == "scattered":
        return [levels(seed=seed * 1_000 + one) for one in range(receivers)]
    return [tail(LANE_EVENTS, one if kind == "own" else 0) for one in range(receivers)]


def crowd(
    kind: str, seed: int, published: Sequence[int], events: Sequence[Sequence[tuple[int, int, int]]]
) -> Crowd:
    """Return what a run came to; events are those of each receiver."""
    end = published[-1]
    begin = published[0] + int(_WARM * (end - published[0]))
    inside = [[(at - sent) / SECOND for at, sent, _ in one if begin <= at < end] for one in events]
    return Crowd(
        kind, seed, (end - begin) / SECOND, sum(begin <= at < end for at in published),
        [len(one) for one in inside], [float(np.mean(one)) if one else 0.0 for one in inside],
    )  # fmt: skip


def simulate(kind: str, receivers: int, seconds: float, seed: int) -> Crowd:
    """Run a crowd behind a simulated link."""
    rig = Rig(seed, PlanetConfig(name=PLANET, lane_bytes=LANE_BYTES, lane_entries=1 << 20))
    client = rig.client("receivers", QUALITY)
    rig.world.run(SECOND)
    inboxes = [client.subscribe(one) for one in policies(kind, receivers, seed)]
    rig.world.run(2 * SECOND)
    rig.publish()
    rig.world.run(int(seconds * SECOND))
    rig.publishing = False
    rig.world.run(receivers * 2 * LANE_BYTES * 8 * SECOND // THIN_RATE + 10 * SECOND)
    if any(one.missing() for one in inboxes):
        raise SimulationError("events were neither delivered nor counted")
    return crowd(kind, seed, rig.published, [one.events for one in inboxes])


def measure(kind: str, receivers: int, seconds: float, seed: int) -> Crowd:
    """Run a crowd behind a real link."""
    said = [json.dumps(one.document()) for one in policies(kind, receivers, seed)]
    with joined(ThinLink(THIN_RATE)) as ends:
        near = NearJob(ends[0].address, seconds, LANE_BYTES, lanes=receivers, linger=1.0)
        seen, got = thin_real.run(ends, near, FarJob(ends[0].address, 0, said, 0.0))
    return crowd(kind, seed, seen.published, [[(a, b, c) for a, b, c in one] for one in got.events])
