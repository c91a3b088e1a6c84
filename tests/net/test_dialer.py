"""A dialer opens a link, or tells the core in plain words why there is none."""

from __future__ import annotations

import asyncio
import socket
import ssl

import pytest

from heliograph.net.connection import Connection
from heliograph.net.dialer import Dialer, _words
from heliograph.net.shell import Shell
from heliograph.wire.core import Connect
from net.running import run
from net.toys import Echo, until


def test_a_link_is_opened() -> None:
    async def main() -> None:
        planet, device = Shell(Echo()), Shell(Echo())
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(planet), "127.0.0.1", 0)
        refused: list[int] = []
        dialer = Dialer(device, None, refused.append)
        dialer.dial(Connect(f"helio://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
        await until(lambda: device.connections == planet.connections == 1)
        await dialer.stop()
        assert refused == []
        server.close()
        await device.stop()
        await planet.stop()
        await server.wait_closed()

    run(main())


def test_a_link_that_cannot_be_opened_is_told_to_the_core() -> None:
    async def main() -> None:
        shell = Shell(Echo())
        refused: list[int] = []
        dialer = Dialer(shell, None, refused.append)
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))  # Taken, but nobody listens.
            dialer.dial(Connect(f"127.0.0.1:{sock.getsockname()[1]}"))
            await until(lambda: refused)
        assert "nothing listens there" in dialer.reason
        await dialer.stop()
        await shell.stop()

    run(main())


def test_a_dialer_that_never_dialed_stops() -> None:
    async def main() -> None:
        shell = Shell(Echo())
        await Dialer(shell, None, lambda _: None).stop()
        await shell.stop()

    run(main())


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (TimeoutError(), "no answer within 5 s"),
        (ConnectionRefusedError(), "nothing listens there"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (ssl.SSLError(1, "wrong version number"), "wrong version number"),
    ],
)
def test_reasons_are_plain_words(error: Exception, words: str) -> None:
    assert _words(error) == words
