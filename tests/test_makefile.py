"""`make` explains itself, and says what is wrong with a Python that will not do."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAKEFILE = ROOT / "Makefile"

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def make(*words: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", "-f", MAKEFILE, *words],
        cwd=cwd, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def targets() -> list[str]:
    text = MAKEFILE.read_text(encoding="utf-8")
    found = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert found is not None
    return found[1].split()


@pytest.mark.parametrize("target", targets())
def test_a_target_says_what_it_does(target: str) -> None:
    assert re.search(rf"^  make {target} +\w.{{10,}}$", make("help").stdout, re.MULTILINE)


def test_plain_make_helps() -> None:
    assert make().stdout == make("help").stdout


@pytest.mark.parametrize("target", [one for one in targets() if one != "help"])
def test_a_target_is_in_the_contributors_guide(target: str) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"| `make {target}` |" in text


def fake_python(folder: Path, script: str) -> Path:
    path = folder / "python-fake"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    # A fresh folder needs the file that the setup depends on.
    (folder / "pyproject.toml").write_text("", encoding="utf-8")
    return path


def test_an_old_python_is_named_with_what_is_needed(tmp_path: Path) -> None:
    python = fake_python(tmp_path, '[ "$1" = --version ] && echo Python 3.9.2 && exit 0\nexit 1')
    done = make("check", f"PYTHON={python}", cwd=tmp_path)
    assert done.returncode != 0
    assert "Python 3.9.2 is too old; Heliograph needs 3.11 or newer" in done.stdout


def test_a_missing_python_is_named(tmp_path: Path) -> None:
    fake_python(tmp_path, "exit 1")
    done = make("check", "PYTHON=python-that-is-not-there", cwd=tmp_path)
    assert done.returncode != 0
    assert "no python-that-is-not-there here; install Python 3.11" in done.stdout


def test_a_python_without_venv_is_told_how_to_get_it(tmp_path: Path) -> None:
    python = fake_python(tmp_path, '[ "$1" = -c ] && exit 0\nexit 1')
    done = make("check", f"PYTHON={python}", cwd=tmp_path)
    assert done.returncode != 0
    assert "cannot make virtual environments" in done.stdout
