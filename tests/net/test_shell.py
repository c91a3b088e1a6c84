"""The shell drives any core over real sockets, and lets none of its links harm another."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import TYPE_CHECKING

import pytest

from heliograph.net.connection import Connection
from heliograph.net.loops import loop_factory
from heliograph.net.shell import LATE_NS, REST_SECONDS, Shell
from heliograph.net.sockets import SocketLimits
from net.toys import Echo, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

FACTORIES = [asyncio.new_event_loop, loop_factory()]


@contextlib.asynccontextmanager
async def shell_of(
    core: Echo, limits: SocketLimits | None = None
) -> AsyncIterator[tuple[Shell, int]]:
    """Yield a shell that listens, and its port."""
    shell = Shell(core, limits=limits)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(shell), "127.0.0.1", 0)
    try:
        yield shell, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await shell.stop(1.0)
        await server.wait_closed()


@contextlib.asynccontextmanager
async def peer_of(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def run(
    main: Callable[[], Coroutine[None, None, None]],
    factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
) -> None:
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(main())


@pytest.mark.parametrize("factory", FACTORIES, ids=["asyncio", "best"])
def test_bytes_go_there_and_back_in_order(factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def main() -> None:
        data = bytes(range(256)) * 20_000
        async with shell_of(Echo()) as (_, port), peer_of(port) as (reader, writer):
            writer.write(data)
            assert await reader.readexactly(len(data)) == data

    run(main, factory)


def test_links_have_rising_ids_and_the_core_hears_of_both_ends() -> None:
    async def main() -> None:
        core = Echo()
        async with shell_of(core) as (shell, port):
            for _ in range(2):
                async with peer_of(port):
                    await until(lambda: shell.connections == 1)
                await until(lambda: shell.connections == 0)
        assert core.calls == [
            ("connected", 1), ("disconnected", 1), ("connected", 2), ("disconnected", 2),
        ]  # fmt: skip

    run(main)


@pytest.mark.parametrize("factory", FACTORIES, ids=["asyncio", "best"])
def test_a_peer_that_does_not_read_leaves_its_backlog_in_the_core(
    factory: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def main() -> None:
        core, limits = Echo(), SocketLimits(send_bytes=16_384, receive_bytes=16_384)
        offered = 2 * 2**20
        async with shell_of(core, limits) as (shell, port), peer_of(port) as (reader, _):
            await until(lambda: core.waiting)
            core.send(1, bytes(offered))
            shell.schedule()
            await until(lambda: len(core.waiting[1]) < offered)
            before = -1
            while before != len(core.waiting[1]):
                before = len(core.waiting[1])
                await asyncio.sleep(0.05)
            # asyncio's reader takes in 128 KiB before it pauses; kernel buffers hold some more.
            assert before > offered / 2
            assert await reader.readexactly(offered) == bytes(offered)

    run(main, factory)


def test_a_slow_link_does_not_slow_another() -> None:
    async def main() -> None:
        core = Echo()
        async with (
            shell_of(core) as (shell, port),
            peer_of(port),
            peer_of(port) as (reader, writer),
        ):
            await until(lambda: shell.connections == 2)
            core.send(1, bytes(32 * 2**20))
            shell.schedule()
            await until(lambda: core.calls)
            for _ in range(100):
                writer.write(b"ping")
                assert await reader.readexactly(4) == b"ping"

    run(main)


def test_an_exception_out_of_a_core_costs_only_its_link(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with (
            shell_of(Echo()) as (_, port), peer_of(port) as (reader, writer),
            peer_of(port) as (other_reader, other_writer),
        ):  # fmt: skip
            writer.write(b"fail, please")
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
            other_writer.write(b"still there")
            assert await other_reader.readexactly(11) == b"still there"

    with caplog.at_level(logging.ERROR, "heliograph"):
        run(main)
    (record,) = caplog.records
    assert "core_failed call=feed link=1 peer=127.0.0.1:" in record.message
    assert "bytes_in=12" in record.message
    assert b"fail, please".hex() in record.message
    assert record.exc_info is not None


def test_an_exception_out_of_a_tick_is_logged_and_the_core_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Echo):
        def tick(self, now: int) -> None:
            super().tick(now)
            raise RuntimeError("the clock is broken")

    async def main() -> None:
        core = Broken()
        core.next = 0
        async with shell_of(core) as (_, port), peer_of(port) as (reader, writer):
            await until(lambda: core.ticks)
            writer.write(b"still there")
            assert await reader.readexactly(11) == b"still there"

    with caplog.at_level(logging.ERROR, "heliograph"):
        run(main)
    assert "core_failed call=tick" in caplog.text


def test_close_comes_after_what_there_is_to_pull() -> None:
    async def main() -> None:
        core = Echo()
        async with shell_of(core) as (_, port), peer_of(port) as (reader, writer):
            writer.write(b"close")
            assert await reader.read() == b"goodbye"
            await until(lambda: ("disconnected", 1) in core.calls)

    run(main)


def test_a_log_effect_becomes_a_line(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with shell_of(Echo()) as (_, port), peer_of(port) as (reader, writer):
            writer.write(b"log")
            await reader.readexactly(3)

    with caplog.at_level(logging.INFO, "heliograph"):
        run(main)
    assert [record.message for record in caplog.records] == ['toy_said what="a line"']


def test_a_core_is_ticked_at_its_deadline_and_once() -> None:
    async def main() -> None:
        core = Echo()
        async with shell_of(core) as (shell, _):
            core.next = due = shell.clock() + 5_000_000
            shell.schedule()
            await until(lambda: core.ticks)
            await asyncio.sleep(0.02)
        assert len(core.ticks) == 1
        assert core.ticks[0] >= due

    run(main)


def test_an_earlier_deadline_moves_the_timer_and_a_later_one_does_not_fire_early() -> None:
    async def main() -> None:
        core = Echo()
        async with shell_of(core) as (shell, _):
            core.next = shell.clock() + 3_600 * 10**9
            shell.flush()
            core.next = shell.clock() + 4_000_000
            shell.flush()
            core.next = due = shell.clock() + 20_000_000
            shell.flush()
            await until(lambda: core.ticks)
        assert core.ticks[0] >= due

    run(main)


@pytest.mark.parametrize("factory", FACTORIES, ids=["asyncio", "best"])
def test_after_a_blocked_loop_what_was_received_goes_before_the_tick(
    factory: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    class Ordered(Echo):
        def feed(self, link: int, data: bytes, now: int) -> None:
            super().feed(link, data, now)
            self.calls.append(("feed", bool(self.ticks)))

    async def main() -> None:
        core = Ordered()
        async with shell_of(core) as (shell, port), peer_of(port) as (_, writer):
            await until(lambda: core.calls)
            core.next = shell.clock() + 2_000_000
            shell.flush()
            writer.write(b"I am alive")
            time.sleep(3 * LATE_NS / 1e9)  # noqa: ASYNC251 - what a user's code may do
            await until(lambda: core.ticks)
        assert ("feed", False) in core.calls

    run(main, factory)


def test_stopping_sends_what_was_given_and_calls_the_core_no_more() -> None:
    async def main() -> None:
        core = Echo()
        async with shell_of(core) as (shell, port), peer_of(port) as (reader, _):
            await until(lambda: core.waiting)
            core.send(1, b"the last word")
            await shell.stop()
            calls = list(core.calls)
            assert await reader.read() == b"the last word"
            shell.schedule()
            shell.flush()
            assert core.calls == calls == [("connected", 1)]

    run(main)


def test_stopping_does_not_wait_for_ever_for_who_does_not_read() -> None:
    async def main() -> None:
        core, limits = Echo(), SocketLimits(send_bytes=16_384, receive_bytes=16_384)
        async with shell_of(core, limits) as (shell, port), peer_of(port) as (reader, _):
            reader._transport.pause_reading()  # type: ignore[attr-defined]  # noqa: SLF001 - no public way
            await until(lambda: core.waiting)
            core.send(1, bytes(32 * 2**20))
            shell.flush()
            await shell.stop(0.05)
            assert shell.connections == 0

    run(main)


@pytest.mark.parametrize(("small", "rests"), [(16, 1), (15, 0), (100, 1), (0, 0)])
def test_a_turn_of_many_small_chunks_is_followed_by_a_rest_where_it_may(
    small: int, rests: int
) -> None:
    async def main() -> None:
        taken: list[float] = []
        for rest in (taken.append, None):
            shell = Shell(Echo(), rest=rest)
            shell.small = small
            shell.flush()
            shell.flush()
            assert shell.small == 0
            await shell.stop(0.0)
        assert taken == [REST_SECONDS] * rests

    run(main)


@pytest.mark.parametrize(("size", "small"), [(24, 0), (100, 1), (5_000, 0)])
def test_a_shell_counts_the_small_chunks_of_a_turn(size: int, small: int) -> None:
    async def main() -> None:
        async with shell_of(Echo()) as (shell, port), peer_of(port) as (reader, writer):
            seen: list[int] = []
            shell.after_flush = lambda: seen.append(shell.small)
            writer.write(b"x" * size)
            await reader.readexactly(size)
            assert max(seen) == small

    run(main)
