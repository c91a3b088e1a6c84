"""A program is called the same each time that it starts."""

from __future__ import annotations

import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from heliograph.net.names import HOST_LENGTH_MAX, default_name, host_name

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = "from heliograph.net.names import default_name\nprint(default_name())\n"


def said(*words: str, folder: Path | None = None) -> str:
    """Return the name that a process of its own gives itself."""
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=True, cwd=folder
    )
    return done.stdout.strip()


def test_a_script_is_called_by_its_file_and_a_module_by_its_name(tmp_path: Path) -> None:
    host = socket.gethostname()
    (tmp_path / "sensor.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "ward").mkdir()
    for name in ("__init__", "__main__", "pulse"):
        (tmp_path / "ward" / f"{name}.py").write_text(SOURCE if name != "__init__" else "")
    for _ in range(2):
        assert said("sensor.py", folder=tmp_path) == f"sensor@{host}"
    assert said("-m", "ward.pulse", folder=tmp_path) == f"ward.pulse@{host}"
    assert said("-m", "ward", folder=tmp_path) == f"ward@{host}"
    assert said("-c", SOURCE) == f"python@{host}"


@pytest.mark.parametrize("words", [[], [""], ["-"], ["-c"]])
def test_who_has_no_file_is_python(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setitem(sys.modules, "__main__", sys)
    monkeypatch.setattr(sys, "__spec__", None)
    assert default_name() == f"python@{host_name()}"


def test_a_long_host_name_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "h" * 300)
    assert host_name() == "h" * HOST_LENGTH_MAX
