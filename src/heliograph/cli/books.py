"""Books: what a receiver got, number by number, and whether it adds up.

Of every interval: events + dropped + filtered = numbers. This looks at nothing but the events and
digests that an application gets, so it checks all that lies before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from heliograph.event.digest import Digest

if TYPE_CHECKING:
    from heliograph.event.event import Event, Position

_TROUBLES_MAX: Final = 10


@dataclass(slots=True)
class Books:
    """Counts what comes of one stream; `troubles` says what does not add up."""

    events: int = 0
    digests: int = 0
    dropped: int = 0
    filtered: int = 0
    gaps: int = 0  # Of the dropped: lost in a crash.
    numbers: int = 0  # Of epochs that have ended.
    troubles: list[str] = field(default_factory=list)
    _epoch: int = 0
    _begin: int | None = None  # Behind it this receiver's part of the epoch begins.
    _base: int = 0  # Up to here all is settled.
    _since: int = 0  # Events behind `_base`.
    _last: int = 0

    def enter(self, entry: Event | Digest, begin: Position | None = None) -> None:
        """Enter what came; `begin` is where the planet said that it begins, if that is known."""
        first = entry.after + 1 if isinstance(entry, Digest) else entry.number
        if self._begin is None or entry.epoch != self._epoch:
            told = begin is not None and begin.epoch == entry.epoch
            self._turn(entry.epoch, begin.number if begin is not None and told else first - 1)
        if isinstance(entry, Digest):
            self._settle(entry)
            return
        if entry.number <= self._last:
            self._trouble(f"number {entry.number} came behind number {self._last}")
        self.events += 1
        self._since += 1
        self._last = max(self._last, entry.number)

    def _turn(self, epoch: int, begin: int) -> None:
        """Begin an epoch; the one before it is over."""
        if self._begin is not None:
            if self.open:
                self._trouble(f"epoch {self._epoch} ended with {self.open:,} numbers untold")
            self.numbers += self._last - self._begin
            begin = 0  # Of a later epoch every number is owed.
        self._epoch, self._begin = epoch, begin
        self._base = self._last = begin
        self._since = 0

    def _settle(self, digest: Digest) -> None:
        """Enter a digest."""
        self.digests += 1
        self.dropped += digest.count
        self.filtered += digest.filtered
        self.gaps += digest.gap
        if digest.after < self._base and self._base == self._begin:
            # The first digest may reach back before the first event that came.
            self._begin = self._base = digest.after
        if digest.after != self._base:
            self._trouble(f"a digest begins behind {digest.after}, not behind {self._base}")
        elif digest.upto - digest.after != self._since + digest.settled:
            self._trouble(
                f"a digest tells of {digest.settled:,} up to {digest.upto}, beside {self._since:,} "
                f"events of {digest.upto - digest.after:,} numbers"
            )
        self._base = self._last = max(self._last, digest.upto)
        self._since = 0

    def _trouble(self, what: str) -> None:
        if len(self.troubles) < _TROUBLES_MAX:
            self.troubles.append(what)

    @property
    def open(self) -> int:
        """How many numbers a digest has still to tell of: those between the events at the end."""
        return self._last - self._base - self._since

    @property
    def total(self) -> int:
        """How many numbers these books cover."""
        return self.numbers + (0 if self._begin is None else self._last - self._begin)

    def words(self) -> str:
        """Say whether the books add up."""
        if self.troubles:
            return f"the books do not add up: {'; '.join(self.troubles)}"
        sum_ = f"{self.events:,} events + {self.dropped:,} dropped + {self.filtered:,} filtered"
        if self.open:
            sum_ += f" + {self.open:,} that the next digest tells of"
        return f"the books add up: {sum_} = {self.total:,} numbers"
