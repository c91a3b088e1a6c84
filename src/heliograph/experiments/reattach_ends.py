"""Reattach, real: the program of the clients that come and go, beside a planet in its own program.

python -m heliograph.experiments.reattach_ends JOB     prints when each attached and what it got
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Final

from heliograph.event.event import Event
from heliograph.experiments.load import SCHEMA, STREAM, padding, values
from heliograph.experiments.thin_ends import say
from heliograph.net import loops
from heliograph.net.connect import connect

if TYPE_CHECKING:
    from heliograph.net.client import AsyncClient
    from heliograph.net.receiver import AsyncReceiver
    from heliograph.net.sender import AsyncSender

# As many events wait for who comes back as in the papers: 5 s of one each 200 ms.
EVENTS_MISSED: Final = 25
_SETTLE_SECONDS: Final = 1.0


@dataclass(frozen=True)
class VisitsJob:
    """How many clients come and go, how often, and how long they wait before each change."""

    address: str
    port: int
    receivers: int
    turns: int
    wait: float
    seed: int = 1


@dataclass
class Visits:
    """When each client attached, and what it got as (arrived, sent, number)."""

    published: int = 0
    attached: list[list[int]] = field(default_factory=list)
    events: list[list[tuple[int, int, int]]] = field(default_factory=list)


async def visit(job: VisitsJob) -> Visits:
    """Let all clients come and go, while events are published."""
    found = Visits()
    chance = random.Random(job.seed)  # noqa: S311 - a run is to be repeated, not secret
    address = f"helio://{job.address}:{job.port}"
    async with AsyncExitStack() as stack:
        sender_client = await stack.enter_async_context(connect(address))
        sender = await sender_client.advertise(STREAM, SCHEMA)
        tasks, visitors = [], []
        for _ in range(job.receivers):
            client = await stack.enter_async_context(connect(address))
            receiver = await client.subscribe(STREAM)
            found.events.append([])
            found.attached.append([])
            tasks.append(asyncio.create_task(_receive(receiver, found.events[-1])))
            phase = chance.uniform(0, job.wait)
            visitors.append(_come_and_go(client, job, phase, found.attached[-1]))
        publishing = asyncio.create_task(_publish(sender, job.wait / EVENTS_MISSED, found))
        await asyncio.gather(*visitors)
        publishing.cancel()
        await sender.flush()
        await asyncio.sleep(_SETTLE_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(publishing, *tasks, return_exceptions=True)
    return found


async def _come_and_go(
    client: AsyncClient, job: VisitsJob, phase: float, attached: list[int]
) -> None:
    """Detach and attach through the core, as a program that loses its network does."""
    await asyncio.sleep(job.wait + phase)
    for _ in range(job.turns):
        with client.shell.lock:
            client.core.detach(time.monotonic_ns())
        client.shell.schedule()
        await asyncio.sleep(job.wait)
        attached.append(time.monotonic_ns())
        with client.shell.lock:
            client.core.attach(time.monotonic_ns())
        client.shell.schedule()
        await asyncio.sleep(job.wait)


async def _publish(sender: AsyncSender, interval: float, found: Visits) -> None:
    pad = padding()
    while True:
        sender.publish(values(time.monotonic_ns(), pad))
        found.published += 1
        await asyncio.sleep(interval)


async def _receive(receiver: AsyncReceiver, events: list[tuple[int, int, int]]) -> None:
    async for one in receiver:
        if isinstance(one, Event):
            arrived = time.monotonic_ns()
            events.append((arrived, one.values["sent"], one.number))


def main(words: list[str]) -> None:
    """Be the clients."""
    say(asdict(loops.run(visit(VisitsJob(**json.loads(words[0]))))))


if __name__ == "__main__":
    main(sys.argv[1:])
