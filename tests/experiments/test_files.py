from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from heliograph.event.errors import UsageError
from heliograph.experiments import files
from heliograph.experiments.findings import Experiment, Findings, Row

if TYPE_CHECKING:
    from pathlib import Path


def findings() -> Findings:
    def draw(figure: Any) -> None:
        figure.subplots().plot([1, 2], [3, 4])

    return Findings([Row("loss", "30 %", "29 %")], {"events": {"number": [1, 2]}}, draw)


def experiment() -> Experiment:
    return Experiment("small", "Fig. 0", "what", lambda _: findings(), lambda _: findings())


def test_data_plot_and_table_are_written(tmp_path: Path) -> None:
    written = files.write(experiment(), findings(), tmp_path, real=False)
    assert [one.name for one in written] == [
        "simulated-events.parquet", "simulated.png", "simulated.md"
    ]  # fmt: skip
    assert pq.read_table(written[0]).to_pydict() == {"number": [1, 2]}
    assert written[1].read_bytes().startswith(b"\x89PNG")
    assert "| loss | 30 % | 29 % |" in written[2].read_text(encoding="utf-8")


def test_a_real_run_does_not_write_over_a_simulated_one(tmp_path: Path) -> None:
    one = files.write(experiment(), findings(), tmp_path, real=False)
    other = files.write(experiment(), findings(), tmp_path, real=True)
    assert set(one).isdisjoint(other)


def test_a_folder_is_made(tmp_path: Path) -> None:
    files.check(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


def test_a_folder_that_cannot_be_made_is_refused_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot make the folder"):
        files.check(tmp_path / "file" / "folder")


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write to"):
        files.write(experiment(), findings(), tmp_path / "none", real=False)


@pytest.mark.parametrize(("library", "extra"), [("pyarrow", "planet"), ("matplotlib", "plot")])
def test_a_missing_library_is_named_with_its_extra(
    library: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == library else 1)
    with pytest.raises(UsageError, match=rf"pip install 'heliograph\[{extra}\]'"):
        files.check(tmp_path)
