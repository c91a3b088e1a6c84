"""Client host: a simulated process that is one client, with the program that uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heliograph.client.client import Client
from heliograph.sim.application import Application
from heliograph.sim.host import Host
from heliograph.wire.core import Answered, Arrived, Connect

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.client.config import ClientConfig
    from heliograph.event.block import Block
    from heliograph.event.digest import Digest
    from heliograph.sim.application import Receiver
    from heliograph.sim.network import Network
    from heliograph.sim.truth import Truth
    from heliograph.wire.core import Effect

    Report = Callable[[Receiver, list[Block | Digest]], None]


class ClientHost(Host[Client]):
    """Runs a client; the program and its home outlive the process."""

    def __init__(self, network: Network, home: str, config: ClientConfig, truth: Truth) -> None:
        """Set up a client that has not started."""
        super().__init__(network, config.name)
        self.home = home
        self.config = config
        self.truth = truth
        self.report: Report | None = None  # Is told what each receiver takes.
        self.application = Application(self)

    def make(self) -> Client:
        """Return a fresh client."""
        return Client(self.config, rng=self.random, now=self.world.now)

    def started(self) -> None:
        """Attach, and let the program begin."""
        if self.core is not None:
            self.core.start(self.home, self.world.now)
            self.application.started()

    def crash(self, *, power: bool = False) -> None:
        """Lose all state; what the program knew ends with it."""
        self.truth.losses += 1
        self.application.ended()
        super().crash(power=power)

    def refused(self, why: str) -> None:
        """Hear that a link did not come about."""
        super().refused(why)
        if self.core is not None:
            self.core.refused(self.world.now)
            self.settle()

    def perform(self, effect: Effect) -> None:
        """Do what the client asks for."""
        if isinstance(effect, Connect):
            self.network.connect(self, effect.address)
        elif isinstance(effect, Answered):
            self.application.answered(effect.request, effect.error)
        elif isinstance(effect, Arrived):
            self.application.arrived(effect.receiver)
        else:
            super().perform(effect)

    def thaw(self) -> None:
        """Go on, program and all."""
        super().thaw()
        for receiver in self.application.receivers:
            self.application.take(receiver)
