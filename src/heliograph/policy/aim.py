"""Aim: the controller that aims at the fraction that must be dropped, the ladder's rival.

Of what arrives, what cannot depart must be dropped: a fraction of 1 - departed/arrived. Aim learns
what each level frees of a lane, and takes the lowest level that frees at least that fraction. Then
an event is packed about once on its way; a lower level would pack again and again for little, a
higher one would drop what the receiver cares for more.
"""

from __future__ import annotations

from typing import Final

# Weight of the newest observation, of the fraction needed and of what a level frees.
WEIGHT: Final = 0.5
# After so many packs at a level, the one below is tried again: the events may have changed.
RETRY_PACKS: Final = 16


class Aim:
    """Picks the lowest of the levels 1 to `top` that frees what must be dropped."""

    def __init__(self, top: int) -> None:
        """Begin at level 1, knowing nothing."""
        self.top = top
        self.level = 1
        self.needed = 0.0
        self._frees: dict[int, float] = {}
        self._packs = 0

    def choose(self, now: int, arrived: int, departed: int) -> int:
        """Return the level for a pack; `now` is not looked at."""
        del now
        if arrived > 0:
            fraction = max(0.0, 1 - departed / arrived)
            self.needed = fraction if not self._packs else _blend(self.needed, fraction)
        below = self._lowest()
        if below < self.level and self._packs < RETRY_PACKS:
            # A level that seems to do is only descended to after a while: no flapping.
            return self.level
        if below != self.level:
            self._packs = 0
        elif self._packs >= RETRY_PACKS and self.level > 1:
            self._frees.pop(self.level - 1, None)
            self._packs = 0
        self.level = below
        return self.level

    def _lowest(self) -> int:
        """Return the lowest level that frees enough, or of which nothing is known yet."""
        for level in range(1, self.top + 1):
            frees = self._frees.get(level)
            if frees is None or frees >= self.needed:
                return level
        return max(1, self.top)

    def packed(self, level: int, now: int, before: int, after: int) -> None:
        """Learn what a level frees; the levels below that were tried in vain free too little."""
        del now
        freed = (before - after) / before if before else 0.0
        for tried in range(self.level, level):
            self._frees[tried] = 0.0
        if level <= self.top:
            known = self._frees.get(level)
            self._frees[level] = freed if known is None else _blend(known, freed)
        self.level = min(level, max(1, self.top))
        self._packs += 1


def _blend(known: float, seen: float) -> float:
    return (1 - WEIGHT) * known + WEIGHT * seen
