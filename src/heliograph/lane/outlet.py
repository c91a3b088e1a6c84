"""Outlet: the lanes that one link drains, fairly and each block once.

Streams take turns by bytes (deficit round robin). Within a stream the lane whose head stands
earliest is drained first, so that its lanes keep in step: a block at the head of several lanes is
sent once, addressed to all of them. While nothing overflows, that is every block (DESIGN.md,
Lanes).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from heliograph.event.block import HEADER_BYTES, Block
from heliograph.lane.entry import Entry

if TYPE_CHECKING:
    from heliograph.event.schema import Schema
    from heliograph.lane.lane import Lane

# A frame names the lanes of its stream by one bit each.
LANES_MAX: Final = 64
QUANTUM_BYTES: Final = 4_096


class Group:
    """The lanes of one stream on one link."""

    __slots__ = ("deficit", "lanes", "mask", "queued", "stream")

    def __init__(self, stream: str) -> None:
        """Begin without a lane."""
        self.stream = stream
        self.lanes: dict[int, Lane] = {}  # By the bit that addresses it.
        self.mask = 0  # Whom the other side takes the next frame to be for.
        self.deficit = 0
        self.queued = False

    def free_bit(self) -> int | None:
        """Return the lowest bit that no lane has."""
        return next((bit for bit in range(LANES_MAX) if bit not in self.lanes), None)

    def next(self) -> tuple[Entry, int] | None:
        """Return the earliest head, and the bits of the lanes at whose head it stands."""
        lanes = self.lanes
        if len(lanes) == 1:
            for bit, lane in lanes.items():
                entry = lane.head()
                return None if entry is None else (entry, 1 << bit)
        best: Entry | None = None
        mask = 0
        for bit, lane in lanes.items():
            entry = lane.head()
            if entry is None:
                continue
            if best is None or entry.place < best.place:
                best, mask = entry, 1 << bit
            elif entry is best:
                mask |= 1 << bit
        return None if best is None else (best, mask)

    def pop(self, mask: int) -> None:
        """Take the heads of the lanes in `mask`."""
        for bit, lane in self.lanes.items():
            if mask >> bit & 1:
                lane.take()

    def cut(self, entry: Entry, mask: int, size: int, schema: Schema) -> Entry:
        """Cut a block that is larger than a frame may be; return the part that now stands first.

        It is cut by the mean size of its events, so that part may have twice as many bytes, no more
        (but for a single event).
        """
        block = entry.item
        if not isinstance(block, Block) or block.count == 1 or block.wire_bytes <= size:
            return entry
        places = max(1, (size - HEADER_BYTES) * block.count // max(1, block.wire_bytes))
        places = min(places, block.count - 1)
        one, other = block.split(places, schema)
        while one.count > 1 and one.wire_bytes > 2 * size:  # Its longest events stand in front.
            places = (places + 1) // 2
            one, other = block.split(places, schema)
        first, second = Entry(one), Entry(other)
        for bit, lane in self.lanes.items():
            if mask >> bit & 1:
                lane.split_head(first, second)
        return first

    @property
    def waiting(self) -> bool:
        """Whether any lane holds anything."""
        return any(lane.entries for lane in self.lanes.values())


class Outlet:
    """The groups of one link, taking turns."""

    __slots__ = ("groups", "turn")

    def __init__(self) -> None:
        """Begin with nothing to drain."""
        self.groups: dict[str, Group] = {}
        self.turn: deque[Group] = deque()

    def group(self, stream: str) -> Group:
        """Return the group of a stream, made when it is first asked for."""
        found = self.groups.get(stream)
        if found is None:
            found = self.groups[stream] = Group(stream)
        return found

    def wake(self, group: Group) -> None:
        """Let a group that has something to send take its turn."""
        if not group.queued:
            group.queued = True
            self.turn.append(group)

    def remove(self, stream: str) -> None:
        """Forget a stream."""
        group = self.groups.pop(stream, None)
        if group is not None and group.queued:
            self.turn.remove(group)
            group.queued = False

    def peek(self) -> tuple[Group, Entry, int] | None:
        """Return the group whose turn it is, its earliest head and whom that is for."""
        turn = self.turn
        while turn:
            group = turn[0]
            found = group.next()
            if found is None:
                turn.popleft()
                group.queued = False
                group.deficit = 0
                continue
            if group.deficit <= 0 and len(turn) > 1:
                group.deficit += QUANTUM_BYTES
                if group.deficit <= 0:
                    turn.rotate(-1)
                    continue
            return group, *found
        return None

    def sent(self, group: Group, size: int) -> None:
        """Charge a group for a frame; the next takes its turn when this one has used up its own."""
        if len(self.turn) > 1:
            group.deficit -= size
            if group.deficit <= 0:
                self.turn.rotate(-1)
        else:
            group.deficit = 0
