"""A planet on sockets: it drains when it closes, keeps to its limits, answers who watches it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
from random import Random

import pytest

from heliograph.event.errors import UsageError
from heliograph.net import server as module
from heliograph.net.connect import connect
from heliograph.net.server import serve
from heliograph.planet.config import PlanetConfig
from net.running import planet_and_clients, receive, run
from net.toys import until

PROGRAM = """
from heliograph.net.server import run
from heliograph.planet.config import PlanetConfig
run(PlanetConfig(listen="127.0.0.1:0"), started=lambda one: print(one.address, flush=True))
"""


async def get(port: int, path: str) -> tuple[int, str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\n\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return int(head.split()[1]), body.decode()


def test_who_watches_a_planet_gets_its_metrics_and_its_health() -> None:
    async def main() -> None:
        async with planet_and_clients(2, http="127.0.0.1:0") as (server, (device, viewer)):
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            for number in range(10):
                sender.publish({"a": number})
            await receive(receiver, 10)
            assert server.http_port is not None
            status, text = await get(server.http_port, "/metrics")
            assert status == 200
            assert "heliograph_events_received_total 10\n" in text
            assert 'heliograph_clients{state="attached"} 2\n' in text
            assert "heliograph_links_accepted_total 2\n" in text
            status, text = await get(server.http_port, "/health")
            assert (status, text[:16]) == (200, '{"status": "ok",')

    run(main())


def test_a_status_is_made_once_a_second_however_often_it_is_asked_for() -> None:
    async def main() -> None:
        async with planet_and_clients(0) as (server, _):
            assert server.status() is server.status()

    run(main())


def test_a_planet_that_closes_drains_first() -> None:
    async def main() -> None:
        async with planet_and_clients() as (server, (device, viewer)):
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            for number in range(3_000):
                sender.publish({"a": number})
            await sender.flush()
            closing = asyncio.create_task(server.close())
            events, digests = await receive(receiver, 3_000)
            assert (len(events), digests) == (3_000, [])
            await closing
            assert server.shell.connections == 0
            await until(lambda: not device.attached)

    run(main())


def test_who_comes_beyond_the_limit_is_told_why() -> None:
    async def main() -> None:
        async with planet_and_clients(1, connections_max=1) as (server, (client,)):
            with pytest.raises(Exception, match="all the connections it takes"):
                async with connect(server.address, seconds=0.3):
                    raise AssertionError
            assert client.attached
            assert server.status()["refused"]["connections"] >= 1

    run(main())


def test_a_flood_is_closed_at_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLITE", 0)

    async def main() -> None:
        async with planet_and_clients(1, connections_max=1) as (server, (client,)):
            for _ in range(20):
                socket.create_connection(("127.0.0.1", server.port)).close()
            await until(lambda: server._listener.refused == 20)  # noqa: SLF001 - shown as metric
            assert client.attached

    run(main())


def test_who_says_nothing_is_closed_in_time() -> None:
    async def main() -> None:
        config = {"greeting_seconds": 0.05, "heartbeat_seconds": 0.05}
        async with planet_and_clients(0, **config) as (server, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            await reader.read()
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            assert server.status()["refused"] == {"greeting": 1}

    run(main())


@pytest.mark.parametrize(
    "garbage",
    [b"GET / HTTP/1.1\r\n\r\n", b"\x00" * 64, b"\xff" * 4_096, Random(7).randbytes(2_000)],
)
def test_garbage_costs_only_who_sends_it(garbage: bytes) -> None:
    async def main() -> None:
        async with planet_and_clients(2, greeting_seconds=0.1, heartbeat_seconds=0.1) as (
            server,
            (device, viewer),
        ):
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(garbage)
            with contextlib.suppress(ConnectionResetError):
                await reader.read()
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            sender.publish({"a": 1})
            await receive(receiver, 1)
            assert sum(server.status()["refused"].values()) == 1

    run(main())


def test_a_place_that_is_taken_is_refused() -> None:
    async def main() -> None:
        async with planet_and_clients(0) as (server, _):
            config = PlanetConfig(listen=f"127.0.0.1:{server.port}")
            with pytest.raises(UsageError, match=r"cannot listen on .* choose another port"):
                async with serve(config):
                    raise AssertionError

    run(main())


@pytest.mark.parametrize("one", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_planet_in_order(one: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        address = process.stdout.readline().strip()

        async def main() -> None:
            async with connect(address) as client:
                process.send_signal(one)
                await until(lambda: not client.attached)

        run(main())
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_a_second_signal_ends_it_at_once() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        _, port = process.stdout.readline().strip().rsplit(":", 1)
        # Who reads nothing would be waited for.
        with socket.create_connection(("127.0.0.1", int(port))):
            for _ in range(2):
                process.send_signal(signal.SIGTERM)
            # The second may find a process that has ended its loop already.
            assert process.wait(20) in (0, -signal.SIGTERM)


def test_a_process_may_have_the_descriptors_that_its_links_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resource = pytest.importorskip("resource")
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 4_096))
    monkeypatch.setattr(resource, "setrlimit", lambda _, both: asked.append(both))
    module._raise_descriptors(1_000)  # noqa: SLF001 - what nobody else sees
    module._raise_descriptors(10_000)  # noqa: SLF001
    module._raise_descriptors(-1_000)  # noqa: SLF001
    assert asked == [(1_320, 4_096), (4_096, 4_096)]
