from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from cli.planets import a_planet, feeding, pulses, receiving
from cli.running import heliograph

if TYPE_CHECKING:
    from collections.abc import Callable

pty = pytest.importorskip("pty")
LEAVE: Final = b"\x1b[?1049l"
# Makes the terminal the command's own, so that Ctrl-C in it is a signal.
SETSID: Final = ["setsid", "--ctty", "--wait"]


def test_without_a_terminal_one_view_is_printed() -> None:
    with a_planet(name="sol") as address:
        ran = heliograph("top", "--planet", address, "--interval", "0.1")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"planet sol at {address}, up ")
    assert "\x1b" not in ran.out


def test_json_is_that_of_status_a_line_an_interval() -> None:
    with a_planet(name="sol") as address, receiving(address, "ward-3"):
        words = ["--planet", address, "--json"]
        ran = heliograph("top", *words, "--interval", "0.1", "--seconds", "1")
        status = heliograph("status", *words).json
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert (ran.code, ran.err) == (0, "")
    assert len(lines) > 1
    for line in lines:
        assert line.keys() == status.keys()
        assert [one["name"] for one in line["clients"]] == ["receiving"]


@pytest.mark.skipif(shutil.which("setsid") is None, reason="needs setsid")
@pytest.mark.parametrize("key", [b"q", b"\x03"])
def test_in_a_terminal_it_is_drawn_until_a_key_ends_it(key: bytes) -> None:
    with (
        a_planet(name="sol") as address,
        receiving(address, "ward-3"),
        feeding(address, "ward-3", pulses(5)),
    ):
        ours, theirs = pty.openpty()
        words = ["heliograph.cli", "top", "--planet", address, "--interval", "0.2"]
        with subprocess.Popen(
            [*SETSID, sys.executable, "-m", *words], stdin=theirs, stdout=theirs, stderr=theirs
        ) as process:
            os.close(theirs)
            drawn = _read(ours, lambda text: text.count(b"ward-3") >= 4)
            os.write(ours, key)
            drawn += _read(ours, lambda text: LEAVE in text)
            assert process.wait(30) == 0
        os.close(ours)
    assert b"planet sol at" in drawn
    assert b"q ends" in drawn
    assert b"Traceback" not in drawn


def _read(terminal: int, enough: Callable[[bytes], bool]) -> bytes:
    text = b""
    while not enough(text):
        try:
            more = os.read(terminal, 65_536)
        except OSError:
            return text
        if not more:
            return text
        text += more
    return text
