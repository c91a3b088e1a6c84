"""Receiver: the endpoint that wants a stream, its books, and the lane that its application empties.

The client always reads its link; an application that is slow fills its own lane, which is packed by
its own policy, and slows nobody else (DESIGN.md, the path of an event).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heliograph.event.block import Block
from heliograph.event.event import Position
from heliograph.lane.account import Account
from heliograph.lane.entry import Entry, Marker
from heliograph.lane.lane import Lane

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.event.digest import Digest
    from heliograph.event.schema import Schema
    from heliograph.policy.ladder import Controller
    from heliograph.policy.limits import Limits
    from heliograph.policy.model import Policy


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
        self.schema: Schema | None = None
        self.account: Account | None = None
        self.lane: Lane | None = None
        self.error: str | None = None
        self.rejoins = False  # Whether its session was lost, and with it its place in the stream.
        self.beacon = 0  # How far the stream has come, as the planet says.
        self.spans: list[Span] = []
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
        if self.account is None or self.lane is None:
            self.account = Account(self.stream, begin)
            self.lane = Lane(self.policy, schema, self._limits, begin=begin, control=self._control)
        elif self.rejoins:
            self.spans.clear()
            for gap in self.account.rejoin(begin):
                self.lane.offer(Entry(gap), now)
        self.rejoins = False
        self.grow(schema)
        for span in self.spans:
            if span.alias == alias and span.upto is None:
                span.upto = begin.number
        self.spans.append(Span(alias, bit, begin.number))

    def grow(self, schema: Schema) -> None:
        """Read what comes by a schema that has grown."""
        if self.schema is not schema:
            self.schema = schema
            if self.lane is not None:
                self.lane.rebind(schema)

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
                    del self.spans[: self.spans.index(span)]  # They have come to their end.
                return self._enter(entry, entry.item, now) or new
            # Links cut blocks where they like, so one may reach across the end of a span; one that
            # reaches across its beginning is clipped by the account.
            part = self._upto(entry.item, upto)
            new = (part is not None and self._enter(Entry(part), part, now)) or new
        return new

    def _upto(self, item: Block | Digest | Marker, upto: int) -> Block | None:
        """Return those events of a block whose numbers are not above `upto`."""
        if not isinstance(item, Block) or item.first > upto or self.schema is None:
            return None
        return item.thin(np.flatnonzero(item.numbers() <= upto), self.schema)

    def _enter(self, entry: Entry, item: Block | Digest | Marker, now: int) -> bool:
        """Enter what came into the books, and let the application have what is new."""
        account, lane, schema = self.account, self.lane, self.schema
        if account is None or lane is None or schema is None or isinstance(item, Marker):
            return False
        new = account.take(item, schema) if isinstance(item, Block) else account.settle(item)
        if new is None:
            return False
        lane.offer(entry if new is item else Entry(new), now)
        return True

    def repolicy(self, policy: Policy) -> None:
        """Go on under another policy; no digest reaches back across this place."""
        self.policy = policy
        lane = self.lane
        if lane is None or self.schema is None or self.account is None:
            return
        if not self.account.missing:
            lane.mark(*self.account.position)
        lane.policy = policy
        lane.controller = None
        lane.rebind(self.schema)

    def take(self, events: int) -> list[Block | Digest]:
        """Return what waits for the application, up to so many events."""
        taken: list[Block | Digest] = []
        lane = self.lane
        while lane is not None and events > 0:
            head = lane.head()
            if head is None:
                break
            item = head.item
            if isinstance(item, Block) and item.count > events and lane.bound.schema:
                one, other = item.split(events, lane.bound.schema)
                lane.split_head(Entry(one), Entry(other))
            entry = lane.take()
            if entry is None:
                break
            events -= entry.count
            taken.append(entry.item)  # type: ignore[arg-type]
        return taken
