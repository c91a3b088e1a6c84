"""Aim: the controller that aims at the fraction that must be dropped, the ladder's rival.

Of what arrives, what cannot depart must be dropped: a fraction of 1 - departed/arrived. Aim asks
each pack for the lowest level that frees that fraction in the two or so packs that an event meets
on its way. It remembers no level: which one that is depends on the events that wait just now. A
lower level would pack again and again for little, a higher one would drop what the receiver cares
for more, and leave room that a short burst does not need.

A queue that absorbs a burst is good, one that only stands there is latency for nothing (as CoDel
has it for packets). A lane that has not stood empty for long is packed before it is quite full; as
soon as it has stood empty, its whole capacity waits for the next burst again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from heliograph.policy.ladder import Flow

# The fraction needed is a mean over about so many lanefuls of arrivals: longer than a burst.
HORIZON_LANES: Final = 4
# One pack that frees all that is needed at once leaves a lane too empty when a burst ends there.
PACKS_PER_EVENT: Final = 2
# After so many lanefuls of departures without standing empty, a lane is a standing one.
STANDING_LANES: Final = 4
# How far a standing lane is allowed to fill, and how fast it gets there, pack by pack.
FILL_MIN: Final = 0.5
FILL_STEP: Final = 0.05


class Aim:
    """Asks for the lowest level that frees what must be dropped."""

    def __init__(self, top: int) -> None:
        """Begin as if nothing had to be dropped."""
        self.top = top
        self.level = 1
        self.goal = 0.0
        self.fill = 1.0
        self.needed = 0.0
        self._stood = 0  # How much has departed since the lane last stood empty.

    def choose(self, now: int, flow: Flow) -> int:
        """Return level 1, from which the pack climbs until the goal is reached."""
        del now
        if flow.arrived > 0:
            fraction = max(0.0, 1 - flow.departed / flow.arrived)
            lanes = flow.arrived / max(1, flow.held)
            self.needed += min(1.0, lanes / HORIZON_LANES) * (fraction - self.needed)
        self.goal = self.needed / PACKS_PER_EVENT
        self._stood = 0 if flow.emptied else self._stood + flow.departed
        if flow.emptied:
            self.fill = 1.0
        elif self._stood > STANDING_LANES * flow.held:
            self.fill = max(FILL_MIN, self.fill - FILL_STEP)
        return 1

    def packed(self, level: int, now: int) -> None:
        """Remember the level that a pack needed, for those who watch."""
        del now
        self.level = min(level, max(1, self.top))
