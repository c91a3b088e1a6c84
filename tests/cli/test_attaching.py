from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING

from cli.planets import a_planet
from cli.running import heliograph
from heliograph.cli.attaching import Place, attached

if TYPE_CHECKING:
    import pytest


def closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def test_a_planet_that_is_not_there_is_named_with_the_next_step() -> None:
    port = closed_port()
    ran = heliograph("status", "--planet", f"127.0.0.1:{port}")
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.startswith(f"error: cannot reach helio://127.0.0.1:{port}: nothing listens")
    assert ran.err.endswith("Is a planet running? heliograph planet starts one\n")


def test_a_wrong_address_is_a_wrong_command_line() -> None:
    ran = heliograph("status", "--planet", "http://127.0.0.1:1")
    assert ran.code == 2
    assert "helio://127.0.0.1:7440" in ran.err


def test_the_environment_names_the_planet(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_planet(name="sol") as address:
        monkeypatch.setenv("HELIOGRAPH_PLANET", address)
        ran = heliograph("status")
    assert ran.code == 0
    assert ran.out.startswith(f"planet sol at {address}")


def test_tls_is_asked_for_only_with_files() -> None:
    assert Place("helio://here").tls is None
    files = Place("helios://here", ca="ca.pem").tls
    assert files is not None
    assert (files.authority, files.certificate) == ("ca.pem", "")


def test_a_missing_pem_file_is_named() -> None:
    ran = heliograph("status", "--planet", "helios://127.0.0.1:1", "--ca", "no-such.pem")
    assert ran.code == 2
    assert "no-such.pem" in ran.err


def test_who_offers_a_stream_is_called_the_same_each_time_and_others_are_told_apart() -> None:
    found: list[str] = []
    with a_planet() as address:
        for verb, stream in (("pub", "ward-3/pulse"), ("pub", "ward-3/pulse"), ("sub", "")):
            with attached(Place(address), verb, stream) as (client, name):
                assert [one["name"] for one in client.status(10)["clients"]] == [name]
                found.append(name)
                time.sleep(0.2)  # A planet says again what it said a moment ago.
    host = socket.gethostname()
    assert found == [f"pub@{host}:ward-3/pulse"] * 2 + [f"sub@{host}:{os.getpid()}"]
