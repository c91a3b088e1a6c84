"""A thin link: a relay on loopback that takes no more than so many bytes a second from a planet.

It stands between a planet and a receiver, as a bad radio would, and holds almost nothing itself:
small buffers on both sides, and little is read ahead. So what cannot pass waits at the planet, in
the receiver's lane, where its policy can reach it.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PIECE_BYTES = 64
BUFFER_BYTES = 4_096


@asynccontextmanager
async def thin_link(planet: str, bytes_per_second: float) -> AsyncIterator[str]:
    """Yield the address of a planet at the far end of a thin link."""
    tasks: set[asyncio.Task[None]] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            tasks.add(task)
        with suppress(OSError, asyncio.CancelledError):
            far_reader, far_writer = await _dial(planet)
            up = asyncio.create_task(_pass(reader, far_writer, None))
            await _pass(far_reader, writer, bytes_per_second)
            up.cancel()
            for one in (writer, far_writer):
                one.close()

    server = await asyncio.start_server(carry, "127.0.0.1", 0, limit=BUFFER_BYTES)
    try:
        yield f"helio://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _dial(planet: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    place = urlsplit(planet)
    sock = socket.socket()
    # Before connecting: the window that TCP offers depends on it.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    sock.setblocking(False)  # noqa: FBT003 - its only form
    await asyncio.get_running_loop().sock_connect(sock, (place.hostname, place.port))
    return await asyncio.open_connection(sock=sock, limit=PIECE_BYTES)


async def _pass(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rate: float | None
) -> None:
    """Pass on what comes, at a rate."""
    loop = asyncio.get_running_loop()
    free = loop.time()
    while piece := await reader.read(PIECE_BYTES if rate else BUFFER_BYTES):
        if rate:
            free = max(free, loop.time()) + len(piece) / rate
            await asyncio.sleep(free - loop.time())
        writer.write(piece)
        await writer.drain()
