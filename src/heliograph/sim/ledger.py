"""Ledger: one receiver's books, kept number by number in the slow and obvious way.

It is the twin of the account that hosts keep of each other (`lane.account`), and shares no code
with it. Conservation and order (DESIGN.md, What is always true) are checked with each entry, so
that a breach is told at the moment at which it happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heliograph.event.block import Block
from heliograph.event.convert import events_of
from heliograph.event.digest import Digest, check_digest
from heliograph.event.event import Position
from heliograph.sim.samples import values_of
from heliograph.sim.world import SimulationError

if TYPE_CHECKING:
    from heliograph.event.event import Event
    from heliograph.event.schema import Schema
    from heliograph.sim.truth import Truth


class BreachError(SimulationError):
    """One of the things that are always true was not."""

    def __init__(self, invariant: str, what: str) -> None:
        """Say which one, and what was seen."""
        self.invariant = invariant
        super().__init__(f"{invariant}: {what}")


class Ledger:
    """What one receiver got of one stream, from the beginning of its subscription on."""

    def __init__(self, who: str, stream: str, truth: Truth) -> None:
        """Begin; the first entries say where the subscription begins."""
        self.who = who
        self.stream = stream
        self.truth = truth
        self.begin: Position | None = None
        self.begin_max: Position | None = None  # It must begin no later than this.
        self._losses = 0  # As they were when it was answered.
        self._begin_told = False  # Whether a digest has said where it begins.
        self.settled = Position(0, 0)  # Up to here every number came or was counted.
        self.open: list[int] = []  # Numbers that came behind it, as events.
        self.events = 0
        self.dropped = 0
        self.filtered = 0
        self.gaps = 0
        self.ages: list[int] = []  # Of each event when it was taken, in microseconds.
        self.entries: list[Block | Digest] | None = None  # Kept where somebody asks for them.

    @property
    def position(self) -> Position:
        """The last number that came or was counted."""
        last = self.open[-1] if self.open else self.settled.number
        return Position(self.settled.epoch, last)

    def expect(self) -> None:
        """Take note that the subscription stands now: it owes everything from here on."""
        newest = self.truth.newest(self.stream)
        self._losses = self.truth.losses
        if self.begin_max is None:
            self.begin_max = Position(newest.epoch, newest.last) if newest else Position(0, 0)

    def take(self, entry: Block | Digest, schema: Schema, time: int) -> None:
        """Enter what the receiver took, at a time in microseconds.

        Raises:
            BreachError: It is not what must come now.
        """
        if self.entries is not None:
            self.entries.append(entry)
        self._enter_epoch(entry)
        if isinstance(entry, Digest):
            check_digest(entry)
            self._settle(entry)
            return
        for event in events_of(entry, schema):
            self._take_event(event)
            self.ages.append(time - event.time)

    def _enter_epoch(self, entry: Block | Digest) -> None:
        """Begin with the first entry, and go on to a larger epoch behind a whole one."""
        if entry.stream != self.stream:
            self._fail("order", f"got an entry of {entry.stream}")
        after = entry.first - 1 if isinstance(entry, Block) else entry.after
        if self.begin is None:
            if self._losses != self.truth.losses:
                # It waited for its stream when a planet was lost, which alone knew since when.
                self.begin_max = None
            self.begin = self.settled = Position(entry.epoch, after)
        if entry.epoch < self.settled.epoch:
            self._fail("order", f"goes back to epoch {entry.epoch} from {self.settled.epoch}")
        if entry.epoch > self.settled.epoch:
            self._close_epochs(entry.epoch)
            self._begin_told = True
            self.settled = Position(entry.epoch, 0)
            self.open.clear()

    def _close_epochs(self, until: int) -> None:
        """Check the epoch that has ended here, and those that are passed over altogether."""
        self._check_whole(self.open[-1] if self.open else self.settled.number)
        for found in self.truth.epochs(self.stream):
            reached = self.position.number if found.epoch == self.settled.epoch else 0
            if self.settled.epoch <= found.epoch < until and reached < found.owed:
                self._fail(
                    "conservation",
                    f"goes on to epoch {until} after {reached} of epoch {found.epoch}, of which "
                    f"{found.owed} had reached the planet",
                )

    def _take_event(self, event: Event) -> None:
        if event.position <= self.position:
            self._fail("order", f"got {event.number} after {self.position}")
        found = self.truth.epoch(self.stream, event.epoch)
        if found is None or event.number > found.last:
            self._fail("conservation", f"got {event.position}, which was never published")
        elif event.time != found.times[event.number - 1]:
            self._fail("conservation", f"got {event.position} with another time")
        elif event.values != values_of(self.stream, event.epoch, event.number):
            self._fail("conservation", f"got {event.position} with other values")
        self.events += 1
        self.open.append(event.number)

    def _settle(self, digest: Digest) -> None:
        after, upto = digest.after, digest.upto
        name = f"the digest of ({after}, {upto}]"
        if self.open and self.open[-1] > upto:
            self._fail("order", f"{name} came behind the event {self.open[-1]}")
        if after < self.settled.number:
            if self.settled != self.begin or self._begin_told:
                self._fail("conservation", f"{name} settles what was settled up to {self.settled}")
            # Nothing of the first numbers came as an event, so that only now they are told of.
            self.begin = self.settled = Position(digest.epoch, after)
        self._begin_told = True
        inside = [number for number in self.open if number > after]
        self.open = [number for number in self.open if number <= after]
        self._check_whole(after)
        if len(inside) + digest.settled != upto - after:
            self._fail(
                "conservation",
                f"{name} counts {digest.count} dropped and {digest.filtered} filtered, and "
                f"{len(inside)} came as events: that is not {upto - after}",
            )
        if digest.gap > digest.count:
            self._fail("conservation", f"{name} has a gap of {digest.gap} in {digest.count}")
        if digest.gap and not self.truth.losses:
            self._fail("conservation", f"{name} has a gap, and nothing crashed")
        found = self.truth.epoch(self.stream, digest.epoch)
        if found is None or upto > found.last:
            self._fail("conservation", f"{name} counts what was never published")
        self.settled = Position(digest.epoch, upto)
        self.open = []
        self.dropped += digest.count
        self.filtered += digest.filtered
        self.gaps += digest.gap

    def _check_whole(self, upto: int) -> None:
        """Check that every number behind the settled ones came as an event, up to one."""
        want = list(range(self.settled.number + 1, upto + 1))
        if self.open != want:
            missing = sorted(set(want) - set(self.open))[:5]
            self._fail(
                "conservation", f"{missing} of epoch {self.settled.epoch} neither came nor count"
            )

    def check_all_came(self) -> None:
        """Check, when all is quiet, that everything up to the end of the stream came or counts.

        Raises:
            BreachError: A tail or a hole is missing.
        """
        limit = self.begin_max or self.begin
        if limit is None or (self.begin is None and self._losses != self.truth.losses):
            return  # The subscription never stood, or waited: nothing is owed.
        at = self.position if self.begin else limit
        begin = self.begin or limit
        if self.begin is not None:
            self._check_whole(at.number)
        for epoch in self.truth.epochs(self.stream):
            owed = epoch.due
            least = limit.number if epoch.epoch == limit.epoch else 0
            if epoch.epoch >= limit.epoch and owed > least and begin > (epoch.epoch, least):
                self._fail("conservation", f"begins at {begin}, owed from {limit} on")
            reached = at.number if epoch.epoch == at.epoch else 0
            if epoch.epoch >= at.epoch and owed > reached:
                self._fail(
                    "conservation",
                    f"stands at {reached} of epoch {epoch.epoch}, of which {owed} are owed",
                )

    def _fail(self, invariant: str, what: str) -> None:
        raise BreachError(invariant, f"{self.who} of {self.stream} {what}")
