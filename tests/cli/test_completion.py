from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cli.running import heliograph


@pytest.mark.parametrize(
    ("shell", "mark"),
    [("bash", "complete -o"), ("zsh", "#compdef"), ("fish", "complete --no-files")],
)
def test_a_shell_gets_its_script(shell: str, mark: str) -> None:
    ran = heliograph("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert mark in ran.out
    assert "_HELIOGRAPH_COMPLETE" in ran.out


def test_another_shell_is_refused_with_those_there_are() -> None:
    ran = heliograph("completion", "tcsh")
    assert ran.code == 2
    assert "bash" in ran.err


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("heliograph pol", "policy"),
        ("heliograph policy ex", "explain"),
        ("heliograph policy try --contr", "--controller"),
        ("heliograph pub s --generate te", "temperature"),
        ("heliograph sub s --format j", "jsonl"),
        ("heliograph sub s --policy old", "oldest"),
        ("heliograph status --planet h", "helio://127.0.0.1:7440"),
        ("heliograph planet --print", "--print-config"),
    ],
)
def test_verbs_and_options_are_completed(typed: str, completed: str) -> None:
    words = typed.split()
    environment = {
        **os.environ,
        "_HELIOGRAPH_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
    }
    program = "from heliograph.cli import command; command(prog_name='heliograph')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"plain,{completed}" in done.stdout.splitlines()
