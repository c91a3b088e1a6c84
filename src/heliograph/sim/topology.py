"""Topology: the planet, the clients and the cables of one simulated run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heliograph.planet.config import PlanetConfig
from heliograph.sim.client_host import ClientHost
from heliograph.sim.network import Network
from heliograph.sim.planet_host import PlanetHost
from heliograph.sim.quality import FAST
from heliograph.sim.truth import Truth
from heliograph.sim.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heliograph.client.config import ClientConfig
    from heliograph.sim.application import Receiver
    from heliograph.sim.cable import Cable
    from heliograph.sim.ledger import Ledger
    from heliograph.sim.link import Link
    from heliograph.sim.quality import Quality

PLANET: Final = "sol"


class Topology:
    """One planet and its clients."""

    def __init__(self, seed: int, hear: Callable[[str], None] | None = None) -> None:
        """Begin with an empty world."""
        self.world = World(seed, hear)
        self.network = Network(self.world)
        self.truth = Truth()
        self.planets: dict[str, PlanetHost] = {}
        self.clients: dict[str, ClientHost] = {}

    @property
    def planet(self) -> PlanetHost:
        """The only planet there is for now."""
        return self.planets[PLANET]

    def add_planet(self, config: PlanetConfig | None = None) -> PlanetHost:
        """Set up the planet, and start it."""
        host = PlanetHost(self.network, config or PlanetConfig(name=PLANET), self.truth)
        self.planets[host.name] = host
        host.start()
        return host

    def add_client(self, config: ClientConfig, quality: Quality = FAST) -> ClientHost:
        """Set up a client with a cable to the planet; it starts when its program is complete."""
        host = ClientHost(self.network, PLANET, config, self.truth)
        self.clients[host.name] = host
        self.network.lay(host.name, PLANET, quality)
        return host

    def cable(self, client: str) -> Cable:
        """Return the cable of a client."""
        return self.network.cable(client, PLANET)

    def links(self, client: str) -> list[Link]:
        """Return the links of a client in which somebody still believes."""
        return self.network.between(client, PLANET)

    def receivers(self) -> Iterator[tuple[ClientHost, Receiver]]:
        """Yield every receiver with its client."""
        for client in self.clients.values():
            for receiver in client.application.receivers:
                yield client, receiver

    def ledgers(self) -> Iterator[Ledger]:
        """Yield every ledger that is being kept."""
        for _, receiver in self.receivers():
            if receiver.ledger is not None:
                yield receiver.ledger
