from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from heliograph.cli.plot import draw
from heliograph.event.errors import UsageError
from heliograph.lane.trial import Outcome

if TYPE_CHECKING:
    from pathlib import Path


def outcome(name: str) -> Outcome:
    one = Outcome(name, start=0, end=4_000_000_000, offered=4, delivered=3, dropped=1)
    for second in range(4):
        one.latency.add(second, 0.5)
        one.loss.add(second, offered=1)
    one.loss.add(2, dropped=1)
    one.taken.add(2, 0.25)
    return one


def test_a_plot_is_a_png_of_a_screen(tmp_path: Path) -> None:
    draw([outcome("policy"), outcome("oldest")], tmp_path / "trial.png")
    data = (tmp_path / "trial.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    assert (width, height) == (990, 990)


def test_queues_that_did_nothing_are_drawn_too(tmp_path: Path) -> None:
    draw([Outcome("idle")], tmp_path / "idle.png")
    assert (tmp_path / "idle.png").stat().st_size > 1_000


def test_the_form_is_png_whatever_the_name(tmp_path: Path) -> None:
    draw([outcome("policy")], tmp_path / "trial.svg")
    assert (tmp_path / "trial.svg").read_bytes().startswith(b"\x89PNG")


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .*: No such file or directory"):
        draw([outcome("policy")], tmp_path / "nowhere" / "trial.png")
