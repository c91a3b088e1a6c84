"""Publish and receive from a program without an event loop."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import heliograph

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def planet() -> Iterator[str]:
    """Run a planet in a thread; `heliograph planet` runs one as a program of its own."""
    started, addresses = threading.Event(), []
    ended = asyncio.Event()
    loops = []

    async def run() -> None:
        config = heliograph.PlanetConfig(listen="127.0.0.1:0")
        async with heliograph.serve(config) as server:
            loops.append(asyncio.get_running_loop())
            addresses.append(server.address)
            started.set()
            await ended.wait()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    started.wait()
    yield addresses[0]
    loops[0].call_soon_threadsafe(ended.set)
    thread.join()


def main() -> None:
    """Send some readings, and sum up what arrives."""
    with (
        planet() as address,
        heliograph.connect_sync(address) as client,
        client.subscribe("room/1/celsius") as receiver,
        client.advertise("room/1/celsius") as sender,
    ):
        for step in range(100):
            sender.publish({"celsius": 20 + step / 100})
        total = count = 0.0
        for entry in receiver:
            if isinstance(entry, heliograph.Event):
                total += entry.values["celsius"]
                count += 1
                if entry.number == 100:
                    break
        print(f"{count:.0f} readings, {total / count:.3f} degrees on average")


if __name__ == "__main__":
    main()
