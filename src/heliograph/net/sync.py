"""Sync: the same API for programs without a loop: `with heliograph.connect_sync() as client`.

A thread of its own runs the loop, so that links live on whatever the program does. Publishing calls
the core from the program's thread, under the shell's lock, and wakes the loop once for a burst;
what waits for the planet is handed to the loop.
"""

from __future__ import annotations

import asyncio
import threading
import time as clock
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar

from heliograph.event.errors import LinkError
from heliograph.event.types import microseconds
from heliograph.net.connect import ADDRESS, CONNECT_SECONDS, connect
from heliograph.net.loops import loop_factory
from heliograph.net.receiver import TABLE_EVENTS_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Mapping
    from pathlib import Path

    from heliograph.client.config import ClientConfig
    from heliograph.event.event import Position
    from heliograph.event.schema import Schema
    from heliograph.net.client import AsyncClient
    from heliograph.net.receiver import AsyncReceiver, Entry
    from heliograph.net.sender import AsyncSender
    from heliograph.net.tls import TlsFiles
    from heliograph.policy.limits import Limits
    from heliograph.policy.model import Policy

Result = TypeVar("Result")


class SyncSender:
    """One stream that this client offers."""

    def __init__(self, sender: AsyncSender, client: SyncClient) -> None:
        """Wrap the sender of the loop's thread."""
        self.stream = sender.stream
        self._sender = sender
        self._client = client
        self._shell = sender.shell

    def __enter__(self) -> Self:
        """Offer the stream until the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Wait until everything has been acknowledged, then withdraw the stream."""
        self.flush()
        self.close()

    def publish(self, values: Mapping[str, Any], time: int | datetime | None = None) -> int:
        """Publish an event and return its number; see `AsyncSender.publish`."""
        if time is None:
            time = clock.time_ns() // 1_000
        elif isinstance(time, datetime):
            time = microseconds(time)
        shell = self._shell
        with shell.lock:
            number = self._sender.append(values, time)
        shell.schedule_from_outside()
        return number

    def publish_table(self, table: Any) -> int:
        """Publish the rows of an Arrow table; see `AsyncSender.publish_table`."""
        with self._shell.lock:
            number = self._sender.append_table(table)
        self._shell.schedule_from_outside()
        return number

    def flush(self, seconds: float | None = None) -> bool:
        """Wait until everything that was published has been acknowledged; say if that is so.

        Args:
            seconds: How long to wait; None is without end.
        """
        return self._client.call(self._flush(seconds))

    async def _flush(self, seconds: float | None) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._sender.flush()
                return True
        return False

    def status(self) -> dict[str, Any]:
        """Return how the lane in this client is; see `AsyncSender.status`."""
        with self._shell.lock:
            return self._sender.status()

    def close(self) -> None:
        """Offer the stream no longer; what was published before is still sent."""
        self._client.call(_called(self._sender.close))


class SyncReceiver:
    """One subscription, which stands already; iterate it, or take `batches()`."""

    def __init__(self, receiver: AsyncReceiver, client: SyncClient) -> None:
        """Wrap the receiver of the loop's thread."""
        self.stream = receiver.stream
        self._receiver = receiver
        self._client = client
        self._entries: list[Entry] = []  # The last one first.

    def __enter__(self) -> Self:
        """Receive until the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the subscription."""
        self.close()

    @property
    def schema(self) -> Schema:
        """The schema of what came so far."""
        return self._receiver.schema

    @property
    def begin(self) -> Position | None:
        """Behind which position it gets every number; see `AsyncReceiver.begin`."""
        return self._receiver.begin

    def status(self) -> dict[str, Any]:
        """Return how the lane in this client is; see `AsyncReceiver.status`."""
        return self._client.call(_called(self._receiver.status))

    def __iter__(self) -> Self:
        """Return the events and digests in their order."""
        return self

    def __next__(self) -> Entry:
        """Wait for the next event or digest; ends when the receiver is closed."""
        if not self._entries:
            taken = self.take()
            if not taken:
                raise StopIteration
            self._entries = taken[::-1]
        return self._entries.pop()

    def take(self, seconds: float | None = None) -> list[Entry]:
        """Return what has come, waiting up to `seconds` for the first of it; nothing at the end."""
        if self._entries:
            entries, self._entries = self._entries[::-1], []
            return entries
        return self._client.call(self._take(seconds))

    async def _take(self, seconds: float | None) -> list[Entry]:
        with suppress(TimeoutError, StopAsyncIteration):
            async with asyncio.timeout(seconds):
                return await self._receiver.take()
        return []

    def batches(self, events_max: int = TABLE_EVENTS_MAX) -> Iterator[Any]:
        """Yield what came as Arrow tables, as large as there is, and the digests between them."""
        batches = self._receiver.batches(events_max)
        while True:
            batch = self._client.call(anext(batches, None))
            if batch is None:
                return
            yield batch

    def repolicy(self, policy: Policy | str | Path | None) -> None:
        """Change the policy; see `AsyncReceiver.repolicy`."""
        self._client.call(self._receiver.repolicy(policy))

    def close(self) -> None:
        """Receive no more."""
        self._client.call(_called(self._receiver.close))


