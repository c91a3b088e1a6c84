"""Our client library, used as its documents tell: events are dicts, and stay dicts."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import ours
from heliograph.event.event import Event
from heliograph.net.connect import connect
from peers import HOST

if TYPE_CHECKING:
    from pacing import Load, Pacer, Ready, Sink


class HelioUser:
    """heliograph beside a planet."""

    name = ours.NAME

    def connect(self, port: int) -> Any:
        """Return a client, to be entered."""
        return connect(f"helio://{HOST}:{port}")

    async def send(self, port: int, pacer: Pacer) -> None:
        """Publish over one client for each stream."""
        streams = pacer.load.streams
        async with contextlib.AsyncExitStack() as stack:
            senders = []
            for number in range(streams):
                client = await stack.enter_async_context(self.connect(port))
                senders.append(await client.advertise(f"ward-{pacer.load.run}/{number}"))
            while count := await pacer.room():
                for _ in range(count):
                    senders[pacer.sent % streams].publish(pacer.event())
            for sender in senders:
                await sender.flush()

    async def receive(self, port: int, load: Load, sinks: list[Sink], ready: Ready) -> None:
        """Subscribe one client for each sink, to each stream."""
        async with contextlib.AsyncExitStack() as stack:
            tasks = []
            for sink in sinks:
                client = await stack.enter_async_context(self.connect(port))
                for number in range(load.streams):
                    receiver = await client.subscribe(f"ward-{load.run}/{number}")
                    tasks.append(asyncio.create_task(self._take(receiver, sink)))
            await ready()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _take(self, receiver: Any, sink: Sink) -> None:
        async for entry in receiver:
            if isinstance(entry, Event):
                sink.take(entry.values)
