"""A ward that publishes, a planet, and a nurse who receives: the smallest run of real cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heliograph.client.config import ClientConfig
from heliograph.planet.config import PlanetConfig
from heliograph.sim.application import Receiver, Sender
from heliograph.sim.checkers import check_quiet
from heliograph.sim.quality import FAST, Quality
from heliograph.sim.samples import GROWING
from heliograph.sim.story import MILLISECOND, SECOND
from heliograph.sim.topology import PLANET, Topology

if TYPE_CHECKING:
    from heliograph.sim.ledger import Ledger


class Ward:
    """A ward that publishes, and a nurse who receives."""

    def __init__(
        self,
        policy: str = "none",
        quality: Quality = FAST,
        sender_entries: int = 65_536,
        inbox_entries: int = 65_536,
        stream: str = "pulse",
        **settings: float,
    ) -> None:
        self.topology = Topology(1)
        self.world = self.topology.world
        self.topology.add_planet(PlanetConfig(name=PLANET, **settings))  # type: ignore[arg-type]
        self.ward = self.topology.add_client(
            ClientConfig(name="ward", sender_entries=sender_entries)
        )
        self.nurse = self.topology.add_client(
            ClientConfig(name="nurse", inbox_entries=inbox_entries), quality
        )
        self.sender = Sender(stream, 10 * MILLISECOND, open=stream.endswith(GROWING))
        self.receiver = Receiver(stream, policy)
        self.ward.application.senders.append(self.sender)
        self.nurse.application.receivers.append(self.receiver)
        self.ward.start()
        self.nurse.start()
        self.world.run(SECOND)

    def publish(self, count: int) -> None:
        self.ward.application.publish(self.sender, count)

    def run(self, seconds: float) -> None:
        self.world.run(round(seconds * SECOND))

    @property
    def ledger(self) -> Ledger:
        assert self.receiver.ledger is not None
        return self.receiver.ledger

    def check(self) -> None:
        check_quiet(self.topology)
