"""Turns: when the shells of the clients of one event loop see to what came of their calls.

One turn serves all shells that asked for one. A program with a hundred clients would otherwise
write a hundred frames of one event each, and do little else. So a turn is followed by a rest twice
as long as it took, of one millisecond at least and five at most, in which the rest of the program
goes on and events gather: two thirds of the time are the program's. A loop that has nothing else to
do ends the rest at once, so that an idle link waits for nothing.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

# How long events gather at least while the program is busy; none waits longer than the second.
REST_NS_MIN: Final = 1_000_000
REST_NS_MAX: Final = 5_000_000
# How many times as long as the turn before it a rest is.
REST_TURNS: Final = 2
# A loop that comes round in less had nothing else to do.
IDLE_NS: Final = 20_000

_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Turns] = WeakKeyDictionary()


def turns_of(loop: asyncio.AbstractEventLoop) -> Turns:
    """Return what all shells of a loop share."""
    found = _by_loop.get(loop)
    if found is None:
        found = _by_loop[loop] = Turns(loop)
    return found


class Turns:
    """Gives everyone who asked a turn, and then the program a rest."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, clock: Callable[[], int] = time.monotonic_ns
    ) -> None:
        """Begin with nobody waiting."""
        self._call_soon = loop.call_soon
        self._clock = clock
        self._waiting: list[Callable[[], None]] = []
        self._rest_until = 0
        self._looked = 0  # When the loop last came round, while someone waits.

    def ask(self, turn: Callable[[], None]) -> None:
        """Let `turn` be called, together with those of all others."""
        self._waiting.append(turn)
        if len(self._waiting) == 1:
            self._looked = 0
            self._call_soon(self._come)

    def _come(self) -> None:
        now = self._clock()
        if now < self._rest_until and now - self._looked > IDLE_NS:
            self._looked = now
            self._call_soon(self._come)
            return
        waiting, self._waiting = self._waiting, []
        try:
            while waiting:
                waiting.pop(0)()
        finally:
            for one in waiting:  # One turn failed; the others are still to come.
                self.ask(one)
            end = self._clock()
            self._rest_until = end + min(max(REST_TURNS * (end - now), REST_NS_MIN), REST_NS_MAX)
