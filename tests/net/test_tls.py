"""TLS protects a link, and who is not vouched for does not get in."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from heliograph.event.errors import UsageError
from heliograph.net.connection import Connection
from heliograph.net.journal import Journal
from heliograph.net.listener import Listener
from heliograph.net.loops import loop_factory
from heliograph.net.shell import Shell
from heliograph.net.sockets import SocketLimits, listening
from heliograph.net.tls import TlsFiles, client_context, server_context
from net.certificates import make
from net.toys import Echo

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


async def talk(server: ssl.SSLContext, client: ssl.SSLContext, data: bytes) -> bytes:
    """Return what comes back of what is sent through a shell over TLS."""
    shell = Shell(Echo())
    sock = listening("127.0.0.1", 0, SocketLimits(), 8)
    listener = Listener(
        sock, lambda: Connection(shell), room=lambda: True, journal=Journal(), context=server
    )
    writer = None
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port, ssl=client)
        writer.write(data)
        return await reader.readexactly(len(data))
    finally:
        if writer is not None:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        await listener.close()
        await shell.stop(1.0)


@pytest.mark.parametrize(
    "factory", [asyncio.new_event_loop, loop_factory()], ids=["asyncio", "best"]
)
def test_a_link_over_tls_carries_bytes(
    tmp_path: Path, factory: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    files = make(tmp_path, "planet")
    client = client_context(TlsFiles(authority=files.certificate))
    data = bytes(range(256)) * 4_000
    with asyncio.Runner(loop_factory=factory) as runner:
        assert runner.run(talk(server_context(files), client, data)) == data


def test_a_client_does_not_trust_just_anyone(tmp_path: Path) -> None:
    files, other = make(tmp_path, "planet"), make(tmp_path, "other")
    client = client_context(TlsFiles(authority=other.certificate))
    with pytest.raises(ssl.SSLCertVerificationError):
        asyncio.run(talk(server_context(files), client, b"hello"))


def test_a_planet_with_an_authority_wants_a_certificate_of_it(tmp_path: Path) -> None:
    files, device = make(tmp_path, "planet"), make(tmp_path, "device")
    server = server_context(replace(files, authority=device.certificate))
    known = client_context(replace(device, authority=files.certificate))
    stranger = client_context(TlsFiles(authority=files.certificate))
    assert asyncio.run(talk(server, known, b"hello")) == b"hello"
    with pytest.raises((ssl.SSLError, asyncio.IncompleteReadError, ConnectionResetError)):
        asyncio.run(talk(server, stranger, b"hello"))


def test_a_client_without_files_trusts_what_its_system_trusts() -> None:
    assert client_context().verify_mode is ssl.CERT_REQUIRED


def test_a_planet_needs_both_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name both PEM files"):
        server_context(TlsFiles(certificate=str(tmp_path / "a.pem")))


def test_wrong_files_are_named(tmp_path: Path) -> None:
    files, other = make(tmp_path, "planet"), make(tmp_path, "other")
    with pytest.raises(UsageError, match="there is no PEM file nowhere"):
        server_context(replace(files, certificate="nowhere.pem"))
    with pytest.raises(UsageError, match="check that they belong together"):
        server_context(replace(files, key=other.key))
    text = tmp_path / "text.pem"
    text.write_text("hello")
    with pytest.raises(UsageError, match="holds no certificate in PEM"):
        client_context(TlsFiles(authority=str(text)))
