"""The pages for those who watch answer GET; nothing that is sent there costs more than itself."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest

from heliograph.net import http
from heliograph.net.http import CONNECTIONS_MAX, REQUEST_BYTES_MAX, TEXT, HttpConnection, Page
from net.toys import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def hello() -> Page:
    return 200, TEXT, b"hello\n"


def broken() -> Page:
    raise RuntimeError("no such thing")


@contextlib.asynccontextmanager
async def pages() -> AsyncIterator[tuple[int, set[HttpConnection]]]:
    open_now: set[HttpConnection] = set()
    shown = {"/hello": hello, "/broken": broken}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: HttpConnection(shown, open_now), "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], open_now
    finally:
        server.close()
        for connection in list(open_now):
            connection.abort()
        await until(lambda: not open_now)
        await server.wait_closed()


async def ask(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        return await reader.read()
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


@pytest.mark.parametrize(
    ("request_", "status", "content"),
    [
        (b"GET /hello HTTP/1.1\r\nHost: here\r\n\r\n", b"200 OK", b"hello\n"),
        (b"GET /hello?x=1 HTTP/1.0\n\n", b"200 OK", b"hello\n"),
        (b"HEAD /hello HTTP/1.1\r\n\r\n", b"200 OK", b""),
        (b"GET /other HTTP/1.1\r\n\r\n", b"404 Not Found", b"there are: /hello, /broken\n"),
        (
            b"POST /hello HTTP/1.1\r\n\r\n",
            b"405 Method Not Allowed",
            b"only GET is answered here\n",
        ),
        (b"\x16\x03\x01 nonsense\r\n\r\n", b"400 Bad Request", b"this is no HTTP request\n"),
        (
            b"GET /broken HTTP/1.1\r\n\r\n",
            b"500 Internal Server Error",
            b"RuntimeError: no such thing\n",
        ),
    ],
)
def test_a_request_gets_its_answer(request_: bytes, status: bytes, content: bytes) -> None:
    async def main() -> bytes:
        async with pages() as (port, _):
            return await ask(port, request_)

    head, _, body = asyncio.run(main()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 " + status + b"\r\n")
    assert b"Connection: close" in head
    assert body == content


def test_a_request_in_pieces_is_one_request() -> None:
    async def main() -> None:
        async with pages() as (port, open_now):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for piece in (b"GET /he", b"llo HTTP/1.1\r", b"\n\r", b"\n"):
                writer.write(piece)
                await until(lambda: open_now)
            assert (await reader.read()).endswith(b"hello\n")
            writer.close()
            await writer.wait_closed()

    asyncio.run(main())


def test_a_request_without_end_is_refused() -> None:
    async def main() -> bytes:
        async with pages() as (port, _):
            return await ask(port, b"GET /" + b"x" * (REQUEST_BYTES_MAX + 1))

    assert asyncio.run(main()).startswith(b"HTTP/1.1 431 ")


def test_who_says_nothing_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "REQUEST_SECONDS", 0.02)

    async def main() -> None:
        async with pages() as (port, open_now):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            await until(lambda: open_now)
            await until(lambda: not open_now)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    asyncio.run(main())


def test_there_are_few_connections_at_once() -> None:
    async def main() -> None:
        async with pages() as (port, open_now):
            held = [
                await asyncio.open_connection("127.0.0.1", port) for _ in range(CONNECTIONS_MAX)
            ]
            await until(lambda: len(open_now) == CONNECTIONS_MAX)
            answer = await ask(port, b"GET /hello HTTP/1.1\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 503 ")
            for _, writer in held:
                writer.close()
                await writer.wait_closed()

    asyncio.run(main())
