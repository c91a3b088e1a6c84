"""Receiver: the endpoint that wants a stream, its books, and the lane that its application empties.

The client always reads its link; an application that is slow fills its own lane, which is packed by
its own policy, and slows nobody else (DESIGN.md, the path of an event).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heliograph.event.block import Block
from heliograph.event.errors import EventError
from heliograph.event.event import Position
from heliograph.lane.account import Account
from heliograph.lane.entry import Entry, Marker
from heliograph.lane.lane import Lane
from heliograph.policy.binding import bind

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.event.digest import Digest
    from heliograph.event.schema import Schema
    from heliograph.policy.ladder import Controller
    from heliograph.policy.limits import Limits
    from heliograph.policy.model import Policy


# As many epochs as a planet's lanes hold at the most: older ones cannot come any more.
EPOCHS_MAX: Final = 1_024


class Span:
    """The numbers of an epoch that come by one lane of the planet: above `after`, up to `upto`."""

    __slots__ = ("after", "alias", "bit", "upto")

    def __init__(self, alias: int, bit: int, after: int) -> None:
        """Begin without an end."""
        self.alias = alias
        self.bit = bit
        self.after = after
        self.upto: int | None = None


class Receiver:
    """One subscription of this client."""

    def __init__(
        self,
        number: int,
        stream: str,
        policy: Policy,
        limits: Limits,
        control: Callable[[int], Controller],
        wanted: tuple[int, int],
    ) -> None:
        """Begin as a wish; the stream need not exist yet."""
        self.number = number
        self.stream = stream
        self.policy = policy
        self.wanted = wanted  # The capacity of its lane at the planet: entries, bytes; 0 is any.
        self.account: Account | None = None
        self.lane: Lane | None = None
        self.error: str | None = None
        self.rejoins = False  # Whether its session was lost, and with it its place in the stream.
        self.begin: Position | None = None  # Behind it every number is owed.
        self.beacon = Position(0, 0)  # How far the stream has come, as the planet says.
        self.spans: list[Span] = []
        self._schemas: dict[int, Schema] = {}  # By epoch.
        self._reading = 0  # The epoch of what was taken last.
        self._limits = limits
        self._control = control

    @property
    def since(self) -> Position:
        """How far it has come; what a planet that does not know it has to go on from."""
        return self.account.position if self.account is not None else Position(0, 0)

    def open(self, alias: int, bit: int, begin: Position, schema: Schema, now: int) -> None:
        """Go on behind `begin` by a lane of the planet's.

        Raises:
            PolicyError: The policy does not suit the stream.
        """
        account, lane = self.account, self.lane
        self._schemas[begin.epoch] = schema
        if account is None or lane is None:
            self.begin = begin
            self.account = account = Account(self.stream, begin)
            self.lane = Lane(self.policy, schema, self._limits, begin=begin, control=self._control)
            self._reading = begin.epoch
        elif begin.epoch != account.epoch:
            bind(self.policy, schema)
        if self.rejoins and lane is not None:
            self._rejoin(account, lane, begin, now)
        self.rejoins = False
        self.grow(begin.epoch, schema)
        for span in self.spans:
            if span.alias == alias and span.upto is None:
                span.upto = begin.number
        self.spans.append(Span(alias, bit, begin.number))
        del self.spans[:-EPOCHS_MAX]
        if len(self._schemas) > EPOCHS_MAX:
            self._prune()

    def _prune(self) -> None:
        """Forget the schemas of old epochs of which nothing came, and nothing can."""
        waiting = self.lane.entries if self.lane is not None else ()
        used = {self._reading, *(one.epoch for one in waiting)}
        for epoch in list(self._schemas)[:-EPOCHS_MAX]:
            if epoch not in used:
                del self._schemas[epoch]

    def _rejoin(self, account: Account, lane: Lane, begin: Position, now: int) -> None:
        """Go on where another planet begins; what was lost on the way is a gap."""
        self.spans.clear()
        at = account.position
        turned = at.epoch != begin.epoch
        for gap in account.rejoin(begin):
            if turned and gap.epoch == begin.epoch:
                lane.turn(self._schemas[begin.epoch], at)
                turned = False
            self._offer(lane, Entry(gap), now)
        if turned:
            lane.turn(self._schemas[begin.epoch], at)

    @property
    def schema(self) -> Schema | None:
        """What reads all that was taken last."""
        return self._schemas.get(self._reading)

    def grow(self, epoch: int, schema: Schema) -> None:
        """Read what comes of an epoch by a schema that has grown.

        Raises:
            PolicyError: The policy does not suit it.
        """
        self._schemas[epoch] = schema
        if self.lane is None or self.account is None:
            return
        if epoch == self.account.epoch:
            self.lane.rebind(schema)
        elif epoch > self.account.epoch:
            bind(self.policy, schema)  # When that epoch begins it is too late to find out.

    def arrive(self, alias: int, mask: int, entry: Entry, now: int) -> bool:
        """Take what came by the lanes in `mask`; say whether any of it is new to this receiver.

        Raises:
            EventError: The planet's books do not add up.
        """
        new = False
        for span in list(self.spans) if len(self.spans) > 1 else self.spans:
            if span.alias != alias or not mask >> span.bit & 1 or entry.last <= span.after:
                continue
            upto = span.upto
            if upto is None or entry.last <= upto:
                if span is not self.spans[0]:
                    self._pass(span)
                return self._enter(entry, entry.item, now) or new
            # Links cut blocks where they like, so one may reach across the end of a span; one that
            # reaches across its beginning is clipped by the account.
            part = self._upto(entry.item, upto)
            new = (part is not None and self._enter(Entry(part), part, now)) or new
        return new

    def _pass(self, span: Span) -> None:
        """Go on in a span; those before it have come to their end, and so have their digests."""
        del self.spans[: self.spans.index(span)]
        account, lane = self.account, self.lane
        if account is None or lane is None or account.missing:
            return
        if account.position.number == span.after:
            lane.mark(*account.position)

    def _upto(self, item: Block | Digest | Marker, upto: int) -> Block | None:
        """Return those events of a block whose numbers are not above `upto`."""
        if not isinstance(item, Block) or item.first > upto:
            return None
        return item.thin(np.flatnonzero(item.numbers() <= upto), self._schemas[item.epoch])

    def _enter(self, entry: Entry, item: Block | Digest | Marker, now: int) -> bool:
        """Enter what came into the books, and let the application have what is new."""
        account, lane = self.account, self.lane
        if account is None or lane is None or isinstance(item, Marker):
            return False
        epoch, last, schema = account.epoch, account.last, self._schemas[item.epoch]
        new = account.take(item, schema) if isinstance(item, Block) else account.settle(item)
        if account.epoch != epoch:
            lane.turn(schema, Position(epoch, last))
        if new is None:
            return False
        self._offer(lane, entry if new is item else Entry(new), now)
        if lane.owed.count and account.position == self.beacon:
            lane.owed.settle(lane)
        return True

    def silent(self, beacon: Position) -> bool:
        """Hear how far a stream has come that has fallen silent; say if that tells anything new.

        What an always level removed here is told once all has come: nothing else would tell it.
        """
        self.beacon = beacon
        lane, account = self.lane, self.account
        if lane is None or account is None or not lane.owed.count or account.position != beacon:
            return False
        lane.owed.settle(lane)
        return bool(lane.entries)

    @staticmethod
    def _offer(lane: Lane, entry: Entry, now: int) -> None:
        try:
            lane.offer(entry, now)
        except EventError:
            # Its sender's fault, and not the planet's, which does not look into events.
            lane.discard(entry)

    @property
    def missing(self) -> int:
        """How many numbers of the stream there are, as far as is known, that have not come."""
        at = self.since
        if self.beacon.epoch != at.epoch or self.account is None:
            return 0
        return self.account.missing + max(0, self.beacon.number - at.number)

    def check(self, policy: Policy) -> None:
        """Refuse a policy that does not suit the stream as it is known.

        Raises:
            PolicyError: It cannot apply.
        """
        if self.account is not None:
            bind(policy, self._schemas[self.account.epoch])

    def repolicy(self, policy: Policy) -> None:
        """Go on under another policy; no digest reaches back across this place."""
        self.policy = policy
        lane = self.lane
        if lane is None or self.account is None:
            return
        if not self.account.missing:
            lane.mark(*self.account.position)
        lane.policy = policy
        lane.controller = None
        lane.rebind(self._schemas[self.account.epoch])

    def take(self, events: int) -> list[Block | Digest]:
        """Return what waits for the application, up to so many events of one epoch."""
        taken: list[Block | Digest] = []
        lane = self.lane
        while lane is not None and events > 0:
            head = lane.head()
            if head is None or (taken and head.epoch != self._reading):
                break
            if head.epoch != self._reading:
                self._reading = head.epoch
                for epoch in [one for one in self._schemas if one < head.epoch]:
                    del self._schemas[epoch]
            item = head.item
            if isinstance(item, Block) and item.count > events:
                one, other = item.split(events, self._schemas[item.epoch])
                lane.split_head(Entry(one), Entry(other))
            entry = lane.take()
            if entry is None:
                break
            events -= entry.count
            taken.append(entry.item)  # type: ignore[arg-type]
        return taken
