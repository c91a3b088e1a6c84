from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING
from unittest import mock

from pyarrow import ipc

from cli.planets import a_planet, feeding, pulses
from cli.running import heliograph, write_policy
from heliograph.cli.books import Books
from heliograph.cli.sub import _summary
from heliograph.event.digest import Digest

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_events_come_as_a_table_and_a_summary_says_that_they_add_up() -> None:
    with a_planet() as address, feeding(address, "ward-3", pulses(50)):
        ran = heliograph("sub", "ward-3", "--planet", address, "--limit", "50")
    assert ran.code == 0
    assert ran.out.splitlines()[0].split()[-2:] == ["PulseRate", "patient"]
    assert len(ran.out.splitlines()) == 52
    first, books, packs = ran.err.splitlines()
    assert first.startswith("received 50 events and 0 digests in ")
    assert first.endswith("; 0 dropped, 0 filtered")
    assert books == "the books add up: 50 events + 0 dropped + 0 filtered = 50 numbers"
    assert packs.startswith("nothing was packed: the lane was ")


def test_json_lines_end_after_the_limit() -> None:
    with a_planet() as address, feeding(address, "s", pulses(50)):
        ran = heliograph("sub", "s", "--planet", address, "--limit", "7", "--format", "jsonl")
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert [line["_number"] for line in lines] == list(range(1, 8))
    assert lines[0]["PulseRate"] == 60


def test_arrow_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "out.arrow"
    with a_planet() as address, feeding(address, "s", pulses(9)), path.open("wb") as file:
        words = ["sub", "s", "--planet", address, "--limit", "9", "--format", "arrow", "--quiet"]
        done = subprocess.run(
            [sys.executable, "-m", "heliograph.cli", *words],
            stdout=file, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    table = ipc.open_stream(path.read_bytes()).read_all()
    assert table["PulseRate"].to_pylist() == [60 + number for number in range(9)]


def test_an_always_level_is_told_in_digests(tmp_path: Path) -> None:
    policy = write_policy(
        tmp_path,
        "attribute: PulseRate\nlevels:\n"
        "  - {always: true, filters: [{name: LT, value: 70}]}\n"
        "  - filters: [{name: EVERY, n: 2}]\n",
    )
    with a_planet() as address, feeding(address, "s", pulses(60)):
        words: list[str | Path] = ["--planet", address, "--policy", policy, "--seconds", "1.5"]
        ran = heliograph("sub", "s", *words, "--capacity", "64")
    assert ran.code == 0
    assert "the books add up: 20 events + 0 dropped + " in ran.err


def test_a_stream_that_nobody_offers_is_waited_for_with_a_note() -> None:
    with a_planet() as address:
        ran = heliograph("sub", "later", "--planet", address, "--seconds", "3")
    assert (ran.code, ran.out) == (0, "")
    assert "note: nobody offers later yet; waiting for it\n" in ran.err
    assert "received 0 events" in ran.err


def test_ctrl_c_ends_it_with_the_summary() -> None:
    with a_planet() as address, feeding(address, "s", pulses(10)), subprocess.Popen(
        [sys.executable, "-m", "heliograph.cli", "sub", "s", "--format", "jsonl"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "HELIOGRAPH_PLANET": address},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        for _ in range(10):
            assert process.stdout.readline().startswith('{"_stream":"s"')
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert "the books add up: 10 events" in err


def test_a_reader_that_has_had_enough_is_no_error() -> None:
    with (
        a_planet() as address,
        feeding(address, "s", pulses(2_000), seconds=0.001),
        subprocess.Popen(
            [sys.executable, "-m", "heliograph.cli", "sub", "s", "--planet", address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(30) == 0


def test_a_policy_that_does_not_suit_the_stream_is_a_wrong_input(tmp_path: Path) -> None:
    policy = write_policy(
        tmp_path, "attribute: patient\nlevels:\n  - filters: [{name: DELTA, change: 5}]\n"
    )
    with a_planet() as address, feeding(address, "s", pulses(3)):
        ran = heliograph("sub", "s", "--planet", address, "--policy", policy, "--seconds", "20")
    assert ran.code == 1
    assert "DELTA" in ran.err


def test_a_wrong_policy_or_capacity_is_told_before_anything_is_attached() -> None:
    assert heliograph("sub", "s", "--policy", "no-such-policy").code == 1
    ran = heliograph("sub", "s", "--capacity", "lots")
    assert (ran.code, "'lots' is no capacity" in ran.err) == (2, True)


def test_what_was_lost_in_a_gap_counts_as_packed_by_nobody(
    capsys: pytest.CaptureFixture[str],
) -> None:
    books = Books()
    books.enter(Digest("s", 1, 0, 5, 5, gap=3))
    watch = mock.Mock(words=lambda dropped: f"packs dropped {dropped}", missing=7)
    _summary(books, watch, 1.0)
    said = capsys.readouterr().err.splitlines()
    assert said[0].endswith("; 5 dropped, 3 of them lost in gaps, 0 filtered")
    assert said[2:] == ["note: of what was published 7 numbers had not come yet", "packs dropped 2"]


def test_books_that_do_not_add_up_are_a_bug_of_ours() -> None:
    with (
        a_planet() as address,
        feeding(address, "s", pulses(3)),
        mock.patch.object(Books, "enter", lambda self, *_: self.troubles.append("a number twice")),
    ):
        ran = heliograph("sub", "s", "--planet", address, "--seconds", "1", "--quiet")
    assert ran.code == 3
    assert "the books do not add up: a number twice" in ran.err


def test_what_a_policy_names_and_the_stream_lacks_is_noted() -> None:
    with a_planet() as address, feeding(address, "s", pulses(3)):
        words = ("sub", "s", "--planet", address, "--limit", "1", "--policy")
        slip = heliograph(*words, "latest-per Patient")
    assert "note: s has no attribute Patient; it has PulseRate, patient" in slip.err


def test_who_tries_a_wildcard_is_told_that_there_are_none() -> None:
    with a_planet() as address:
        ran = heliograph("sub", "ward-3/#", "--planet", address, "--seconds", "3.5")
    assert "there are no wildcards" in ran.err
