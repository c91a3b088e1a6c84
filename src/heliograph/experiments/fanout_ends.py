"""Fan-out, real: a planet, both kinds of plain forwarding, and the clients of all, as programs.

    python -m heliograph.experiments.fanout_ends planet ADDRESS      prints its port
    python -m heliograph.experiments.fanout_ends forwarder ADDRESS   prints its port
    python -m heliograph.experiments.fanout_ends bare ADDRESS        prints its port
    python -m heliograph.experiments.fanout_ends clients JOB         prints latencies

All run in the same shell and the same kind of process, with the same clients at both ends. Their
events alternate, so that whatever else the machine does, it does to all.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from heliograph.experiments.forwarder import Forwarder
from heliograph.experiments.load import SCHEMA, STREAM, padding, values
from heliograph.experiments.thin_ends import say
from heliograph.net import loops
from heliograph.net.connect import connect
from heliograph.net.connection import Connection
from heliograph.net.server import serve
from heliograph.net.shell import Shell
from heliograph.net.sockets import SocketLimits, listening
from heliograph.planet.config import PlanetConfig

if TYPE_CHECKING:
    from heliograph.net.receiver import AsyncReceiver
    from heliograph.net.sender import AsyncSender

_SECOND: Final = 1_000_000_000
_BACKLOG: Final = 64
_WARM_EVENTS: Final = 20
_PATIENCE_SECONDS: Final = 20.0


@dataclass(frozen=True)
class ClientsJob:
    """How many receivers, of each kind, for how many events."""

    address: str
    ports: list[int]  # Of each kind.
    receivers: int
    events: int
    interval: float  # Seconds between an event and the next of the same kind.


async def planet(address: str) -> None:
    """Run a planet until it is ended."""
    async with serve(PlanetConfig(listen=f"{address}:0")) as server:
        say(server.port)
        await asyncio.Event().wait()


async def forwarder(address: str, *, bare: bool = False) -> None:
    """Run plain forwarding until it is ended, in the shell of a planet."""
    shell = Shell(Forwarder(bare=bare))
    sock = listening(address, 0, SocketLimits(), _BACKLOG)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(shell), sock=sock)
    try:
        say(server.sockets[0].getsockname()[1])
        await asyncio.Event().wait()
    finally:
        server.close()
        await shell.stop(0.0)


async def clients(job: ClientsJob) -> list[list[list[float]]]:
    """Return for each kind, and each receiver of it, the latencies in seconds."""
    late: list[list[list[float]]] = [[[] for _ in range(job.receivers)] for _ in job.ports]
    async with AsyncExitStack() as stack:
        senders: list[AsyncSender] = []
        tasks = []
        for port, found in zip(job.ports, late, strict=True):
            address = f"helio://{job.address}:{port}"
            sender = await stack.enter_async_context(connect(address))
            senders.append(await sender.advertise(STREAM, SCHEMA))
            for one in found:
                client = await stack.enter_async_context(connect(address))
                receiver = await client.subscribe(STREAM)
                tasks.append(asyncio.create_task(_receive(receiver, one, job.events)))
        gc.collect()
        gc.disable()  # As in the papers: a collection would be charged to whom it meets.
        async with asyncio.timeout(job.events * job.interval + _PATIENCE_SECONDS):
            await _publish(senders, job)
            await asyncio.gather(*tasks)
    return [[one[_WARM_EVENTS:] for one in found] for found in late]


async def _publish(senders: list[AsyncSender], job: ClientsJob) -> None:
    pad, step = padding(), job.interval / len(senders)
    begin = time.monotonic()
    for turn in range(job.events * len(senders)):
        await asyncio.sleep(max(0.0, begin + turn * step - time.monotonic()))
        senders[turn % len(senders)].publish(values(time.monotonic_ns(), pad))


async def _receive(receiver: AsyncReceiver, late: list[float], events: int) -> None:
    async for one in receiver:
        late.append((time.monotonic_ns() - one.values["sent"]) / _SECOND)  # type: ignore[union-attr]
        if len(late) == events:
            return


def main(words: list[str]) -> None:
    """Be one of the programs."""
    kind, given = words
    if kind == "clients":
        say(loops.run(clients(ClientsJob(**json.loads(given)))))
    elif kind == "planet":
        loops.run(planet(given))
    else:
        loops.run(forwarder(given, bare=kind == "bare"))


def words_of(job: ClientsJob) -> list[str]:
    """Return the words that make this module do a job."""
    return ["clients", json.dumps(asdict(job))]


if __name__ == "__main__":
    main(sys.argv[1:])
