"""Aim: the controller that aims at the fraction that must be dropped, the ladder's rival.

Of what arrives, what cannot depart must be dropped: a fraction of 1 - departed/arrived. Aim learns
what each level frees of a lane, and takes the lowest level that frees that fraction in the two or
so packs that an event meets on its way. A lower level would pack again and again for little, a
higher one would drop what the receiver cares for more, and leave room that a short burst does not
need.

A queue that absorbs a burst is good, one that only stands there is latency for nothing (as CoDel
has it for packets). While a lane never stands empty, Aim packs it before it is quite full; as soon
as it has stood empty, its whole capacity waits for the next burst again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from heliograph.policy.ladder import Flow

# The fraction needed is a mean over about so many lanefuls of arrivals: longer than a burst.
HORIZON_LANES: Final = 4
# One pack that frees all that is needed at once leaves a lane too empty when a burst ends there.
PACKS_PER_EVENT: Final = 2
# Weight of the newest observation of what a level frees.
WEIGHT: Final = 0.5
# After so many packs at a level, the one below is tried again: the events may have changed.
RETRY_PACKS: Final = 16
# After so many lanefuls of departures without standing empty, a lane is a standing one.
STANDING_LANES: Final = 4
# How far a standing lane is allowed to fill, and how fast it gets there, pack by pack.
FILL_MIN: Final = 0.65
FILL_STEP: Final = 0.05


class Aim:
    """Picks the lowest of the levels 1 to `top` that frees what must be dropped."""

    def __init__(self, top: int) -> None:
        """Begin at level 1, knowing nothing."""
        self.top = top
        self.level = 1
        self.fill = 1.0
        self.needed = 0.0
        self._frees: dict[int, float] = {}
        self._held = 0
        self._stood = 0  # How much has departed since the lane last stood empty.
        self._packs = 0

    def choose(self, now: int, flow: Flow) -> int:
        """Return the level for a pack; `now` is not looked at."""
        del now
        if flow.arrived > 0:
            fraction = max(0.0, 1 - flow.departed / flow.arrived)
            lanes = flow.arrived / max(1, self._held or flow.arrived)
            self.needed += min(1.0, lanes / HORIZON_LANES) * (fraction - self.needed)
        self._stood = 0 if flow.emptied else self._stood + flow.departed
        if flow.emptied:
            self.fill = 1.0
        elif self._stood > STANDING_LANES * self._held:
            self.fill = max(FILL_MIN, self.fill - FILL_STEP)
        lowest = self._lowest()
        if lowest == self.level and self._packs >= RETRY_PACKS:
            self._frees.pop(self.level - 1, None)
            lowest = self._lowest()
        if lowest > self.level or (lowest < self.level and self._packs >= RETRY_PACKS):
            # Up at once, but down only after a while: no flapping.
            self.level, self._packs = lowest, 0
        return self.level

    def _lowest(self) -> int:
        """Return the lowest level that frees enough, or of which nothing is known yet."""
        for level in range(1, self.top + 1):
            frees = self._frees.get(level)
            if frees is None or frees * PACKS_PER_EVENT >= self.needed:
                return level
        return max(1, self.top)

    def packed(self, level: int, now: int, before: int, after: int) -> None:
        """Learn what a level frees; the levels below that were tried in vain free too little."""
        del now
        freed = (before - after) / before if before else 0.0
        for tried in range(self.level, min(level, self.top + 1)):
            self._frees[tried] = 0.0
        if level <= self.top:
            known = self._frees.get(level, freed)
            self._frees[level] = (1 - WEIGHT) * known + WEIGHT * freed
        self.level = min(level, max(1, self.top))
        self._held = before
        self._packs += 1
