"""A client lives through what happens to its link, its planet and its loop."""

from __future__ import annotations

import asyncio
import time

import pytest

from heliograph.event.errors import EventError, UsageError
from heliograph.net.connect import connect
from heliograph.net.server import serve
from heliograph.planet.config import PlanetConfig
from net.running import planet_and_clients, planet_in_thread, receive, run
from net.toys import until


def cut(client: object) -> None:
    """Break a client's link, as a network does."""
    for connection in list(client.shell._connections.values()):  # type: ignore[attr-defined]  # noqa: SLF001
        connection.abort()


def test_a_link_that_breaks_costs_nothing() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            for number in range(3_000):
                sender.publish({"a": number})
                if number % 1_000 == 500:
                    await asyncio.sleep(0.01)
                    cut(device)
                if number % 1_000 == 700:
                    await asyncio.sleep(0.01)
                    cut(viewer)
            events, digests = await receive(receiver, 3_000)
            assert (len(events), digests) == (3_000, [])
            await sender.flush()

    run(main())


def test_a_planet_that_starts_anew_gets_what_its_predecessor_had_not() -> None:
    async def main() -> None:
        config = PlanetConfig(listen="127.0.0.1:0")
        async with serve(config) as first:
            place = f"127.0.0.1:{first.port}"
            async with connect(first.address) as device, connect(first.address) as viewer:
                receiver = await viewer.subscribe("s")
                sender = await device.advertise("s")
                task = asyncio.create_task(receive(receiver, 2_000))
                for number in range(1_000):
                    sender.publish({"a": number})
                await sender.flush()
                # As if it were killed: nobody is told.
                await first.abort()
                await until(lambda: not device.attached and not viewer.attached)
                for number in range(1_000, 1_500):
                    sender.publish({"a": number})
                async with serve(PlanetConfig(listen=place)):
                    await until(lambda: device.attached and viewer.attached)
                    await viewer.status()
                    for number in range(1_500, 2_000):
                        sender.publish({"a": number})
                    events, digests = await task
                    assert events[-1].number == 2_000
                    assert all(digest.gap == digest.count for digest in digests)
                    await sender.flush()

    run(main())


def test_what_lies_beyond_the_policys_reach_is_bounded_by_the_window() -> None:
    async def main() -> None:
        window = 16_384
        settings = {"window_bytes": window, "lane_entries": 1_000}
        async with planet_and_clients(2, **settings) as (server, (device, viewer)):
            receiver = await viewer.subscribe("s", "newest")
            sender = await device.advertise("s")
            sender.publish({"a": 0})
            await sender.flush()
            (link,) = viewer.shell._connections.values()  # noqa: SLF001 - it stops reading
            link._transport.pause_reading()  # noqa: SLF001
            for number in range(1, 20_000):
                sender.publish({"a": number})
                if number % 500 == 0:
                    await sender.flush()
            await sender.flush()
            status = server.planet.status(server.shell.clock())
            assert status["lanes"][0]["packs"] > 0
            assert max(one["under_way"] for one in status["clients"]) < window + 2_048
            link._transport.resume_reading()  # noqa: SLF001
            events, digests = await receive(receiver, 20_000)
            assert digests
            assert events[-1].number == 20_000

    run(main())


@pytest.mark.parametrize("beats", [2, 10])
def test_user_code_that_blocks_the_loop_costs_nothing(beats: int) -> None:
    async def main() -> None:
        async with connect(address) as device, connect(address) as viewer:
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            sender.publish({"a": 1})
            await sender.flush()
            time.sleep(1.0)  # noqa: ASYNC251 - what a user's code may do
            sender.publish({"a": 2})
            events, digests = await receive(receiver, 2)
            assert (len(events), digests) == (2, [])
            assert device.core.gaps == viewer.core.gaps == 0

    # Three heartbeats of silence count as detached, and the loop is blocked for `beats`.
    with planet_in_thread(heartbeat_seconds=1.0 / beats) as address:
        run(main())


def test_the_status_is_that_of_the_planet() -> None:
    async def main() -> None:
        async with planet_and_clients(2) as (_, (device, viewer)):
            await device.advertise("s")
            await viewer.subscribe("s", "newest")
            status = await viewer.status()
            assert [one["name"] for one in status["clients"]] == ["client 0", "client 1"]
            assert [one["stream"] for one in status["streams"]] == ["s"]

    run(main())


def test_a_client_that_is_closed_says_so() -> None:
    async def main() -> None:
        async with planet_and_clients(0) as (server, _):
            async with connect(server.address) as client:
                sender = await client.advertise("s")
            for late in (client.status(), client.advertise("t"), sender.flush()):
                with pytest.raises(UsageError, match="the client is closed: connect again"):
                    await late
            with pytest.raises(UsageError, match="the client is closed"):
                client.subscribe("s")
            with pytest.raises(UsageError, match="the sender of s is closed"):
                sender.publish({"a": 1})
            await client.close()

    run(main())


def test_closing_sends_what_was_published() -> None:
    async def main() -> None:
        async with planet_and_clients(1) as (server, (viewer,)):
            receiver = await viewer.subscribe("s")
            async with connect(server.address) as device:
                sender = await device.advertise("s")
                for number in range(5_000):
                    sender.publish({"a": number})
            events, digests = await receive(receiver, 5_000)
            assert (len(events), digests) == (5_000, [])

    run(main())


def test_closing_without_a_planet_warns_of_what_was_not_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        config = PlanetConfig(listen="127.0.0.1:0")
        async with serve(config) as server, connect(server.address) as device:
            sender = await device.advertise("s")
            await server.abort()
            await until(lambda: not device.attached)
            sender.publish({"a": 1})
            await device.close(seconds=0.05)

    run(main())
    assert "closed_with_events_unsent" in caplog.text


def test_a_stream_that_the_planet_refuses_may_be_offered_again_later() -> None:
    async def main() -> None:
        async with planet_and_clients(2) as (server, (one, other)):
            sender = await one.advertise("s")
            with pytest.raises(EventError, match="offered by another client"):
                await other.advertise("s")
            sender.close()
            await until(lambda: not server.planet.status(0)["streams"])
            await other.advertise("s")

    run(main())


def test_a_start_that_there_is_not_is_refused() -> None:
    async def main() -> None:
        async with planet_and_clients(1) as (_, (client,)):
            with pytest.raises(UsageError, match="starts with what is 'new', not 'all'"):
                client.subscribe("s", start="all")

    run(main())
