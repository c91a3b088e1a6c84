"""Connecting finds a planet among several addresses, and says why where there is none."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import pytest

from heliograph.client.config import ClientConfig
from heliograph.event.errors import LinkError, UsageError
from heliograph.net.connect import connect
from heliograph.net.names import default_name
from heliograph.net.server import serve
from heliograph.net.tls import TlsFiles
from heliograph.planet.config import PlanetConfig
from net.certificates import make
from net.running import planet_and_clients, run

if TYPE_CHECKING:
    from pathlib import Path


def closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def test_addresses_are_tried_in_turn() -> None:
    async def main() -> None:
        async with planet_and_clients(0) as (server, _):
            addresses = f"helio://127.0.0.1:{closed_port()}, {server.address}"
            async with connect(addresses, name="patient") as client:
                assert client.attached
                status = await client.status()
                assert [one["name"] for one in status["clients"]] == ["patient"]

    run(main())


def test_a_client_may_be_awaited_and_closed_by_hand_as_in_a_notebook() -> None:
    async def main() -> None:
        async with planet_and_clients(0) as (server, _):
            client = await connect(server.address)
            sender = await client.advertise("s")
            sender.publish({"a": 1})
            await client.close()
            assert not client.attached
            assert server.status()["events"]["received"] == 1

    run(main())


def test_a_wrong_pem_file_is_the_callers_mistake() -> None:
    async def main() -> None:
        with pytest.raises(UsageError, match="there is no PEM file nowhere"):
            await connect("helios://127.0.0.1:1", tls=TlsFiles(authority="nowhere.pem"))

    run(main())


def test_where_no_planet_is_the_error_says_what_was_tried() -> None:
    async def main() -> None:
        address = f"helio://127.0.0.1:{closed_port()}"
        with pytest.raises(
            LinkError, match=f"cannot reach {address}: nothing listens there.*heliograph planet"
        ):
            async with connect(address, seconds=0.2):
                raise AssertionError

    run(main())


def test_what_is_no_planet_is_told_as_such() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(LinkError, match="has not answered as a planet does"):
            async with connect(f"helio://127.0.0.1:{port}", seconds=0.2):
                raise AssertionError
        server.close()
        await server.wait_closed()

    run(main())


@pytest.mark.parametrize(
    ("scheme", "authority", "words"),
    [
        ("helio", "", "not answered as a planet does. A planet that speaks TLS is at helios://"),
        ("helios", "", "certificate is not trusted here .*: --ca FILE, TlsFiles in Python$"),
        ("helios", "planet.pem", "Where it asks for certificates, show one: --cert FILE"),
    ],
)
def test_what_tls_lacks_is_said(tmp_path: Path, scheme: str, authority: str, words: str) -> None:
    async def main() -> None:
        own = make(tmp_path, "planet")
        config = PlanetConfig(
            listen="127.0.0.1:0", tls_cert=own.certificate, tls_key=own.key,
            tls_client_ca=own.certificate,
        )  # fmt: skip
        tls = TlsFiles(authority=str(tmp_path / authority)) if authority else None
        async with serve(config) as server:
            with pytest.raises(LinkError, match=words):
                await connect(f"{scheme}://127.0.0.1:{server.port}", seconds=0.5, tls=tls)

    run(main())


def test_a_planet_without_tls_is_said_to_be_one() -> None:
    async def main() -> None:
        async with serve(PlanetConfig(listen="127.0.0.1:0")) as server:
            with pytest.raises(LinkError, match="Does it speak TLS"):
                await connect(f"helios://127.0.0.1:{server.port}", seconds=0.5)

    run(main())


def test_a_wrong_address_is_refused_before_anything_is_tried() -> None:
    async def main() -> None:
        with pytest.raises(UsageError, match="is no address"):
            async with connect("http://127.0.0.1"):
                raise AssertionError

    run(main())


@pytest.mark.parametrize("known", [True, False])
def test_a_planet_over_tls(known: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a case
    files = make(tmp_path, "planet")
    authority = files if known else make(tmp_path, "other")

    async def main() -> None:
        async with planet_and_clients(0, tls_cert=files.certificate, tls_key=files.key) as (
            server,
            _,
        ):
            assert server.address.startswith("helios://")
            tls = TlsFiles(authority=authority.certificate)
            async with connect(server.address, tls=tls, seconds=5 if known else 0.3) as client:
                sender = await client.advertise("s")
                sender.publish({"a": 1})
                await sender.flush()

    if known:
        run(main())
    else:
        with pytest.raises(LinkError, match="certificate"):
            run(main())


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ({}, default_name()),
        ({"config": ClientConfig()}, default_name()),
        ({"name": "ward 3"}, "ward 3"),
        ({"name": ""}, ""),
        ({"config": ClientConfig(name="ward 3")}, "ward 3"),
        ({"config": ClientConfig(name="ward 3"), "name": "ward 4"}, "ward 4"),
    ],
)
def test_a_client_is_called_as_it_says_or_by_its_program(words: dict[str, Any], name: str) -> None:
    async def main() -> None:
        async with planet_and_clients(0) as (server, _), connect(server.address, **words):
            assert [one["name"] for one in server.planet.status(0)["clients"]] == [name]

    run(main())
