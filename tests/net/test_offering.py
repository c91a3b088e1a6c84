"""Who is started again has its stream at once, or as soon as its old link has shown to be dead."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import TYPE_CHECKING, Any

import pytest

from heliograph.event.errors import EventError, UsageError
from heliograph.event.schema import Schema
from heliograph.net import offering
from heliograph.net.connect import connect
from heliograph.net.server import serve
from heliograph.planet.config import PlanetConfig
from heliograph.wire.forms import schema_bytes
from heliograph.wire.frames import CONTROL, GREETING, message_frame
from heliograph.wire.messages import FEATURES, VERSION, Advertise, Attach, encode_message
from net.running import planet_and_clients, receive, run
from net.toys import until

if TYPE_CHECKING:
    from heliograph.net.client import AsyncClient
    from heliograph.net.server import Server


def dead(server: Server, name: str) -> socket.socket:
    """Return the link of a client that offers `s` and never says anything more."""
    sock = socket.create_connection((server.host, server.port))
    attach = Attach(VERSION, list(FEATURES), None, 0, name)
    sock.sendall(message_frame(GREETING, encode_message(attach)))
    return sock


async def offered(server: Server, sock: socket.socket) -> None:
    """Let a dead client have offered its stream, when it was alive."""
    await until(lambda: bool(server.planet.mobility.clients))
    message = Advertise(1, "s", 1, 0, 1, schema_bytes(Schema.declare({"a": "int64"})))
    sock.sendall(message_frame(CONTROL, encode_message(message)))
    await until(lambda: bool(server.planet.status(0)["streams"]))


async def vanish(client: AsyncClient) -> None:
    """End a client as if its process were killed: it says nothing, and its link is gone."""
    client.core._home.wanted = False  # noqa: SLF001 - it does not come back
    await client.shell.stop(0.0)


def test_a_program_that_is_started_again_has_its_stream_at_once() -> None:
    async def main() -> None:
        async with planet_and_clients(1) as (server, (viewer,)):
            receiver = await viewer.subscribe("s")
            old = await connect(server.address)
            sender = await old.advertise("s")
            sender.publish({"a": 1})
            await sender.flush()
            await receive(receiver, 1)
            await vanish(old)
            await until(lambda: server.planet.status(0)["connections"] == 1)
            async with connect(server.address) as new:
                again = await new.advertise("s")
                again.publish({"a": 2})
                event = await anext(receiver)
                assert (event.number, event.values) == (1, {"a": 2})  # type: ignore[union-attr]
                assert event.epoch > 1
            await old.close()

    run(main())


def test_a_stream_of_a_dead_link_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        config = PlanetConfig(listen="127.0.0.1:0", heartbeat_seconds=0.2)
        async with serve(config) as server:
            with dead(server, "ada") as sock:
                await offered(server, sock)
                async with connect(server.address, name="ada") as client:
                    sender = await client.advertise("s")
                    sender.publish({"a": 1})
                    await sender.flush()
                    assert len(client.core.senders) == 1

    run(main())
    assert caplog.text.count("owner_attached") == 1


def test_an_owner_that_lives_is_waited_for_no_longer_than_its_silence_would_take() -> None:
    async def main() -> None:
        async with planet_and_clients(1, heartbeat_seconds=0.1) as (server, (owner,)):
            await owner.advertise("s")
            async with connect(server.address, name="client 0") as twin:
                with pytest.raises(EventError, match="another client of this name, which is att"):
                    await twin.advertise("s")
                assert twin.core.senders == {}

    run(main())


def test_the_time_that_a_planet_says_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offering, "PATIENCE_SECONDS", 0.1)

    async def main() -> None:
        async with planet_and_clients(1, heartbeat_seconds=1_000.0) as (server, (owner,)):
            await owner.advertise("s")
            async with connect(server.address, name="client 0") as twin:
                with pytest.raises(EventError, match="of this name"):
                    await twin.advertise("s")

    run(main())


def test_another_name_is_refused_without_waiting(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with planet_and_clients(2) as (_, (owner, other)):
            await owner.advertise("s")
            with pytest.raises(EventError, match="another client, which is attached"):
                await other.advertise("s")

    run(main())
    assert "owner_attached" not in caplog.text


def test_a_client_that_is_closed_waits_no_more() -> None:
    async def main() -> None:
        async with planet_and_clients(1) as (server, (owner,)):
            await owner.advertise("s")
            twin = await connect(server.address, name="client 0")
            waiting = asyncio.create_task(twin.advertise("s"))
            await until(lambda: len(server.planet.mobility.clients) > 1 and not twin.core.senders)
            await twin.close()
            with pytest.raises((UsageError, EventError)):
                await waiting

    run(main())


def test_a_displaced_sender_says_so_and_what_it_still_sends_harms_nobody() -> None:
    async def main() -> None:
        async with planet_and_clients(1) as (server, (viewer,)):
            receiver = await viewer.subscribe("s")
            old = await connect(server.address, name="ada")
            sender = await old.advertise("s")
            sender.publish({"a": 1})
            await sender.flush()
            await receive(receiver, 1)
            old.core.detach(old.shell.clock())
            old.shell.flush()
            await until(lambda: not old.attached)
            sender.publish({"a": 2})
            async with connect(server.address, name="ada") as new:
                again = await new.advertise("s")
                old.core.attach(old.shell.clock())
                old.shell.flush()
                with pytest.raises(EventError, match="client of the name 'ada' offers the stream"):
                    await sender.flush()
                with pytest.raises(EventError, match="client of the name 'ada' offers the stream"):
                    sender.publish({"a": 3})
                again.publish({"a": 4})
                found: Any = await anext(receiver)
                assert found.values == {"a": 4}
                assert old.attached
                await old.close()
                again.publish({"a": 5})
                await again.flush()
                assert server.planet.status(0)["refused"] == {}

    run(main())


def test_a_clock_that_was_set_back_keeps_no_sender_from_its_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            sender.publish({"a": 1})
            sender.close()
            for back in (1, 10**9, 10**15):
                now = time.time_ns()
                monkeypatch.setattr(time, "time_ns", lambda at=now - back: at)
                again = await device.advertise("s")
                monkeypatch.undo()
                again.publish({"a": back})
                again.close()
            events, _ = await receive(receiver, 1)
            while len(events) < 4:
                events += (await receive(receiver, 1))[0]
            assert [one.values["a"] for one in events] == [1, 1, 10**9, 10**15]
            epochs = [one.epoch for one in events]
            assert epochs == sorted(set(epochs))

    run(main())


def test_an_epoch_that_its_sender_chose_is_not_changed() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            await viewer.subscribe("s")
            sender = await device.advertise("s", epoch=10)
            sender.close()
            with pytest.raises(EventError, match="has come to the epoch 10"):
                await device.advertise("s", epoch=9)

    run(main())
