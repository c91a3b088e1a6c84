"""Budget: how much packing one receiver's host may cost, so that no policy stalls a planet.

A core knows no clock, so the cost is counted in events times filters, which is what time goes into.
Past the budget a full lane is folded into one digest: the worst case costs one pass (decision 9).
"""

from __future__ import annotations

from typing import Final

_SECOND: Final = 1_000_000_000


class Budget:
    """So many steps of packing a second, saved up for at most a second."""

    __slots__ = ("_at", "_left", "steps")

    def __init__(self, steps: int) -> None:
        """Begin with a second's worth."""
        self.steps = steps
        self._left = steps
        self._at: int | None = None

    def spent(self, now: int) -> bool:
        """Say whether there is nothing left."""
        if self._at is None:
            self._at = now
        saved = (now - self._at) * self.steps // _SECOND
        if saved > 0:  # Time that is too short for a step is not forgotten.
            self._left = min(self.steps, self._left + saved)
            self._at += saved * _SECOND // self.steps
        return self._left <= 0

    def spend(self, cost: int, now: int) -> bool:
        """Take the cost of a pack out, if there is any left; a single pack may overdraw it."""
        if self.spent(now):
            return False
        self._left -= cost
        return True
