"""Arrival: how an entry gets into a lane that cannot just append it.

A block that there is no room for, or of which an always level removes a part, is let in piece by
piece, so that a lane overflows at the same event whatever the size of the blocks is. So the result
does not depend on how a sender or a link cut its stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heliograph.event.block import BOOKKEEPING_BYTES, Block
from heliograph.event.columns import Columns
from heliograph.event.digest import Digest
from heliograph.event.event import Position
from heliograph.lane.entry import Entry
from heliograph.lane.owed import OWED_MAX
from heliograph.lane.squeeze import pack_lane
from heliograph.policy.merge import absorb

# What it costs to look into a block at all, and to run a filter, however few events there are.
SIFT_STEPS: Final = 300
FILTER_STEPS: Final = 200

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heliograph.event.block import Places
    from heliograph.event.schema import Schema
    from heliograph.lane.lane import Lane


def arrive(lane: Lane, entry: Entry, now: int) -> None:
    """Let an entry in, packing the lane as often as it takes."""
    if lane.skip is not None:
        rest = _clip(lane, entry, lane.skip)
        if rest is None:
            return  # The receivers had it before their session was lost.
        entry = rest
    item = entry.item
    if isinstance(item, Digest):
        _settle(lane, entry, item, now)
    elif isinstance(item, Block):
        _let_in(lane, entry, item, now)


def join(lane: Lane, digest: Digest, entry: Entry) -> Entry:
    """Let a digest from upstream go on from what a lane has told already."""
    if lane.owed.count or lane.bound.always:
        lane.owed.settle(lane)  # Where a gap is open, this digest takes it up.
        lane.owed.arrived(digest, lane)
    lane.pending, whole = absorb(lane.pending, digest, lane.told)
    lane.told = Position(digest.epoch, digest.upto)
    return entry if whole == digest else Entry(whole)


def _clip(lane: Lane, entry: Entry, skip: Position) -> Entry | None:
    """Return what of an entry lies behind a position, if anything.

    The first digest that settles numbers on both sides of it cannot tell them apart: of those
    behind it the count is known, and is told as a gap.
    """
    if (entry.epoch, entry.last) <= skip:
        return None
    item = entry.item
    if entry.epoch != skip.epoch:
        lane.skip = None
    elif isinstance(item, Block):
        if item.first <= skip.number:
            keep = np.flatnonzero(item.numbers() > skip.number)
            entry = Entry(item.thin(keep, lane.bound.schema))
        lane.behind += entry.count
    elif isinstance(item, Digest):
        lane.skip = None
        if item.after < skip.number:
            lost = item.upto - skip.number - lane.behind
            if not lost:
                return None  # All behind it has come.
            entry = Entry(Digest(item.stream, item.epoch, skip.number, item.upto, lost, gap=lost))
    return entry


def _settle(lane: Lane, entry: Entry, digest: Digest, now: int) -> None:
    """Let in a digest; room is made first, for it goes on from what that settles."""
    if lane.entries and _fitting(lane, entry) == 0:
        pack_lane(lane, now, coming=entry.size)
    lane.append(join(lane, digest, entry))
    if lane.held_bytes > lane.bytes_max or lane.held_entries > lane.entries_max:
        pack_lane(lane, now)


def _let_in(lane: Lane, entry: Entry, block: Block, now: int) -> None:
    """Let in a block, cut into pieces that the lane could hold."""
    if block.count > 1 and _fitting(lane, entry) < entry.count:
        mean = max(1, entry.size // entry.count)
        size = max(1, min(lane.entries_max, (lane.bytes_max - BOOKKEEPING_BYTES) // mean))
        parts = _pieces(block, size, lane.bound.schema)
    else:
        parts = iter((block,))
    starved = False
    for part in parts:
        one = entry if part is block else Entry(part)
        # Past its budget all of a block is folded at once: nobody pays for many packs. What an
        # always level would remove passes then, for the receiver's own client to remove.
        starved = starved or _starved(lane, part, now)
        if starved:
            lane.append(one)
            if lane.bound.always:
                lane.owed.add(part, 0, lane)
        elif lane.bound.always:
            _sift(lane, one, part, now)
        else:
            _squeeze(lane, one, now)
    if lane.held_bytes > lane.bytes_max or (starved and lane.held_entries > lane.entries_max):
        pack_lane(lane, now)


def _starved(lane: Lane, block: Block, now: int) -> bool:
    """Say whether the budget is spent; an always level costs whether or not anything is full."""
    if lane.budget is None:
        return False
    filters = len(lane.bound.always)
    if not filters:
        return lane.budget.spent(now)
    return not lane.budget.spend(SIFT_STEPS + filters * (FILTER_STEPS + block.count), now)


def _pieces(block: Block, size: int, schema: Schema) -> Iterator[Block]:
    """Cut a block into halves until each has at most `size` events: no event is copied often."""
    stack = [block]
    while stack:
        one = stack.pop()
        if one.count <= size:
            yield one
        else:
            first, second = one.split(one.count // 2, schema)
            stack += [second, first]


def _squeeze(lane: Lane, entry: Entry, now: int) -> None:
    """Let in a block, event by event where the lane overflows."""
    while True:
        fitting = _fitting(lane, entry)
        if fitting >= entry.count:
            lane.append(entry)
            return
        if fitting and isinstance(entry.item, Block):
            one, other = entry.item.split(fitting, lane.bound.schema)
            lane.append(Entry(one))
            entry = Entry(other)
        if not _make_room(lane, entry, now):
            lane.append(entry)
            return


def _make_room(lane: Lane, entry: Entry, now: int) -> bool:
    """Pack a lane for the first event of an entry; say whether there may be room now."""
    if not lane.entries and not lane.owed.count:
        return False  # It is larger than the lane can be.
    entries, size = lane.held_entries + (1 if lane.owed.count else 0), lane.held_bytes
    pack_lane(lane, now, coming=_first_bytes(entry))
    # Nothing may be freed, as in a lane of markers alone: the bounds on those hold it.
    return lane.held_entries < entries or lane.held_bytes < size


def _sift(lane: Lane, entry: Entry, block: Block, now: int) -> None:
    """Let in what an always level leaves of a block; what it removes is owed in its place."""
    owed, whole = lane.owed, False
    while True:
        if owed.count >= OWED_MAX or (owed.count and owed.last.epoch != block.epoch):
            owed.settle(lane)
        columns = Columns([block], lane.bound.schema)
        kept = _kept(columns, lane)
        passed = _thinned(entry, columns, kept)
        fitting = _fitting(lane, passed) if passed is not None else 0
        full = block.count if fitting == len(kept) else int(kept[fitting])
        cut = min(full, _owed_full(kept, block.count, OWED_MAX - owed.count))
        if cut == block.count or whole:
            _enter(lane, passed, block, block.count - len(kept))
            return
        if cut:
            one, other = block.split(cut, lane.bound.schema)
            some = kept[: int(np.searchsorted(kept, cut))]
            _enter(lane, _thinned(Entry(one), columns, some), one, one.count - len(some))
            block, entry = other, Entry(other)
        else:  # For the first event that passes there is no room.
            whole = not _make_room(lane, passed or entry, now)


def _kept(columns: Columns, lane: Lane) -> Places:
    """Return the places of the events that an always level lets pass."""
    passed: Places | None = None
    for one in lane.bound.always:
        passed = one.run(columns, passed, 0)
    return np.arange(columns.count) if passed is None else passed


def _thinned(entry: Entry, columns: Columns, kept: Places) -> Entry | None:
    if not len(kept):
        return None
    return entry if len(kept) == entry.count else Entry(columns.thin(0, kept))


def _owed_full(kept: Places, count: int, room: int) -> int:
    """Return behind which event so many have been removed that they are told."""
    if count - len(kept) < room:
        return count
    removed = np.ones(count, np.bool_)
    removed[kept] = False
    return int(removed.nonzero()[0][room - 1]) + 1


def _enter(lane: Lane, passed: Entry | None, block: Block, gone: int) -> None:
    if passed is not None:
        lane.append(passed)
    lane.owed.add(block, gone, lane)


def _fitting(lane: Lane, entry: Entry) -> int:
    """Return how many of the events of an entry there is room for."""
    room_entries = lane.entries_max - lane.held_entries
    room_bytes = lane.bytes_max - lane.held_bytes
    if entry.count <= room_entries and entry.size <= room_bytes:
        return entry.count
    if entry.count == 1 or room_entries <= 0:
        return 0
    # By the mean size of its events (see `_first_bytes`); the longest may be longer, which the next
    # round sees.
    by_bytes = (room_bytes - BOOKKEEPING_BYTES) * entry.count // max(1, entry.size)
    return max(0, min(room_entries, by_bytes, entry.count - 1))


def _first_bytes(entry: Entry) -> int:
    """Return how much room the first event of an entry needs: that at which `_fitting` says 1."""
    if entry.count == 1:
        return entry.size
    return BOOKKEEPING_BYTES + (entry.size + entry.count - 1) // entry.count