class SyncClient:
    """A client that is attached to a planet, or on its way there; `connect_sync` makes one."""

    def __init__(self, client: AsyncClient) -> None:
        """Wrap the client of the loop's thread."""
        self._client = client
        self._loop = client.shell.loop

    def call(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do something in the loop's thread, and wait for it."""
        if not self._loop.is_running():
            work.close()
            self._client.check()
        waiting = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return waiting.result()
        except KeyboardInterrupt:
            waiting.cancel()
            raise

    @property
    def attached(self) -> bool:
        """Whether there is a link to a planet now; without one, events wait here."""
        return self._client.attached

    def advertise(
        self, stream: str, schema: Schema | None = None, *, epoch: int | None = None
    ) -> SyncSender:
        """Offer a stream; see `AsyncClient.advertise`."""
        return SyncSender(self.call(self._client.advertise(stream, schema, epoch=epoch)), self)

    def subscribe(
        self,
        stream: str,
        policy: Policy | str | Path | None = None,
        *,
        start: str = "new",
        capacity: Limits | None = None,
    ) -> SyncReceiver:
        """Subscribe to a stream, and wait until the planet has it; see `AsyncClient.subscribe`."""
        return SyncReceiver(self.call(self._subscribe(stream, policy, start, capacity)), self)

    async def _subscribe(
        self,
        stream: str,
        policy: Policy | str | Path | None,
        start: str,
        capacity: Limits | None,
    ) -> AsyncReceiver:
        return await self._client.subscribe(stream, policy, start=start, capacity=capacity)

    def status(self, seconds: float | None = None) -> dict[str, Any]:
        """Return how the planet is.

        Args:
            seconds: How long to wait for its answer; None is without end.

        Raises:
            LinkError: It did not answer in time.
        """
        return self.call(self._status(seconds))

    async def _status(self, seconds: float | None) -> dict[str, Any]:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._client.status()
        raise LinkError(f"the planet has not said within {seconds} s how it is: is it there?")


async def _called(function: Callable[[], Result]) -> Result:
    return function()


@contextmanager
def connect_sync(
    address: str = ADDRESS,
    *,
    name: str | None = None,
    seconds: float = CONNECT_SECONDS,
    tls: TlsFiles | None = None,
    config: ClientConfig | None = None,
) -> Iterator[SyncClient]:
    """Attach to a planet for the time of a `with`, from a program without an event loop.

    The arguments, and what is raised, are those of `connect`.
    """
    opening = connect(address, name=name, seconds=seconds, tls=tls, config=config)
    loop = loop_factory()()
    thread = threading.Thread(target=loop.run_forever, name="heliograph", daemon=True)
    thread.start()
    try:
        client = asyncio.run_coroutine_threadsafe(opening.__aenter__(), loop).result()
        try:
            yield SyncClient(client)
        finally:
            leaving = opening.__aexit__(None, None, None)
            asyncio.run_coroutine_threadsafe(leaving, loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(loop.shutdown_asyncgens(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
