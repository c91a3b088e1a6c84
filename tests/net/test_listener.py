"""A listener keeps to its limit, refuses at once, and outlives a system that refuses."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from typing import TYPE_CHECKING, Any

from heliograph.net.connection import Connection
from heliograph.net.journal import Journal
from heliograph.net.listener import Listener
from heliograph.net.shell import Shell
from heliograph.net.sockets import SocketLimits, listening
from net.certificates import make
from net.toys import Echo, until

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator
    from pathlib import Path

    import pytest


@contextlib.asynccontextmanager
async def listener_of(
    links_max: int, context: ssl.SSLContext | None = None, sock: Any = None
) -> AsyncIterator[tuple[Listener, Shell]]:
    shell = Shell(Echo())
    listener = Listener(
        sock or listening("127.0.0.1", 0, SocketLimits(), 64),
        lambda: Connection(shell),
        room=lambda: shell.connections + listener.opening < links_max,
        journal=Journal(),
        context=context,
    )
    try:
        yield listener, shell
    finally:
        await listener.close()
        await shell.stop(1.0)


def test_who_comes_beyond_the_limit_is_refused_and_may_come_when_there_is_room() -> None:
    async def main() -> None:
        async with listener_of(2) as (listener, shell):
            loop = asyncio.get_running_loop()
            inside = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(2)]
            await until(lambda: shell.connections == 2)
            with socket.create_connection(("127.0.0.1", listener.port)) as outside:
                outside.setblocking(False)  # noqa: FBT003 - its only form
                assert await loop.sock_recv(outside, 1) == b""
            assert (listener.accepted, listener.refused) == (2, 1)
            inside.pop().close()
            await until(lambda: shell.connections == 1)
            inside.append(socket.create_connection(("127.0.0.1", listener.port)))
            await until(lambda: shell.connections == 2)
            for sock in inside:
                sock.close()

    asyncio.run(main())


class Exhausted:
    """A listening socket of a system that has no file descriptors left, for a while."""

    def __init__(self, sock: socket.socket, failures: int) -> None:
        self.sock = sock
        self.failures = failures

    def accept(self) -> tuple[socket.socket, Any]:
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return self.sock.accept()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sock, name)


def test_a_system_without_descriptors_is_asked_again_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        sock = Exhausted(listening("127.0.0.1", 0, SocketLimits(), 64), 2)
        async with listener_of(9, sock=sock) as (listener, shell):
            with socket.create_connection(("127.0.0.1", listener.port)):
                await until(lambda: shell.connections == 1)

    asyncio.run(main())
    assert caplog.text.count('accept_failed reason="Too many open files"') == 2


def test_who_speaks_no_tls_is_no_link(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from heliograph.net.tls import server_context  # noqa: PLC0415 - of this test alone

    async def main() -> None:
        context = server_context(make(tmp_path, "planet"))
        async with listener_of(9, context) as (listener, shell):
            with socket.create_connection(("127.0.0.1", listener.port)) as sock:
                sock.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10)
                await until(lambda: listener.accepted == 1 and listener.opening == 0)
            assert shell.connections == 0

    with caplog.at_level("INFO", "heliograph"):
        asyncio.run(main())
    assert "handshake_failed" in caplog.text


def test_closing_ends_what_is_being_opened(tmp_path: Path) -> None:
    from heliograph.net.tls import server_context  # noqa: PLC0415 - of this test alone

    async def main() -> None:
        context = server_context(make(tmp_path, "planet"))
        async with listener_of(9, context) as (listener, _):
            with socket.create_connection(("127.0.0.1", listener.port)):
                await until(lambda: listener.opening == 1)
                await listener.close()
                assert listener.opening == 0
                listener.close = _nothing  # type: ignore[method-assign]

    asyncio.run(main())


async def _nothing() -> None:
    """Stand in for a close that has been done."""
