"""Receiver: what a receiver gets, as single events and digests or as Arrow tables, in order.

The client core hands out blocks; they are decoded some hundreds of events at a time. An application
that takes as fast as it can is let take all that there is, for a while, before more is read from
the link: else a fast link would fill its lane while it is busy emptying it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, Self

from heliograph.event.block import Block
from heliograph.event.digest import Digest
from heliograph.event.errors import EventError, UsageError
from heliograph.event.event import Event
from heliograph.event.unreadable import all_events, all_rows, rows_of
from heliograph.net.lanes import lane_status
from heliograph.net.policies import read_policy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator
    from pathlib import Path

    from heliograph.event.event import Position
    from heliograph.event.schema import Schema
    from heliograph.net.client import AsyncClient
    from heliograph.policy.model import Policy

# What has been decoded is beyond the policy's reach: little, where the application is slow.
TAKE_EVENTS_MAX: Final = 128
TABLE_EVENTS_MAX: Final = 65_536
# How long an application may take without a pause before the loop has a turn for all the rest.
TURN_NS: Final = 100_000_000

Entry = Event | Digest


def decode(taken: list[Block | Digest], schema: Schema) -> list[Entry]:
    """Return blocks as their events, with the digests where they stand."""
    entries: list[Entry] = []
    run: list[Block] = []  # Read together: that costs little more than a single one.
    for item in taken:
        if isinstance(item, Block):
            run.append(item)
            continue
        entries += [*all_events(run, schema), item]
        run = []
    return entries + all_events(run, schema)


class AsyncReceiver:
    """One subscription. Iterate it, or take `batches()`; `await` it to know that it stands."""

    def __init__(self, client: AsyncClient, number: int, stream: str) -> None:
        """Begin; `number` is what the client core calls it."""
        self.stream = stream
        self._client = client
        self._number = number
        self._take = client.core.take
        self._entries: list[Entry] = []  # Decoded and not handed out, the last one first.
        self._waits: list[asyncio.Future[None]] = []  # Of whoever waits for something to come.
        self._turn = client.shell.clock()  # When the loop last had a turn, for all we know.
        self._closed = False
        self._subscribed = client.expect(number)

    def __await__(self) -> Generator[Any, None, AsyncReceiver]:
        """Wait until the planet has the subscription; raise where it refuses it."""
        return self._stand().__await__()

    async def _stand(self) -> AsyncReceiver:
        await asyncio.shield(self._subscribed)
        return self

    async def __aenter__(self) -> Self:
        """Wait until the subscription stands; it is closed at the end."""
        await self._stand()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the subscription."""
        self.close()

    @property
    def schema(self) -> Schema:
        """The schema of what came so far."""
        with self._client.shell.lock:
            return self._client.core.schema(self._number)

    @property
    def begin(self) -> Position | None:
        """Behind which position it gets every number, once; None while nobody has the stream."""
        receiver = self._client.core.receivers.get(self._number)
        return None if receiver is None else receiver.begin

    def status(self) -> dict[str, Any]:
        """Return how the lane in this client is, where events wait for the application.

        `missing` is how many numbers of the stream there are, as far as the planet has told, that
        have not come: it tells when a stream falls silent.
        """
        receiver = self._client.core.receivers.get(self._number)
        if receiver is None or receiver.lane is None:
            return {}
        return lane_status(receiver.lane) | {"missing": receiver.missing}

    def __aiter__(self) -> AsyncReceiver:
        """Return the events and digests in their order."""
        return self

    async def __anext__(self) -> Entry:
        """Return the next event or digest; ends when the receiver is closed.

        Raises:
            EventError: The planet has ended the subscription; the message says why.
        """
        entries = self._entries
        if not entries:
            entries = self._entries = await self._decoded()
            entries.reverse()
        return entries.pop()

    async def take(self) -> list[Entry]:
        """Wait until there is something; return all of it that is decoded at once.

        Raises:
            StopAsyncIteration: The receiver is closed.
        """
        if self._entries:
            entries, self._entries = self._entries[::-1], []
            return entries
        return await self._decoded()

    async def _decoded(self) -> list[Entry]:
        return decode(await self._next(TAKE_EVENTS_MAX), self.schema)

    async def batches(self, events_max: int = TABLE_EVENTS_MAX) -> AsyncIterator[Any]:
        """Yield what came as Arrow tables, as large as there is, and the digests between them."""
        while True:
            if self._entries:
                taken: list[Block | Digest] = _blocks(self._entries[::-1], self.schema)
                self._entries = []
            else:
                try:
                    taken = await self._next(events_max)
                except StopAsyncIteration:
                    return
            run: list[Block] = []
            for item in taken:
                if isinstance(item, Block):
                    run.append(item)
                    continue
                if run:
                    yield _table(run, self.schema)
                    run = []
                yield item
            if run:
                yield _table(run, self.schema)

    async def repolicy(self, policy: Policy | str | Path | None) -> None:
        """Change the policy; nothing is lost.

        What waits here is packed under the new one; what waits at the planet, under the old one.
        """
        self._check()
        await self._client.repolicy(self._number, read_policy(policy))

    def close(self) -> None:
        """Receive no more. What has been decoded already is still handed out."""
        if not self._closed:
            self._closed = True
            self._client.forget(self._number)
            self.wake()

    # What the client reports.

    def wake(self) -> None:
        """There is something to take."""
        waits, self._waits = self._waits, []
        for one in waits:
            if not one.done():
                one.set_result(None)

    def end(self) -> None:
        """The client is closed; iterating ends."""
        self._closed = True
        self.wake()

    async def _next(self, events_max: int) -> list[Block | Digest]:
        """Wait until there is something to take, and take it."""
        client = self._client
        now = client.shell.clock()
        if now - self._turn > TURN_NS:
            await asyncio.sleep(0)
            self._turn = client.shell.clock()
        while not self._closed:
            with client.shell.lock:
                taken = self._take(self._number, events_max, now)
            if taken:
                client.shell.schedule()  # The cursor has moved: the planet may send more.
                return taken
            trouble = client.trouble(self._number)
            if trouble is not None:
                raise EventError(f"{self.stream}: {trouble}")
            waiting = client.shell.loop.create_future()
            self._waits.append(waiting)
            try:
                await waiting
            finally:
                if waiting in self._waits:  # Its task was cancelled.
                    self._waits.remove(waiting)
            now = self._turn = client.shell.clock()
        raise StopAsyncIteration

    def _check(self) -> None:
        if self._closed:
            raise UsageError(f"the receiver of {self.stream} is closed: subscribe again")


def _blocks(entries: list[Entry], schema: Schema) -> list[Block | Digest]:
    """Return events as blocks again, where someone iterated first and wants tables now."""
    found: list[Block | Digest] = []
    events: list[Event] = []
    for entry in entries:
        if isinstance(entry, Event):
            events.append(entry)
            continue
        found += [*rows_of(events, schema), entry]
        events = []
    return [*found, *rows_of(events, schema)]


def _table(blocks: list[Block], schema: Schema) -> Any:
    from heliograph.event.arrow import to_table  # noqa: PLC0415 - a device does without pyarrow

    try:
        return to_table(blocks, schema)
    except EventError:  # Some event in it cannot be read.
        return to_table([part for one in blocks for part in all_rows(one, schema)], schema)
