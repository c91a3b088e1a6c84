"""A planet and clients on loopback, for tests of what people use."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any

from heliograph.event.event import Event
from heliograph.net import loops
from heliograph.net.connect import connect
from heliograph.net.server import Server, serve
from heliograph.planet.config import PlanetConfig

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterator

    from heliograph.event.digest import Digest
    from heliograph.net.client import AsyncClient
    from heliograph.net.receiver import AsyncReceiver


def run(main: Coroutine[Any, Any, None], seconds: float = 30) -> None:
    """Run a test in a loop of its own; one that waits in vain is ended, and fails."""

    async def bounded() -> None:
        async with asyncio.timeout(seconds):
            await main
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert {task.get_name() for task in left} == set(), "tasks are left behind"

    asyncio.run(bounded())


@contextlib.asynccontextmanager
async def planet_and_clients(
    count: int = 2, **settings: Any
) -> AsyncIterator[tuple[Server, list[AsyncClient]]]:
    """Yield a planet, and clients that are attached to it."""
    config = PlanetConfig(**({"listen": "127.0.0.1:0"} | settings))
    async with serve(config) as server, contextlib.AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(connect(server.address, name=f"client {number}"))
            for number in range(count)
        ]
        yield server, clients


@contextlib.contextmanager
def planet_in_thread(**settings: Any) -> Iterator[str]:
    """Yield the address of a planet that runs whatever its clients do with their thread."""
    started, ended = threading.Event(), asyncio.Event()
    found: list[tuple[Server, asyncio.AbstractEventLoop]] = []

    async def main() -> None:
        config = PlanetConfig(**({"listen": "127.0.0.1:0"} | settings))
        async with serve(config) as server:
            found.append((server, asyncio.get_running_loop()))
            started.set()
            await ended.wait()

    thread = threading.Thread(target=loops.run, args=(main(),))
    thread.start()
    assert started.wait(20)
    server, loop = found[0]
    try:
        yield server.address
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()


async def receive(receiver: AsyncReceiver, upto: int) -> tuple[list[Event], list[Digest]]:
    """Receive up to a number, and check that every number is accounted for, in order."""
    events: list[Event] = []
    digests: list[Digest] = []
    # A receiver's books begin where its subscription does.
    begin, at, open_since = None, 0, 0
    settled = 0
    async for entry in receiver:
        if isinstance(entry, Event):
            if begin is None:
                begin = at = open_since = entry.number - 1
            assert entry.number > at, "numbers rise"
            at = entry.number
            events.append(entry)
        else:
            if begin is None:
                begin = open_since = entry.after
            assert entry.after >= open_since, "digests settle neighbouring intervals"
            open_since = entry.upto
            at = max(at, entry.upto)
            settled += entry.settled
            digests.append(entry)
        if at >= upto:
            break
    assert begin is not None
    assert len(events) + settled == upto - begin, "every event is delivered or counted"
    return events, digests
