"""A connection pulls while its socket takes what it is given, in chunks that suit the link."""

from __future__ import annotations

import asyncio
import socket

from heliograph.net.connection import CHUNKS_PER_TURN, READ_BYTES, Connection
from heliograph.net.shell import Shell
from heliograph.net.sockets import SocketLimits
from net.toys import Echo


class Pipe(asyncio.Transport):
    """A transport that takes as much as it is told to."""

    def __init__(self) -> None:
        super().__init__({"peername": ("::1", 7, 0, 0)})
        self.written: list[bytes] = []
        self.protocol: Connection | None = None
        self.takes = 2**30
        self.aborted = self.closed = False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        assert (high, low) == (1, 0)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))
        self.takes -= len(data)
        if self.takes < 0 and self.protocol is not None:
            self.protocol.pause_writing()

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.aborted = True


def link() -> tuple[Shell, Echo, Pipe, Connection]:
    core = Echo()
    shell = Shell(core, limits=SocketLimits(chunk_bytes_max=65_536, chunk_bytes_min=2_048))
    pipe, connection = Pipe(), Connection(shell)
    pipe.protocol = connection
    connection.connection_made(pipe)
    return shell, core, pipe, connection


def test_chunks_shrink_on_a_slow_link_and_grow_again_on_a_fast_one() -> None:
    async def main() -> None:
        shell, core, pipe, connection = link()
        core.send(1, bytes(4 * 2**20))
        for _ in range(7):
            pipe.takes = 0
            connection.resume_writing()
            shell.flush()
        assert [len(data) for data in pipe.written] == [
            65_536, 32_768, 16_384, 8_192, 4_096, 2_048, 2_048,
        ]  # fmt: skip
        pipe.takes = 2**30
        pipe.written.clear()
        connection.resume_writing()
        shell.flush()
        assert [len(data) for data in pipe.written] == [2_048, 4_096, 8_192, 16_384]

    asyncio.run(main())


def test_one_link_takes_turns_with_the_others() -> None:
    async def main() -> None:
        shell, core, pipe, _ = link()
        core.send(1, bytes(2 * CHUNKS_PER_TURN * 65_536 + 5))
        shell.flush()
        assert len(pipe.written) == CHUNKS_PER_TURN
        assert shell.scheduled
        shell.flush()
        shell.flush()
        assert len(b"".join(pipe.written)) == 2 * CHUNKS_PER_TURN * 65_536 + 5

    asyncio.run(main())


def test_a_full_socket_is_left_alone_until_it_asks() -> None:
    async def main() -> None:
        shell, core, pipe, connection = link()
        connection.pause_writing()
        core.send(1, b"waits")
        shell.flush()
        assert pipe.written == []
        connection.resume_writing()
        shell.flush()
        assert pipe.written == [b"waits"]

    asyncio.run(main())


def test_a_link_that_is_closing_feeds_no_more() -> None:
    async def main() -> None:
        shell, core, pipe, connection = link()
        core.send(1, b"last")
        connection.finish(shell.clock(), 60.0)
        connection.data_received(b"too late")
        connection.finish(shell.clock(), 60.0)
        assert (pipe.written, pipe.closed, pipe.aborted) == ([b"last"], True, False)
        connection.connection_lost(None)
        assert core.calls == [("connected", 1), ("disconnected", 1)]

    asyncio.run(main())


def test_a_pull_that_fails_costs_the_link() -> None:
    class Broken(Echo):
        def pull(self, link: int, max_bytes: int, now: int) -> bytes:  # noqa: ARG002
            raise RuntimeError("nothing comes out")

    async def main() -> None:
        shell = Shell(Broken())
        pipe, connection = Pipe(), Connection(shell)
        connection.connection_made(pipe)
        connection.drain(shell.clock())
        assert pipe.aborted

    asyncio.run(main())


def test_a_story_names_the_peer() -> None:
    async def main() -> None:
        shell, _, _, connection = link()
        connection.data_received(b"12345")
        story = connection.story(connection.began + 3_000_000)
        assert story == {
            "link": 1, "peer": "[::1]:7", "age_ms": 3, "bytes_in": 5, "bytes_out": 0,
        }  # fmt: skip
        assert shell.connections == 1

    asyncio.run(main())


def test_a_real_socket_is_tuned() -> None:
    async def main() -> None:
        shell = Shell(Echo())
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(shell), "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            transport, _ = await loop.create_connection(asyncio.Protocol, "127.0.0.1", port)
            our, _ = await loop.create_connection(lambda: Connection(shell), "127.0.0.1", port)
            sock = our.get_extra_info("socket")
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            transport.close()
            await shell.stop(1.0)

    asyncio.run(main())


def test_what_a_loop_of_pythons_own_reads_at_once_needs_no_mapping() -> None:
    async def main() -> None:
        near, far = socket.socketpair()
        shell = Shell(Echo())
        transport, _ = await asyncio.get_running_loop().create_connection(
            lambda: Connection(shell), sock=near
        )
        assert transport.max_size == READ_BYTES  # type: ignore[attr-defined]
        transport.abort()
        far.close()

    asyncio.run(main())
