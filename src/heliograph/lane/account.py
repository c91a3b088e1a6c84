"""Account: what a receiver has been told of a stream, number by number.

It lets each entry through once and in order, and checks every digest against what arrived: of
`(after, upto]`, events + dropped + filtered = numbers. A host takes its own account of what it is
sent, so that whoever breaks the books is found at the next host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heliograph.event.digest import Digest
from heliograph.event.errors import EventError
from heliograph.event.event import Position

if TYPE_CHECKING:
    from heliograph.event.block import Block
    from heliograph.event.schema import Schema


class Account:
    """The books of one receiver of one stream."""

    __slots__ = ("base", "epoch", "events", "gaps", "last", "overlap", "stream")

    def __init__(self, stream: str, begin: Position) -> None:
        """Begin behind a position, from which on every number is owed."""
        self.stream = stream
        self.epoch = begin.epoch
        self.base = begin.number  # Up to here all is settled.
        self.last = begin.number  # The last number that was received or settled.
        self.events = 0  # Received behind `base`.
        self.gaps = 0
        self.overlap = 0  # Up to here digests may tell once more of what is settled.

    @property
    def position(self) -> Position:
        """How far this account has come."""
        return Position(self.epoch, self.last)

    @property
    def missing(self) -> int:
        """How many numbers up to the last one have neither come nor been settled yet."""
        return self.last - self.base - self.events

    def take(self, block: Block, schema: Schema) -> Block | None:
        """Enter a block; return what of it is new.

        Raises:
            EventError: It is of an epoch that has ended.
        """
        if block.epoch != self.epoch:
            self._turn(block.epoch)
        if block.first > self.last:
            self.last = block.last
            self.events += block.count
            return block
        if block.last <= self.last:
            return None
        # An overlap, as after a crash: what has come already is clipped.
        keep = np.flatnonzero(block.numbers() > self.last)
        if not len(keep):
            return None
        rest = block.thin(keep, schema)
        self.last = rest.last
        self.events += rest.count
        return rest

    def settle(self, digest: Digest) -> Digest | None:
        """Enter a digest; return it, or None where it says nothing that is new.

        Raises:
            EventError: It does not add up with what was received.
        """
        if digest.epoch != self.epoch:
            self._turn(digest.epoch)
        if digest.upto < self.last or (digest.upto == self.base and not self.missing):
            if digest.upto <= self.base:
                return None
            raise EventError(f"a digest of {self.stream} stands before an event that it covers")
        open_ = digest.upto - self.base - self.events
        if digest.after < self.overlap <= digest.upto and open_ >= 0:
            # It begins before a crash: what it says beyond the count is not of these numbers alone.
            digest = Digest(self.stream, self.epoch, self.base, digest.upto, open_, gap=open_)
        elif open_ != digest.settled:
            raise EventError(
                f"a digest of {self.stream} settles {digest.settled} numbers up to {digest.upto}, "
                f"but {open_} are open"
            )
        self.base = self.last = digest.upto
        self.events = 0
        return digest if digest.settled else None

    def rejoin(self, begin: Position) -> list[Digest]:
        """Go on behind `begin` after every host that knew this receiver has gone.

        Returns the gap digests for what was lost on the way there: its count is known, its values
        are not. What comes once more is clipped.
        """
        found = [self.close_gap()]
        if begin.epoch != self.epoch:
            self._start(begin.epoch, 0)
        if begin.number > self.last:
            self.last = begin.number
            found.append(self.close_gap())
        self.overlap = self.last
        return [one for one in found if one is not None]

    def close_gap(self) -> Digest | None:
        """Settle whatever is open up to the last number as lost."""
        lost = self.missing
        begin, self.base, self.events = self.base, self.last, 0
        if not lost:
            return None
        self.gaps += lost
        return Digest(self.stream, self.epoch, begin, self.last, lost, gap=lost)

    def _turn(self, epoch: int) -> None:
        """Begin a new epoch; the old one has been settled by what came before (see `skip`)."""
        if epoch < self.epoch:
            raise EventError(f"{self.stream} goes back to the epoch {epoch} from {self.epoch}")
        if self.missing:
            raise EventError(
                f"{self.stream} begins the epoch {epoch} with {self.missing} numbers open in the "
                f"epoch {self.epoch}"
            )
        self._start(epoch, 0)

    def _start(self, epoch: int, number: int) -> None:
        self.epoch, self.base, self.last, self.events = epoch, number, number, 0
        self.overlap = 0
