"""Sender: publishes the events of one stream, without ever waiting.

Publishing appends to the client's own lanes. What is published within one turn of the event loop
goes out together; when there is a block of it, that is handed to the socket at once, so that a loop
that never pauses still sends.
"""

from __future__ import annotations

import time as clock
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from heliograph.event.errors import UsageError
from heliograph.event.types import microseconds
from heliograph.net.lanes import lane_status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heliograph.net.client import AsyncClient


class AsyncSender:
    """One stream that this client offers."""

    def __init__(self, client: AsyncClient, number: int, stream: str) -> None:
        """Begin; `number` is what the client core calls it."""
        self.stream = stream
        self._client = client
        self._number = number
        self.shell = client.shell
        self._sender = client.core.senders[number]
        self._gather: Callable[[Mapping[str, Any], int], int] = self._sender.gather
        self._closed = False
        self._why = ""  # Why it is closed, where its user did not ask for it.

    async def __aenter__(self) -> Self:
        """Offer the stream until the end."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Wait until everything has been acknowledged, then withdraw the stream."""
        await self.flush()
        self.close()

    def publish(self, values: Mapping[str, Any], time: int | datetime | None = None) -> int:
        """Publish an event and return its number; it is delivered, or counted in a digest.

        Args:
            values: The attributes, by tag.
            time: When it happened: microseconds since 1970 in UTC, or a datetime; None is now.

        Raises:
            EventError: The values do not fit the stream's declared schema, are longer than a frame
                may be, or the stream is another client's now; nothing was published.
        """
        if time is None:
            time = clock.time_ns() // 1_000
        elif isinstance(time, datetime):
            time = microseconds(time)
        number = self._gather(values, time)
        sender = self._sender
        if not sender.stirred:
            self._client.core.outgoing.stir(sender)
            self.shell.schedule()
        if sender.full:
            sender.flush(clock.monotonic_ns())
            self.shell.flush()
        return number

    def publish_table(self, table: Any) -> int:
        """Publish the rows of an Arrow table in their order; return the number of the last.

        Its column `_time` holds the times (now where there is none); all others are attributes.

        Raises:
            EventError: A column does not fit the stream's schema, or the stream is another client's
                now; nothing was published.
        """
        number = self.append_table(table)
        self.shell.flush()
        return number

    # What the sync form calls, under the lock, from another thread.

    def append(self, values: Mapping[str, Any], time: int) -> int:
        """Publish an event without asking the shell for a turn."""
        if self._closed:
            self._refuse()
        return self._client.core.publish(self._number, values, time, clock.monotonic_ns())

    def append_table(self, table: Any) -> int:
        """Publish the rows of a table without asking the shell for a turn."""
        from heliograph.event.table import (  # noqa: PLC0415 - a device does without pyarrow
            blocks_of_table,
            schema_for,
        )

        self._client.check()
        core = self._client.core
        one = core.senders.get(self._number)
        if one is None:
            return self._refuse()
        schema = schema_for(table, one.schema)
        micros = clock.time_ns() // 1_000
        for block in blocks_of_table(table, self.stream, one.epoch, one.last + 1, schema, micros):
            core.offer(self._number, block, schema, clock.monotonic_ns())
        return one.last

    def status(self) -> dict[str, Any]:
        """Return how the lane in this client is, where events wait for the planet."""
        sender = self._client.core.senders.get(self._number)
        return {} if sender is None else lane_status(sender.lane) | {"receivers": sender.receivers}

    async def flush(self) -> None:
        """Wait until everything that was published has been acknowledged.

        Raises:
            EventError: The stream is another client's now.
        """
        await self._client.idle(self._number)

    def close(self) -> None:
        """Offer the stream no longer; what was published before is still sent."""
        if not self._closed:
            self.end()
            self._client.withdraw(self._number)

    def end(self, why: str = "") -> None:
        """Publish no more: the sender or its client is closed."""
        self._closed, self._why = True, why
        self._gather = self._refuse

    def _refuse(self, *_: object) -> int:
        why = self._why or "advertise the stream again"
        raise UsageError(f"the sender of {self.stream} is closed: {why}")
