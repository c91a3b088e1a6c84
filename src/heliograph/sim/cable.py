"""Cable: what lies between two hosts and outlives their links: its rate, its losses, its cuts.

All links on a cable share its rate, so that what an old link still sends again delays the new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

    from heliograph.sim.quality import Quality
    from heliograph.sim.world import World

UP, DOWN = 0, 1


class Cable:
    """The cable between a client and its planet, or between two planets."""

    def __init__(self, world: World, name: str, quality: Quality) -> None:
        """Lay a cable that is whole."""
        self.world = world
        self.name = name
        self.laid = quality  # What it was when it was laid.
        self.quality = quality  # What it is now.
        self.cut = [False, False]
        self.random: Random = world.derive()
        self._free_at = [0, 0]

    def transmit(self, direction: int, size: int) -> int:
        """Take so many bytes, and return when the last bit of them has left."""
        begin = max(self.world.now, self._free_at[direction])
        self._free_at[direction] = begin + self.quality.duration(direction, size)
        return self._free_at[direction]

    def passes(self, direction: int) -> bool:
        """Say whether a segment that has left arrives at the other end."""
        if self.cut[direction]:
            return False
        return not self.quality.loss or self.random.random() >= self.quality.loss

    def delay(self) -> int:
        """Return how long a segment travels."""
        jitter = self.quality.jitter
        return self.quality.latency + (self.random.randrange(jitter) if jitter else 0)

    def patience(self, attempts: int) -> int:
        """Return how long a sender waits for an answer before it sends a segment again.

        RFC 6298 in short: two round trips, at least 200 ms, twice as long each time, up to 10 s.
        """
        trip = 2 * self.quality.latency + self.quality.jitter
        return min(max(200_000_000, 2 * trip) << min(attempts, 10), 10_000_000_000)
