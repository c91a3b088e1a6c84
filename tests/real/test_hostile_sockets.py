"""Hostile peers on real sockets: each costs only itself, and shows in the planet's status."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from typing import TYPE_CHECKING, Any

import pytest

import heliograph
from heliograph.event.event import Event
from heliograph.wire import frames, messages
from real.processes import PlanetProcess, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heliograph.wire.messages import Message


@pytest.fixture(scope="module")
def planet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlanetProcess]:
    settings: dict[str, Any] = {
        "greeting_seconds": 1.0,
        "connections_max": 400,
        "heartbeat_seconds": 1.0,
    }
    with PlanetProcess(tmp_path_factory.mktemp("planet"), **settings) as one:
        yield one


def said(message: Message, kind: int = frames.CONTROL) -> bytes:
    return frames.message_frame(kind, messages.encode_message(message))


HELLO = said(messages.Attach(messages.VERSION, [], None, 0), frames.GREETING)
NOISE = random.Random(5).randbytes(100_000)
EVENT = frames.EVENT_HEAD.pack(frames.EVENT << 24 | 17, 7, 1) + b"\x90"
ATTACKS: dict[str, bytes] = {
    "noise": NOISE,
    "noise behind a greeting": HELLO + NOISE,
    "a request of the web": b"GET / HTTP/1.1\r\nHost: planet\r\n\r\n" * 10,
    "a giant frame": struct.pack("<I", frames.CONTROL << 24 | 0xFFFFFF),
    "a giant frame behind a greeting": HELLO + struct.pack("<I", frames.CONTROL << 24 | 0xFFFFFF),
    "a frame of no bytes": HELLO + struct.pack("<I", frames.EVENT << 24),
    "an unknown kind": HELLO + struct.pack("<I", 99 << 24 | 4),
    "a version that nobody speaks any more": said(messages.Attach(0, [], None, 0), frames.GREETING),
    "a second greeting": HELLO + HELLO,
    "events under no alias": HELLO + EVENT,
    "a planet's message": HELLO + said(messages.Advertised(1, 1)),
    "a cursor beyond what was sent": HELLO + frames.cursor_frame(10**12, 1),
    "a token that is not known, then noise": said(
        messages.Attach(1, [], b"x" * 16, 0), frames.GREETING
    ) + NOISE[:1_000],
}  # fmt: skip


def closed(one: socket.socket) -> bool:
    """Say whether the other side has ended the connection."""
    one.settimeout(10)
    with contextlib.suppress(ConnectionError):
        while one.recv(65_536):
            pass
    return True


async def works(planet: PlanetProcess) -> dict[str, Any]:
    """Check that another client is served as ever."""
    async with heliograph.connect(planet.address) as client:
        receiver = await client.subscribe("fine")
        sender = await client.advertise("fine")
        for number in range(50):
            sender.publish({"v": number})
        got = [await anext(receiver) for _ in range(50)]
        assert [one.values["v"] for one in got if isinstance(one, Event)] == list(range(50))
        return await client.status()


def refused(planet: PlanetProcess) -> int:
    return sum(asyncio.run(works(planet))["refused"].values())


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_ends_its_own_connection_and_shows(attack: str, planet: PlanetProcess) -> None:
    before = refused(planet)
    with socket.create_connection(("127.0.0.1", planet.port)) as one:
        with contextlib.suppress(ConnectionError):
            one.sendall(ATTACKS[attack])
        assert closed(one)
    # What a planet says of itself may be a tenth of a second old.
    until(lambda: refused(planet) == before + 1, "a status that shows it")


def test_bytes_that_drip_are_cut_off_when_they_never_greet(planet: PlanetProcess) -> None:
    with socket.create_connection(("127.0.0.1", planet.port)) as one:
        one.sendall(HELLO[:-1])
        assert closed(one)


def idle(planet: PlanetProcess, count: int) -> list[socket.socket]:
    return [socket.create_connection(("127.0.0.1", planet.port)) for _ in range(count)]


def ended(ones: list[socket.socket]) -> Callable[[], bool]:
    def true() -> bool:
        for one in ones:
            one.settimeout(0)
            try:
                while one.recv(4_096):
                    pass
            except BlockingIOError:
                return False
            except ConnectionError:
                continue
        return True

    return true


def test_thousands_of_idle_connections_pass_and_clients_are_served_again(
    planet: PlanetProcess,
) -> None:
    ones = idle(planet, 1_500)
    try:
        until(ended(ones), "an end to those that never greet")
        asyncio.run(works(planet))
    finally:
        for one in ones:
            one.close()


def test_a_flood_of_subscriptions_ends_at_the_bound(planet: PlanetProcess) -> None:
    wishes = b"".join(said(messages.Subscribe(n, f"flood/{n}", b"")) for n in range(1, 3_001))
    with socket.create_connection(("127.0.0.1", planet.port)) as one:
        one.sendall(HELLO)
        with contextlib.suppress(ConnectionError):
            one.sendall(wishes)
        status = asyncio.run(works(planet))
    assert all(client["receivers"] <= 1_000 for client in status["clients"])
