"""The command as a whole: help, exit codes, a reader that stops."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING
from unittest import mock

import click
import pytest

from cli.running import PULSE, ROOT, heliograph, write_policy
from heliograph import __version__
from heliograph.cli import command

if TYPE_CHECKING:
    from pathlib import Path

VERBS = [
    "planet", "pub", "sub", "status", "top", "bench",
    "policy", "policy check", "policy explain", "policy try", "policy schema", "completion",
]  # fmt: skip


def test_the_version_is_told() -> None:
    ran = heliograph("--version")
    assert (ran.code, ran.out) == (0, f"heliograph {__version__}\n")


def test_help_says_where_to_begin() -> None:
    ran = heliograph("--help")
    assert ran.code == 0
    assert "Begin here:" in ran.out
    assert "Write, check and try policies" in ran.out


def test_without_a_verb_help_is_shown_and_the_code_says_so() -> None:
    ran = heliograph()
    assert ran.code == 2
    assert "Begin here:" in ran.err


@pytest.mark.parametrize("words", VERBS)
def test_the_help_of_a_verb_has_an_example_or_says_what_it_needs(words: str) -> None:
    ran = heliograph(*words.split(), "-h")
    assert ran.code == 0
    assert re.search("Examples?:", ran.out) or "SHELL" in ran.out or "POLICY is a file" in ran.out
    assert "..." not in ran.out.partition("Commands:")[2], "a help that is cut off"


def test_an_unknown_verb_is_a_wrong_command_line() -> None:
    ran = heliograph("policy", "chekc")
    assert ran.code == 2
    assert "check" in ran.err


def test_a_missing_argument_is_a_wrong_command_line() -> None:
    ran = heliograph("policy", "check")
    assert ran.code == 2
    assert "POLICY" in ran.err


def test_a_wrong_input_ends_in_one_line() -> None:
    ran = heliograph("policy", "check", "no-such-file")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: there is no file 'no-such-file', nor a built-in policy")
    assert ran.err.count("\n") == 1


def test_an_interrupt_is_told_and_has_its_own_code() -> None:
    with mock.patch.object(command, "main", side_effect=click.exceptions.Abort):
        ran = heliograph("policy")
    assert (ran.code, ran.err) == (130, "interrupted\n")


def test_a_reader_that_stops_is_no_error(tmp_path: Path) -> None:
    policy = write_policy(tmp_path)
    words = ["policy", "try", policy, PULSE, "--capacity", "64", "--rate", "3/s", "--output", "-"]
    with subprocess.Popen(
        [sys.executable, "-m", "heliograph.cli", *map(str, words)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"_stream":"pulse"')
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait() == 0


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "heliograph.cli", "--version"],
        capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "100"},
    )  # fmt: skip
    assert done.stdout == f"heliograph {__version__}\n"
