"""Pack: run a policy on a full lane (PACK 2, "Policy execution").

A pure function from blocks, digests, policy and level to blocks and digests. Filters run level by
level, each over the whole lane; digests are transparent to them. `settlement` puts what remains
back together with the digests that account for what does not.

We depart from the papers in two ways: a pack makes one digest in all unless the policy asks for one
per run of dropped events, and it must free a least part of what is full, or the next level is tried
at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heliograph.event.block import Block
from heliograph.event.columns import Columns
from heliograph.event.event import Position
from heliograph.policy.limits import Limits, Load
from heliograph.policy.model import Rest
from heliograph.policy.settlement import Packed, Sorted, bare, settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heliograph.event.block import Places
    from heliograph.event.digest import Digest
    from heliograph.policy.binding import BoundPolicy

BEGINNING = Position(0, 0)


@dataclass(frozen=True, slots=True)
class Held:
    """What is to be packed: blocks and digests of one stream in their order, and what is settled.

    `settled` is the position up to which digests before these entries have settled the stream (or
    where the subscription began). `reached` is how far nothing is missing, which is further where
    events were sent on behind the last digest (`reach` advances it). `pending` accounts for what
    earlier packs dropped behind a gap that no digest has settled yet; see `settlement`.
    """

    entries: Sequence[Block | Digest]
    settled: Position = BEGINNING
    pending: tuple[Digest, ...] = ()
    reached: Position = BEGINNING

    def load(self) -> Load:
        """Return how much the lane holds."""
        return load_of(self.entries)


def load_of(entries: Sequence[Block | Digest]) -> Load:
    """Return how many events and digests there are, and their bytes."""
    return Load(
        sum(entry.count if isinstance(entry, Block) else 1 for entry in entries),
        sum(entry.size for entry in entries),
    )


class _Run:
    """One pack under way: the decoded lane, and who has survived the levels so far."""

    def __init__(
        self, lane: Held, policy: BoundPolicy, ordinal: int, coming: int = 0, *, blind: bool = False
    ) -> None:
        self.lane = lane
        self.coming = coming
        self.policy = policy
        self.ordinal = ordinal
        blocks = [entry for entry in lane.entries if isinstance(entry, Block)]
        self.columns = Columns(blocks, policy.schema)
        self.passed: Places | None = None  # None: all of them.
        for one in () if blind else policy.always:
            # An always level decides alike on every host, whatever is packed there: pack 0.
            self.passed = one.run(self.columns, self.passed, 0)
        self.kept = self.passed
        self.level = 0

    def climb(self, level: int) -> None:
        """Run the levels up to and including `level`; those below have run already."""
        for chain in self.policy.levels[self.level : level]:
            for one in chain:
                self.kept = one.run(self.columns, self.kept, self.ordinal)
        self.level = max(level, self.level)

    def settle(self) -> Packed:
        """Put the lane together again from what has been kept."""
        return settle(self.lane, self._sorted(), self.policy, self.level)

    def fold(self, limits: Limits | None) -> Packed:
        """Do what is left when no level frees enough: the worst case, or a built-in policy."""
        before = self.load(self.lane.entries)
        kept = self.places(self.kept)
        self.level = self.policy.top + 1
        rest = self.policy.policy.rest
        left, share = 0, 64
        if rest is not Rest.NOTHING and limits is not None:
            left = _left(limits.room(before), before, len(kept), len(self.lane.entries))
        while True:
            self.kept = kept[:left] if rest is Rest.OLDEST else kept[len(kept) - left :]
            packed = self.settle()
            if limits is None or left == 0 or limits.enough(before, self.load(packed.entries)):
                break
            # The digest needs room too, and events differ in size: give up little at first.
            left, share = left - max(1, left // share), max(8, share // 2)
        if limits is not None and not limits.enough(before, self.load(packed.entries)):
            # Sketches in a lane too small for them: the counts and times remain.
            packed = bare(packed)
        return packed

    def load(self, entries: Sequence[Block | Digest]) -> Load:
        """Return how much entries are, with the bytes of the one that waits for room."""
        load = load_of(entries)
        return Load(load.entries, load.bytes + self.coming)

    def places(self, some: Places | None) -> Places:
        """Return places as an array, where None stands for all."""
        return np.arange(self.columns.count) if some is None else some

    def _sorted(self) -> Sorted:
        count = self.columns.count
        kept = np.zeros(count, np.bool_)
        kept[slice(None) if self.kept is None else self.kept] = True
        dropped = ~kept
        if self.passed is not None:
            passed = np.zeros(count, np.bool_)
            passed[self.passed] = True
            dropped &= passed
        return Sorted(self.columns, kept, dropped)


def _left(room: Load, before: Load, kept: int, entries: int) -> int:
    """Return how many events to start with, by count and by their mean size."""
    by_entries = room.entries - 1
    by_bytes = room.bytes * before.entries // max(1, before.bytes)
    return max(0, min(kept, by_entries, by_bytes)) if entries else 0


def pack(lane: Held, policy: BoundPolicy, level: int, *, ordinal: int = 0) -> Packed:
    """Run the levels 1 to `level` over a lane; one above the policy's top is the worst case.

    `ordinal` counts the packs of a lane, so that RANDOM does not decide alike in each.
    """
    run = _Run(lane, policy, ordinal)
    run.climb(min(level, policy.top))
    return run.settle() if level <= policy.top else run.fold(None)


def fold(lane: Held, policy: BoundPolicy, limits: Limits, *, coming: int = 0) -> Packed:
    """Fold a lane without running a filter: the worst case, for who may not spend more on it."""
    return _Run(lane, policy, 0, coming, blind=True).fold(limits)


def pack_to_fit(
    lane: Held,
    policy: BoundPolicy,
    level: int,
    limits: Limits,
    *,
    ordinal: int = 0,
    goal: float = 0.0,
    coming: int = 0,
) -> Packed:
    """Run the levels up to `level`, and further ones until the least has been freed.

    The level that did it is in the result, and becomes the lane's; where none does, the worst case
    folds the lane into one digest (or a built-in policy keeps its part). `goal` is a part that a
    controller would like to see freed; where no level reaches it, the one that frees most will do.
    `coming` is how many bytes the entry has that waits for room.
    """
    run = _Run(lane, policy, ordinal, coming)
    before = run.load(lane.entries)
    most, least_held = None, math.inf
    for rung in range(max(1, level), policy.top + 1):
        run.climb(rung)
        packed = run.settle()
        after = run.load(packed.entries)
        if limits.enough(before, after, goal):
            return packed
        held = limits.pressure(before, after)
        if limits.enough(before, after) and held < least_held:
            most, least_held = packed, held
    if most is not None:
        return most
    run.climb(policy.top)
    return run.fold(limits)
