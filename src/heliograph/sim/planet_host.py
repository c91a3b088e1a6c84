"""Planet host: a simulated process that is one planet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heliograph.planet.planet import Planet
from heliograph.sim.host import Host
from heliograph.wire.core import Log

if TYPE_CHECKING:
    from heliograph.planet.config import PlanetConfig
    from heliograph.sim.network import Network
    from heliograph.sim.truth import Truth
    from heliograph.wire.core import Effect

# What a planet logs when it gives up what a client may still count on.
LOSSES: Final = ("session_ended",)


class PlanetHost(Host[Planet]):
    """Runs a planet; its configuration outlives its crashes, and nothing else does."""

    def __init__(self, network: Network, config: PlanetConfig, truth: Truth) -> None:
        """Set up a planet that has not started."""
        super().__init__(network, config.name)
        self.config = config
        self.truth = truth

    def make(self) -> Planet:
        """Return a fresh planet."""
        return Planet(self.config, rng=self.random, now=self.world.now)

    def crash(self, *, power: bool = False) -> None:
        """Lose all state, and with it the tails that only this planet had."""
        self.truth.lose_planet()
        super().crash(power=power)

    def perform(self, effect: Effect) -> None:
        """Do what the planet asks for; a session that it gives up is a loss."""
        if isinstance(effect, Log) and effect.event in LOSSES:
            self.truth.losses += 1
        super().perform(effect)
