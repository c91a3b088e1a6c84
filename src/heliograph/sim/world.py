"""World: virtual time, one heap of what is to come, and one source of chance.

Nothing here knows a clock. Time jumps from one entry of the heap to the next; entries of the same
time run in the order in which they were made, so that one seed gives one run.
"""

from __future__ import annotations

import heapq
from random import Random
from typing import TYPE_CHECKING, Final

from heliograph.event.errors import HeliographError
from heliograph.sim.story import Story, show_time

if TYPE_CHECKING:
    from collections.abc import Callable

# A core that wants to be called again and again at one instant would hold virtual time for ever.
STEPS_AT_ONCE_MAX: Final = 100_000


class SimulationError(HeliographError):
    """A simulated run broke a rule: a core did, or the faults asked for something impossible."""


class Timer:
    """One entry of the heap; it may be cancelled until it runs."""

    __slots__ = ("call", "when")

    def __init__(self, when: int, call: Callable[[], None]) -> None:
        """Set up a call for a time."""
        self.when = when
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        """See to it that nothing happens; the entry stays in the heap, empty."""
        self.call = None


class World:
    """Owns time and chance; hosts, links and faults put what they will do into its heap."""

    def __init__(self, seed: int, hear: Callable[[str], None] | None = None) -> None:
        """Begin at time 0."""
        self.seed = seed
        self.now = 0
        self.story = Story(hear)
        self.random = Random(seed)  # noqa: S311 - a run must be repeatable, not secret
        self._heap: list[tuple[int, int, Timer]] = []
        self._made = 0

    def derive(self) -> Random:
        """Return a source of chance of one's own, so that hosts do not disturb each other's."""
        return Random(self.random.getrandbits(64))  # noqa: S311 - as above

    def at(self, when: int, call: Callable[[], None]) -> Timer:
        """Have something called at a time, at once if that has passed."""
        timer = Timer(max(when, self.now), call)
        self._made += 1
        heapq.heappush(self._heap, (timer.when, self._made, timer))
        return timer

    def after(self, delay: int, call: Callable[[], None]) -> Timer:
        """Have something called in so many nanoseconds."""
        return self.at(self.now + delay, call)

    def tell(self, who: str, what: str) -> None:
        """Add a line to the story."""
        self.story.tell(self.now, who, what)

    def run(self, duration: int) -> None:
        """Let time pass.

        Raises:
            SimulationError: Time stands still, because something asks to be called at once again.
        """
        end = self.now + duration
        steps = 0
        while self._heap and self._heap[0][0] <= end:
            when, _, timer = heapq.heappop(self._heap)
            if timer.call is None:
                continue
            steps = steps + 1 if when == self.now else 0
            if steps > STEPS_AT_ONCE_MAX:
                raise SimulationError(
                    f"time stands still at {show_time(when)} s: {timer.call} is called again and "
                    "again; look for a deadline() that a tick() does not move"
                )
            self.now = when
            timer.call()
        self.now = end
