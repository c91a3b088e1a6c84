from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.planets import a_planet, receiving, until
from cli.running import PULSE, heliograph, ramp, write_trace
from heliograph.cli import pub
from heliograph.cli.stopping import Stop
from heliograph.net.sync import connect_sync

if TYPE_CHECKING:
    from pathlib import Path

    from heliograph.net.sync import SyncReceiver


def got(receiver: SyncReceiver, count: int) -> list[Any]:
    found: list[Any] = []

    def enough() -> bool:
        found.extend(receiver.take(0.5))
        return len(found) >= count

    until(enough)
    return found


def test_a_trace_is_published_as_fast_as_it_is_received() -> None:
    with a_planet() as address, receiving(address, "ward-3") as receiver:
        ran = heliograph("pub", "ward-3", PULSE, "--rate", "max", "--planet", address)
        events = got(receiver, 3_000)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("published 3,000 events in ")
    assert ran.err.endswith("s; the planet has received them all\n")
    assert [one.number for one in events] == list(range(1, 3_001))
    assert events[0].values["PulseRate"] == 76
    assert events[5].time - events[0].time == 1_000_000


def test_a_stream_that_nobody_receives_is_told_as_a_note() -> None:
    with a_planet() as address:
        ran = heliograph("pub", "s", PULSE, "--limit", "3", "--speed", "99", "--planet", address)
    assert ran.err.endswith("note: nobody receives it now: heliograph sub s\n")


def test_a_generator_is_published_until_its_limit_with_times_of_now() -> None:
    with a_planet() as address, receiving(address, "s") as receiver:
        words = ["--generate", "temperature", "--rate", "500/s", "--limit", "40"]
        ran = heliograph("pub", "s", *words, "--planet", address)
        events = got(receiver, 40)
    assert ran.code == 0
    assert set(events[0].values) == {"Room", "Celsius", "Humidity"}
    assert events[0].time > 1_700_000_000_000_000
    assert len(events) == 40


def test_a_time_is_an_end() -> None:
    with a_planet() as address:
        ran = heliograph("pub", "s", "--generate", "pulse", "--seconds", "0.3", "--planet", address)
    assert (ran.code, ran.err.partition(" ")[0]) == (0, "published")


@pytest.mark.parametrize(
    ("form", "text"),
    [("", b'{"v": 1}\n{"v": 2}\n'), ("", b"v\n1\n2\n"), ("csv", b"v\n1\n2\n")],
)
def test_standard_input_is_published(form: str, text: bytes) -> None:
    with a_planet() as address, receiving(address, "s") as receiver:
        words = ["--format", form] if form else ["-"]
        ran = heliograph("pub", "s", *words, "--planet", address, stdin=text)
        assert [one.values for one in got(receiver, 2)] == [{"v": 1}, {"v": 2}]
    assert ran.code == 0
    assert "published 2 events" in ran.err


def test_a_form_is_what_it_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "numbers.dat"
    pq.write_table(pa.table({"v": [1, 2]}), path)
    with a_planet() as address, receiving(address, "s") as receiver:
        words: list[str | Path] = [path, "--format", "parquet", "--rate", "max"]
        assert heliograph("pub", "s", *words, "--planet", address).code == 0
        assert [one.values for one in got(receiver, 2)] == [{"v": 1}, {"v": 2}]


def test_events_may_happen_when_they_are_published(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, ramp(3))
    with a_planet() as address, receiving(address, "s") as receiver:
        words: list[str | Path] = [trace, "--speed", "100", "--now"]
        assert heliograph("pub", "s", *words, "--planet", address).code == 0
        assert got(receiver, 3)[0].time > 1_700_000_000_000_000


def test_one_stream_of_several_is_chosen(tmp_path: Path) -> None:
    lines = ['{"_stream": "a", "v": 1}', '{"_stream": "b", "v": 2}']
    trace = write_trace(tmp_path, lines, "two.jsonl")
    with a_planet() as address, receiving(address, "s") as receiver:
        words: list[str | Path] = [trace, "--of", "b", "--rate", "max"]
        assert heliograph("pub", "s", *words, "--planet", address).code == 0
        assert [one.values for one in got(receiver, 1)] == [{"v": 2}]


def test_a_stream_that_another_offers_is_a_wrong_input() -> None:
    with a_planet() as address, connect_sync(address) as client:
        client.advertise("s")
        ran = heliograph("pub", "s", PULSE, "--planet", address)
    assert ran.code == 1
    assert "the stream s is offered by another client" in ran.err


def test_ctrl_c_ends_a_pipe_that_is_silent() -> None:
    with a_planet() as address, receiving(address, "s") as receiver, subprocess.Popen(
        [sys.executable, "-m", "heliograph.cli", "pub", "s"],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "HELIOGRAPH_PLANET": address},
    ) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(b'{"v": 1}\n')
        process.stdin.flush()
        assert got(receiver, 1)[0].values == {"v": 1}
        assert process.stderr is not None
        while process.poll() is None:
            # Again, as people do: one that comes in the moment before a read begins waits for it.
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(3)
        err = process.stderr.read().decode()
    assert (process.returncode, "Traceback" in err) == (0, False)
    assert "published 1 event in" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([PULSE, "--generate", "pulse"], "not both"),
        ([PULSE, "--rate", "3/s", "--speed", "2"], "contradict each other"),
        (["no-such.csv"], "no-such.csv cannot be read"),
        (["--generate", "weather"], "weather"),
    ],
)
def test_a_wrong_command_line_is_told_before_anything_is_attached(
    words: list[str], said: str
) -> None:
    ran = heliograph("pub", "s", *words)
    assert ran.code in (1, 2)
    assert said in ran.err


def test_a_trace_without_times_needs_a_rate(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, ["v", "1"])
    with a_planet() as address:
        ran = heliograph("pub", "s", trace, "--planet", address)
    assert ran.code == 2
    assert "give a --rate" in ran.err


def test_who_is_killed_and_started_again_goes_on_at_once() -> None:
    words = [sys.executable, "-m", "heliograph.cli", "pub", "s", "--generate", "pulse"]
    with a_planet() as address, receiving(address, "s") as receiver:
        words += ["--rate", "100/s", "--planet", address]
        for _ in range(2):
            with subprocess.Popen(words, stderr=subprocess.DEVNULL) as child:
                try:
                    events = got(receiver, 3)
                finally:
                    child.kill()
            assert [one.epoch for one in events] == sorted(one.epoch for one in events)
        found = got(receiver, 0)
        assert len({one.epoch for one in [*events, *found]}) <= 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"21.5\n22\n", "line 1: a number where a name was expected; write JSON lines"),
        (b"open\n", 'no event came; standard input is JSON lines, such as {"open": true}'),
    ],
)
def test_lines_that_are_values_and_nothing_else_are_told_what_is_wanted(
    line: bytes, said: str
) -> None:
    with a_planet() as address:
        done = subprocess.run(
            [sys.executable, "-m", "heliograph.cli", "pub", "s", "--planet", address],
            input=line, capture_output=True, check=False, timeout=30,
        )  # fmt: skip
    assert said in done.stderr.decode()


def test_who_was_asked_to_end_waits_for_no_planet_that_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pub, "_END_SECONDS", 0.05)
    asked: list[float] = []

    def flush(seconds: float) -> bool:
        asked.append(seconds)
        time.sleep(0.02)
        return False

    sender = mock.Mock(flush=flush)
    stop = Stop()
    stop.asked = True
    assert not pub._wait(sender, stop)  # noqa: SLF001 - how long it waits is inside
    assert asked
