"""Measuring: publish to receive over a planet: how many events a second, and how late they are.

One sender and some receivers, each with a link of its own, in one process and one loop: the planet
is another process. So what is measured is what a program in Python gets, not what a planet could.
"""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.digest import Digest
from heliograph.net.connect import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from heliograph.net.receiver import AsyncReceiver
    from heliograph.net.sender import AsyncSender
    from heliograph.net.tls import TlsFiles

LATENCY_RATE: Final = 1_000
_AHEAD: Final = 4_096
_TURN_EVENTS: Final = 256
_NANO: Final = 1e9


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run of the bench found; latencies in seconds."""

    receivers: int
    events: int
    delivered: int
    dropped: int
    seconds: float
    published_per_s: float
    received_per_s: float
    latency_events: int
    latency_p50: float
    latency_p99: float
    latency_max: float

    def document(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return asdict(self)


class _Counting:
    """Takes what comes to a receiver, and counts it."""

    def __init__(self, receiver: AsyncReceiver) -> None:
        self.receiver = receiver
        self.events = 0
        self.dropped = 0
        self.late: list[int] = []

    async def run(self, upto: int, *, timed: bool) -> None:
        """Take until so many events have come or have been told as dropped."""
        while self.events + self.dropped < upto:
            entries = await self.receiver.take()
            now = time.monotonic_ns()
            for one in entries:
                if isinstance(one, Digest):
                    self.dropped += one.settled
                    continue
                self.events += 1
                if timed:
                    self.late.append(now - one.values["sent"])


async def measure(
    address: str, tls: TlsFiles | None, *, receivers: int, events: int, latency_events: int
) -> Measured:
    """Publish as fast as the planet receives, then at a thousand events a second."""
    stream = f"bench/{random.randrange(2**48):012x}"  # noqa: S311 - a name that nobody else uses
    async with _endpoints(address, tls, stream, receivers) as (sender, found):
        began = time.perf_counter()
        counting = [_Counting(one) for one in found]
        takes = [asyncio.create_task(one.run(events, timed=False)) for one in counting]
        await _publish(sender, events)
        published = time.perf_counter() - began
        await asyncio.gather(*takes)
        seconds = time.perf_counter() - began
        timed = [_Counting(one) for one in found]
        takes = [asyncio.create_task(one.run(latency_events, timed=True)) for one in timed]
        await _publish_slowly(sender, latency_events)
        await asyncio.gather(*takes)
    late = sorted(one for each in timed for one in each.late) or [0]
    delivered = sum(one.events for one in counting)
    return Measured(
        receivers,
        events,
        delivered,
        sum(one.dropped for one in counting),
        seconds,
        events / published,
        delivered / seconds,
        len(late),
        late[len(late) // 2] / _NANO,
        late[min(len(late) - 1, len(late) * 99 // 100)] / _NANO,
        late[-1] / _NANO,
    )


@asynccontextmanager
async def _endpoints(
    address: str, tls: TlsFiles | None, stream: str, receivers: int
) -> AsyncIterator[tuple[AsyncSender, list[AsyncReceiver]]]:
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(connect(address, name=f"bench {number}", tls=tls))
            for number in range(receivers + 1)
        ]
        sender = await clients[0].advertise(stream)
        yield sender, [await client.subscribe(stream) for client in clients[1:]]


async def _publish(sender: AsyncSender, events: int) -> None:
    """Publish events of five attributes, as fast as the planet receives them."""
    publish = sender.publish
    for number in range(events):
        publish(
            {"sensor": "bench", "value": number * 0.5, "number": number, "good": True, "sent": 0}
        )
        if not number % _TURN_EVENTS:
            await asyncio.sleep(0)  # The receivers are in this loop too.
        if not number % _AHEAD:
            await sender.flush()
    await sender.flush()


async def _publish_slowly(sender: AsyncSender, events: int) -> None:
    """Publish at a rate that everyone sustains, each event with the time of its departure."""
    began = time.monotonic()
    for number in range(events):
        early = began + number / LATENCY_RATE - time.monotonic()
        if early > 0:
            await asyncio.sleep(early)
        values = {"sensor": "bench", "value": 0.5, "number": number, "good": True}
        sender.publish(values | {"sent": time.monotonic_ns()})
