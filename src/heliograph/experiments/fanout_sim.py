"""Fan-out, simulated: what a planet puts on the wire for its receivers, beside plain forwarding.

A simulated processor takes no time. What is seen here is the network card of the planet's host,
which all receivers share: a planet that sent more than the events would be later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heliograph.experiments.rig import PLANET, Framed, Rig
from heliograph.experiments.transit import SECOND
from heliograph.planet.config import PlanetConfig
from heliograph.sim.cable import Cable
from heliograph.sim.world import SimulationError

if TYPE_CHECKING:
    from collections.abc import Sequence

# A LAN of 100 Mbit/s whose latency was set to zero (PACK 6); the sender is on the planet's host.
LAN: Final = Framed(0, 100_000_000, 100_000_000, buffer=65_536)
LOCAL: Final = Framed(0, 10**11, 10**11, buffer=65_536)
EVENT_INTERVAL: Final = 200_000_000


def simulate(receivers: int, seconds: float, seed: int, *, buffered: bool) -> Sequence[list[float]]:
    """Return the latencies of each receiver, in seconds."""
    rig = Rig(seed, PlanetConfig(name=PLANET) if buffered else None, LOCAL)
    card = Cable(rig.world, "card", LAN)
    clients = [rig.client(f"receiver-{number}", card) for number in range(receivers)]
    rig.world.run(SECOND)
    inboxes = [one.subscribe(None) for one in clients]
    rig.world.run(SECOND)
    rig.publish(EVENT_INTERVAL)
    rig.world.run(int(seconds * SECOND))
    rig.publishing = False
    rig.world.run(SECOND)
    if any(len(one.events) != len(rig.published) for one in inboxes):
        raise SimulationError("a receiver missed events over a link that is not thin")
    return [[(at - sent) / SECOND for at, sent, _ in one.events] for one in inboxes]
