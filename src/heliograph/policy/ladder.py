"""Ladder: the controller that picks the level of a pack (PACK 5, "Ladder packing").

It climbs and descends one level at a time by one metric, the turnaround: the time from the previous
pack at a level to the request for the next one. A longer turnaround says that less need be dropped,
a shorter one that more must be.

The papers call alpha = 0.1 a low-pass filter, but by their formula the new observation weighs 0.9;
we keep the formula (DESIGN.md, Ladder). One ladder per lane; it lives as long as the lane.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

ALPHA: Final = 0.1
THRESHOLD: Final = 0.1


class Flow(NamedTuple):
    """What passed a lane since its previous pack, in whatever is full (entries or bytes)."""

    arrived: int
    departed: int  # At its head: delivered, not dropped.
    held: int  # When it was full.
    emptied: bool  # Whether the lane stood empty at any time.


class Controller(Protocol):
    """What picks levels: the ladder, or `Aim`, its rival."""

    level: int
    goal: float  # The part of a full lane that the next pack should free, if a level can.
    fill: float  # Of its capacity, from which on a lane counts as full.

    def choose(self, now: int, flow: Flow) -> int:
        """Return the level for a pack at `now`."""

    def packed(self, level: int, now: int) -> None:
        """Tell that a pack was done, and which level it needed."""


class Ladder:
    """The papers' controller; levels go from 1 to `top`."""

    def __init__(self, top: int) -> None:
        """Begin at level 1, knowing nothing."""
        self.top = top
        self.level = 1
        self.goal = 0.0
        self.fill = 1.0
        self._turnaround: dict[int, float] = {}
        self._packed_at: dict[int, int] = {}

    def choose(self, now: int, flow: Flow | None = None) -> int:
        """Return the level for a pack at `now`, at most one away from the last one."""
        del flow  # The turnaround is all that the papers look at.
        last = self._packed_at.get(self.level)
        if last is not None:
            observed = max(1, now - last)
            before = self._turnaround.get(self.level)
            self._turnaround[self.level] = smoothed(observed, before)
            if before is not None:
                step = direction(observed, before)
                self.level = min(max(1, self.level + step), max(1, self.top))
        return self.level

    def packed(self, level: int, now: int) -> None:
        """Remember a pack; the level that it needed becomes the lane's."""
        self.level = min(level, max(1, self.top))
        self._packed_at[self.level] = now


def smoothed(observed: int, before: float | None) -> float:
    """Return t = 0.9 * observed + 0.1 * t; the first observation only sets t."""
    return float(observed) if before is None else (1 - ALPHA) * observed + ALPHA * before


def direction(observed: int, before: float) -> int:
    """Return the step up (1), down (-1) or none (0) for a change of the turnaround."""
    delta = (observed - before) / before
    return -1 if delta > THRESHOLD else 1 if delta < -THRESHOLD else 0
