from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from cli.running import PULSE
from heliograph.cli.progress import advancing, watched
from heliograph.event.errors import TraceError
from heliograph.event.trace import open_trace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each look at the clock be a second after the last one."""
    now = iter(range(1_000))
    monkeypatch.setattr(time, "monotonic", lambda: next(now))


def test_all_blocks_come_with_their_schema() -> None:
    with open_trace(PULSE) as trace:
        pairs = list(watched(trace, "reading"))
    assert sum(block.count for block, _ in pairs) == 3_000
    assert all("PulseRate" in schema.index for _, schema in pairs)


@pytest.mark.usefixtures("clock")
def test_no_progress_is_shown_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with open_trace(PULSE) as trace:
        list(watched(trace, "reading"))
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("clock")
def test_progress_is_shown_in_a_terminal_and_wiped_in_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    watching = mock.patch.object(sys.stderr, "isatty", return_value=True)
    with watching, open_trace(PULSE) as trace:
        list(watched(trace, "reading"))
    shown = capsys.readouterr().err
    assert "\rreading [" in shown
    assert "3,000 events" in shown
    assert shown.endswith("\r\x1b[K")


def test_a_short_trace_shows_none_even_in_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    watching = mock.patch.object(sys.stderr, "isatty", return_value=True)
    with watching, open_trace(PULSE) as trace:
        list(watched(trace, "reading"))
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("clock")
def test_the_line_is_wiped_when_reading_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["x", *map(str, range(5_000)), "too,many"]
    path = tmp_path / "broken.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    watching = mock.patch.object(sys.stderr, "isatty", return_value=True)
    with (
        watching,
        open_trace(path) as trace,
        pytest.raises(TraceError, match="line 5002"),
    ):
        list(watched(trace, "reading"))
    assert capsys.readouterr().err.endswith(" events\r\x1b[K")


@pytest.mark.usefixtures("clock")
def test_work_that_knows_its_part_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    watching = mock.patch.object(sys.stderr, "isatty", return_value=True)
    with watching, advancing("running") as tell:
        tell(0.5)
        tell(2.0)
    shown = capsys.readouterr().err
    assert "\rrunning [###############               ]  50%" in shown
    assert "100%" in shown
    assert shown.endswith("\r\x1b[K")
