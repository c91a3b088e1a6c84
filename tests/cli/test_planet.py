from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from cli.running import heliograph
from heliograph.cli.planet import _next
from heliograph.net.sync import connect_sync

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def started(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the command, and yield it with the line that it prints."""
    with subprocess.Popen(
        [sys.executable, "-m", "heliograph.cli", "planet", "--listen", "127.0.0.1:0", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline()
        finally:
            process.kill()


def address_in(line: str) -> str:
    found = re.search(r"planet listens on (helio://127\.0\.0\.1:\d+)", line)
    assert found is not None, line
    return found[1]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_listens_and_ends_cleanly(end: signal.Signals) -> None:
    with started("--name", "sol") as (process, line):
        address = address_in(line)
        assert f"next: export HELIOGRAPH_PLANET={address}; heliograph sub" in line
        with connect_sync(address) as client:
            assert client.status()["name"] == "sol"
        process.send_signal(end)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("helio://127.0.0.1:7440", False),
        ("helios://127.0.0.1:7440", True),
        ("helio://10.0.0.5:7440", True),
    ],
)
def test_an_address_that_the_verbs_do_not_take_by_themselves_is_said(
    address: str, *, said: bool
) -> None:
    assert (f"export HELIOGRAPH_PLANET={address}" in _next(address)) is said


def test_it_logs_json_and_serves_health(tmp_path: Path) -> None:
    config = tmp_path / "planet.toml"
    config.write_text('name = "from a file"\nlane_entries = 64\n', encoding="utf-8")
    words = ["--config", str(config), "--http", "127.0.0.1:0", "--log", "info", "--json"]
    with started(*words, "--set", "lane_entries=32") as (process, line):
        found = re.search(r"\((http://127\.0\.0\.1:\d+)/metrics\)", line)
        assert found is not None
        with urllib.request.urlopen(f"{found[1]}/health") as answer:  # noqa: S310 - it is http
            assert json.load(answer)["name"] == "from a file"
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert json.loads(err.splitlines()[0])["event"] == "planet_started"


def test_settings_are_taken_from_the_file_then_from_set_then_from_options(tmp_path: Path) -> None:
    config = tmp_path / "planet.toml"
    config.write_text('name = "a"\nlane_entries = 64\nhttp = "x:1"\n', encoding="utf-8")
    words: list[str | Path] = [
        "--config",
        config,
        "--set",
        "lane_entries=32",
        "--set",
        "name=b",
        "--name",
        "c",
    ]
    ran = heliograph("planet", *words, "--print-config")
    assert ran.code == 0
    for line in ('name = "c"', "lane_entries = 32", 'http = "x:1"', "#drain_seconds = 5.0"):
        assert line in ran.out.splitlines()


def test_the_printed_config_is_one(tmp_path: Path) -> None:
    path = tmp_path / "planet.toml"
    path.write_text(heliograph("planet", "--print-config").out, encoding="utf-8")
    assert heliograph("planet", "--config", path, "--print-config").out == path.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "lane_entries=3"], "lane_entries is at least 16, not 3"),
        (["--set", "lanes=3"], "no setting lanes; the settings are name, listen"),
        (["--set", "lane_entries=many"], "lane_entries: Expected `int`, got `str`"),
        (["--config", "no-such.toml"], "cannot read no-such.toml"),
        (["--listen", "somewhere"], "'somewhere' is no place to listen"),
    ],
)
def test_a_wrong_setting_is_a_wrong_command_line(words: list[str], said: str) -> None:
    ran = heliograph("planet", *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_a_port_that_is_taken_is_named_with_the_next_step() -> None:
    with started() as (_, line):
        place = address_in(line).removeprefix("helio://")
        ran = heliograph("planet", "--listen", place)
    assert ran.code == 2
    assert f"cannot listen on {place}: Address already in use" in ran.err
    assert "choose another port" in ran.err
