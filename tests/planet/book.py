"""Book: what one receiver was given, checked number by number: the slow twin of `Account`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heliograph.event.block import Block
from heliograph.event.convert import events_of

if TYPE_CHECKING:
    from heliograph.event.digest import Digest
    from heliograph.event.event import Event
    from heliograph.event.schema import Schema


class Book:
    """Everything that a receiver was given, in its order."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.digests: list[Digest] = []
        self.epoch = 0
        self.base: int | None = None  # Settled up to here; None until the first digest says so.
        self.first: int | None = None
        self.last = 0
        self.open: set[int] = set()

    def enter(self, item: Block | Digest, schema: Schema) -> None:
        """Enter an item.

        Raises:
            AssertionError: It comes out of order, twice, or does not add up.
        """
        if item.epoch != self.epoch:
            assert item.epoch > self.epoch, "epochs rise"
            if self.epoch:
                assert self.missing == 0, f"{self.missing} numbers of an epoch were never settled"
                self.base = 0
            self.epoch, self.last = item.epoch, 0
            self.open.clear()
        if isinstance(item, Block):
            for event in events_of(item, schema):
                self.first = event.number if self.first is None else self.first
                assert event.number > self.last, f"{event.number} after {self.last}"
                self.last = event.number
                self.open.add(event.number)
                self.events.append(event)
            return
        begin = self.begin
        if item.after > begin:  # Nothing is missing up to where a marker stood.
            assert self.open.issuperset(range(begin + 1, item.after + 1)), (item, begin)
            self.open.difference_update(range(begin + 1, item.after + 1))
            begin = item.after
        elif self.base is None:
            begin = item.after
        assert item.upto >= self.last, "a digest stands behind what it covers"
        assert item.upto - begin == len(self.open) + item.settled, (item, begin, self.open)
        self.base = self.last = item.upto
        self.open.clear()
        self.digests.append(item)

    @property
    def begin(self) -> int:
        """Up to where everything is settled, as far as this book can tell."""
        return self.base if self.base is not None else (self.first or 1) - 1

    @property
    def missing(self) -> int:
        """How many numbers up to the last have neither come nor been settled."""
        return self.last - self.begin - len(self.open)

    @property
    def numbers(self) -> list[int]:
        return [one.number for one in self.events]

    def values(self, tag: str = "n") -> list[Any]:
        return [one.values.get(tag) for one in self.events]

    @property
    def dropped(self) -> int:
        """How many were dropped, what a crash took included."""
        return sum(one.count for one in self.digests)

    @property
    def filtered(self) -> int:
        return sum(one.filtered for one in self.digests)

    @property
    def gaps(self) -> int:
        return sum(one.gap for one in self.digests)

    def whole(self, upto: int) -> bool:
        """Say whether every number of the last epoch up to `upto` has come or been counted."""
        assert self.missing == 0, f"{self.missing} are missing up to {self.last}"
        return self.last == upto
