"""Entry: a block, a digest or a marker as it stands in lanes, with what links can share of it.

One entry stands in the lanes of all receivers of a stream. Its frame is made once, by whichever
link sends it first, and is the same bytes on every link of the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from heliograph.event.block import Block
from heliograph.event.digest import Digest

if TYPE_CHECKING:
    from heliograph.policy.binding import BoundPolicy

# What a marker costs in memory.
MARKER_BYTES: Final = 160


@dataclass(frozen=True, slots=True)
class Marker:
    """Where the path of a stream changes: no digest reaches across it (DESIGN.md, Lanes)."""

    epoch: int
    number: int  # Everything up to it lies before the marker.
    bound: BoundPolicy | None = None  # What reads that, where it is not the lane's own any more.


class Entry:
    """What a lane holds at one place; `frame` is empty until a link needs it."""

    __slots__ = ("count", "epoch", "first", "frame", "item", "last", "size")

    def __init__(self, item: Block | Digest | Marker) -> None:
        """Take the figures that every lane asks for out of the item, once."""
        self.item = item
        self.epoch = item.epoch
        self.frame = b""
        if isinstance(item, Block):
            self.first = item.first
            self.last = item.first + item.span - 1
            self.count = item.count
            self.size = item.size
        elif isinstance(item, Digest):
            self.first = self.last = item.upto
            self.count, self.size = 1, item.size
        else:
            self.first = self.last = item.number
            self.count, self.size = 1, MARKER_BYTES

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands in the order of its stream, among the heads of several lanes."""
        return self.epoch, self.first
