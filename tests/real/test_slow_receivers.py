"""Slow receivers cost nobody else anything, and their backlog waits where policies reach it."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import pytest

import heliograph
from heliograph.event.digest import Digest
from heliograph.event.event import Event
from heliograph.wire import frames, messages
from real.processes import PlanetProcess

if TYPE_CHECKING:
    from pathlib import Path

RECEIVERS, SLOW = 200, 50
EVENTS = 400
STEP = 40  # Fewer than a lane holds: who reads at all loses nothing.


def deaf(port: int, stream: str) -> socket.socket:
    """Return a client that subscribes and never reads."""
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    one.connect(("127.0.0.1", port))
    hello = messages.Attach(messages.VERSION, [], None, 0)
    wish = messages.Subscribe(1, stream, b"")
    one.sendall(frames.message_frame(frames.GREETING, messages.encode_message(hello)))
    one.recv(4_096)  # The planet's greeting, and the last that this client reads.
    one.sendall(frames.message_frame(frames.CONTROL, messages.encode_message(wish)))
    return one


async def take(receiver: Any, last: int) -> list[Event | Digest]:
    got: list[Event | Digest] = []
    while not got or not _reached(got[-1], last):
        got.append(await anext(receiver))
    return got


def _reached(entry: Event | Digest, last: int) -> bool:
    return (entry.number if isinstance(entry, Event) else entry.upto) >= last


def test_fifty_dead_slow_receivers_leave_the_others_every_event(tmp_path: Path) -> None:
    async def story(planet: PlanetProcess) -> dict[str, Any]:
        async with heliograph.connect(planet.address) as client:
            others = [heliograph.connect(planet.address) for _ in range(RECEIVERS - SLOW)]
            clients = [await one.__aenter__() for one in others]
            try:
                receivers = [await one.subscribe("s") for one in clients]
                sender = await client.advertise("s")
                for begin in range(0, EVENTS, STEP):
                    for number in range(begin, begin + STEP):
                        sender.publish({"v": number, "text": "x" * 400})
                    found = await asyncio.gather(*[take(one, begin + STEP) for one in receivers])
                    for got in found:
                        numbers = [one.number for one in got if isinstance(one, Event)]
                        assert numbers == list(range(begin + 1, begin + STEP + 1))
                return await client.status()
            finally:
                for one in others:
                    await one.__aexit__(None, None, None)

    with PlanetProcess(tmp_path, lane_entries=64) as planet:
        slow = [deaf(planet.port, "s") for _ in range(SLOW)]
        try:
            status = asyncio.run(asyncio.wait_for(story(planet), 90))
        finally:
            for one in slow:
                one.close()
    full = [one for one in status["lanes"] if one["packs"]]
    assert len(full) == SLOW, "the slow ones' lanes were packed"
    assert all(one["entries"] <= 64 for one in status["lanes"])


@pytest.mark.slow
def test_a_receiver_that_stops_reading_for_a_minute_gets_digests_and_then_goes_on(
    tmp_path: Path,
) -> None:
    async def story(planet: PlanetProcess) -> list[Event | Digest]:
        async with (
            heliograph.connect(planet.address) as client,
            heliograph.connect(planet.address) as sending,
        ):
            receiver = await client.subscribe("s")
            sender = await sending.advertise("s")
            last = 0
            loop = asyncio.get_running_loop()
            end = loop.time() + 60
            while loop.time() < end:
                # The application takes nothing; its client goes on reading.
                for _ in range(200):
                    last = sender.publish({"text": "x" * 400})
                await asyncio.sleep(0.02)
            await sender.flush()
            return await take(receiver, last)

    with PlanetProcess(tmp_path) as planet:
        got = asyncio.run(story(planet))
    numbers = [one.number if isinstance(one, Event) else one.upto for one in got]
    assert numbers == sorted(numbers)
    events = sum(isinstance(one, Event) for one in got)
    dropped = sum(one.settled for one in got if isinstance(one, Digest))
    assert dropped > 0
    assert events + dropped == numbers[-1]


def test_what_is_under_way_to_a_deaf_receiver_is_bounded_by_its_window(tmp_path: Path) -> None:
    async def story(planet: PlanetProcess) -> dict[str, Any]:
        async with heliograph.connect(planet.address) as client:
            sender = await client.advertise("s")
            for _ in range(50):
                for _ in range(100):
                    sender.publish({"text": "x" * 400})
                await sender.flush()
            return await client.status()

    with PlanetProcess(tmp_path, window_bytes=65_536) as planet:
        one = deaf(planet.port, "s")
        try:
            status = asyncio.run(asyncio.wait_for(story(planet), 60))
        finally:
            one.close()
    (client,) = [one for one in status["clients"] if one["receivers"]]
    assert 0 < client["under_way"] <= 65_536
    # The schema's frame and one block at most beyond what was granted at first.
    assert client["under_way"] <= 8_192, "nobody granted it more"
