"""Owed: what an always level removed from a lane and no digest has told of yet.

An always level runs on every event, not only in a pack, so its digests must not cost an entry for
each event that it removes. They are put off until there are enough of them, or the lane falls
silent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heliograph.event.digest import Digest
from heliograph.event.event import Position
from heliograph.lane.entry import Entry
from heliograph.policy.merge import absorb, merge
from heliograph.policy.stretch import reach

if TYPE_CHECKING:
    from heliograph.event.block import Block
    from heliograph.lane.lane import Lane

# So often a receiver is told of what its always level removed, though nothing overflows.
OWED_MAX: Final = 256


class Owed:
    """Counts what was filtered, and turns it into a digest."""

    __slots__ = ("count", "last", "reached", "stream")

    def __init__(self) -> None:
        """Begin owing nothing."""
        self.count = 0
        self.stream = ""
        self.last = Position(0, 0)  # Of what arrived, filtered or not.
        self.reached: Position | None = None  # How far nothing was missing in what arrived.

    def add(self, block: Block, gone: int, lane: Lane) -> None:
        """Count what was removed of a block, the rest of which stands in the lane."""
        self.stream, self.last = block.stream, Position(block.epoch, block.last)
        self.reached = reach(self.reached or lane.told, block)
        self.count += gone
        lane.filtered += gone

    def arrived(self, digest: Digest, lane: Lane) -> None:
        """Take note of a digest from upstream, which closes a gap."""
        self.reached = reach(self.reached or lane.told, digest)

    def settle(self, lane: Lane) -> None:
        """Tell what was filtered: by a digest at the tail, or with the end of a gap."""
        if not self.count:
            return
        epoch, last = self.last
        count, self.count = self.count, 0
        digest = Digest(self.stream, epoch, 0, last, 0, count)
        reached = self.reached.number if self.reached is not None else 0
        if reached < last:  # A digest from upstream is on its way; this one waits for it.
            held = [one for one in lane.pending if one.epoch == epoch]
            rest = [one for one in lane.pending if one.epoch != epoch]
            after = held[0].after if held else reached
            joined = merge(held[0], digest) if held else digest
            lane.pending = (
                *rest,
                Digest(
                    joined.stream, epoch, after, max(joined.upto, last), joined.count,
                    joined.filtered, joined.first_time, joined.last_time, joined.parts,
                ),
            )  # fmt: skip
            return
        # A pack between the parts of one block may have left something that waits for this.
        lane.pending, whole = absorb(lane.pending, digest, lane.told)
        tail = lane.entries[-1].item if lane.entries else None
        if _full(lane, whole) and isinstance(tail, Digest) and tail.epoch == epoch:
            # Or a lane of which an always level leaves nothing would grow without end.
            lane.replace_tail(Entry(merge(tail, whole)))
        else:
            lane.append(Entry(whole))
        lane.told = Position(epoch, last)


def _full(lane: Lane, digest: Digest) -> bool:
    entries, size = lane.held_entries + 1, lane.held_bytes + digest.size
    return entries > lane.entries_max or size > lane.bytes_max
