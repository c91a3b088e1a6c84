"""Real planets for tests of the command: on loopback, on any free port, in a thread."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from heliograph.net.connect import connect
from heliograph.net.server import serve
from heliograph.net.sync import connect_sync
from heliograph.planet.config import PlanetConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from heliograph.net.sync import SyncReceiver

PATIENCE = 30.0


@contextmanager
def a_planet(**settings: Any) -> Iterator[str]:
    """Run a planet for the time of a `with`; yields its address."""
    plain: dict[str, Any] = {"listen": "127.0.0.1:0", "drain_seconds": 0.2}
    config = PlanetConfig(**plain | settings)
    loop = asyncio.new_event_loop()
    started, address = threading.Event(), []
    over = asyncio.Event()

    async def main() -> None:
        async with serve(config) as server:
            address.append(server.address)
            started.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=[main()])
    thread.start()
    try:
        assert started.wait(PATIENCE)
        yield address[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


@contextmanager
def feeding(
    address: str, stream: str, readings: Sequence[Mapping[str, Any]], *, seconds: float = 0.0
) -> Iterator[None]:
    """Publish readings as soon as someone receives the stream, `seconds` after each other."""

    async def main() -> None:
        async with connect(address, name="feed") as client:
            sender = await client.advertise(stream)
            await wanted(client, stream)
            for time_, values in enumerate(readings):
                sender.publish(values, 1_700_000_000_000_000 + time_ * 1_000_000)
                await asyncio.sleep(seconds)
            await sender.flush()
            await over.wait()

    async def wanted(client: Any, key: str) -> None:
        known: list[str] = []
        while key not in known:
            await asyncio.sleep(0.02)
            streams = (await client.status())["streams"]
            known = [one["stream"] for one in streams if one["receivers"]]

    over = asyncio.Event()
    loop = asyncio.new_event_loop()
    task = loop.create_task(main())

    def run() -> None:
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        finally:
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        with suppress(RuntimeError):  # It is over already.
            loop.call_soon_threadsafe(over.set)
            loop.call_soon_threadsafe(task.cancel)
        thread.join()


@contextmanager
def receiving(address: str, stream: str) -> Iterator[SyncReceiver]:
    """Receive a stream for the time of a `with`."""
    with connect_sync(address, name="receiving") as client:
        yield client.subscribe(stream)


def until(true: Callable[[], bool]) -> None:
    """Wait until something is so; fail where it does not become so."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it does not become so"
        time.sleep(0.02)


def pulses(count: int) -> list[dict[str, Any]]:
    return [{"PulseRate": 60 + number % 50, "patient": "p-7"} for number in range(count)]
