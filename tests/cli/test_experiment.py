from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cli.running import heliograph
from heliograph.experiments import catalogue, namespaces
from heliograph.experiments.findings import Experiment, Findings, Row, Setting

if TYPE_CHECKING:
    from pathlib import Path

ASKED: list[Setting] = []


def _draw(figure: Any) -> None:
    figure.subplots()


def run(setting: Setting, *, holds: bool = True) -> Findings:
    ASKED.append(setting)
    setting.tell(1.0)
    row = Row("loss", "30 %", "29 %", "at most 31 %", holds=holds)
    return Findings([row], {"events": {"number": [1]}}, _draw)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put small experiments beside those that there are."""
    ASKED.clear()
    small = Experiment("small", "Fig. 0", "Something small", run, run)
    wrong = Experiment("wrong", "Fig. 0", "Wrong", lambda one: run(one, holds=False), run)
    monkeypatch.setattr(
        catalogue, "EXPERIMENTS", catalogue.EXPERIMENTS | {"small": small, "wrong": wrong}
    )


def test_the_experiments_are_listed_with_their_figures() -> None:
    ran = heliograph("experiment", "list")
    assert ran.code == 0
    assert "thin-link" in ran.out
    listed = heliograph("experiment", "list", "--json").json
    assert {"name": "small", "figure": "Fig. 0", "what": "Something small"} in listed


def test_a_run_prints_its_table_and_says_where_the_rest_is(tmp_path: Path) -> None:
    ran = heliograph("experiment", "run", "small", "--output", tmp_path)
    assert ran.code == 0
    assert "| loss | 30 % | 29 % | at most 31 % | yes |" in ran.out
    assert "shape holds: yes (1 of 1 goals)" in ran.out
    assert f"written: {tmp_path / 'simulated-events.parquet'}" in ran.err
    assert {one.name for one in tmp_path.iterdir()} == {
        "simulated-events.parquet", "simulated.png", "simulated.md"
    }  # fmt: skip


def test_options_reach_the_experiment(tmp_path: Path) -> None:
    words = ["--seeds", "3", "--seconds", "2.5", "--quick", "--output", str(tmp_path)]
    assert heliograph("experiment", "run", "small", *words).code == 0
    (asked,) = ASKED
    assert (asked.real, asked.seeds, asked.seconds, asked.quick) == (False, 3, 2.5, True)


def test_a_goal_that_is_missed_is_an_exit_code_of_its_own(tmp_path: Path) -> None:
    ran = heliograph("experiment", "run", "wrong", "--output", tmp_path)
    assert ran.code == 5
    assert "shape holds: no" in ran.out


def test_the_table_as_json(tmp_path: Path) -> None:
    ran = heliograph("experiment", "run", "small", "--json", "--output", tmp_path)
    assert ran.json["experiment"] == "small"
    assert ran.json["rows"][0]["paper"] == "30 %"
    assert len(ran.json["files"]) == 3


def test_a_real_run_is_skipped_with_the_reason_where_privileges_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(namespaces, "unavailable", lambda: "no `ip` here; install iproute2")
    ran = heliograph("experiment", "run", "small", "--real", "--output", tmp_path)
    assert ran.code == 2
    assert ran.err == "skipped: no `ip` here; install iproute2\n"
    assert ASKED == []


def test_a_real_run_is_one_where_they_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(namespaces, "unavailable", lambda: "")
    ran = heliograph("experiment", "run", "small", "--real", "--output", tmp_path)
    assert ran.code == 0
    assert ASKED[0].real
    assert (tmp_path / "real.md").exists()


def test_the_folder_is_made_where_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert heliograph("experiment", "run", "small").code == 0
    assert (tmp_path / "out" / "experiments" / "small" / "simulated.png").exists()


def test_an_unknown_experiment_is_a_wrong_command_line() -> None:
    ran = heliograph("experiment", "run", "none")
    assert ran.code == 2
    assert "thin-link" in ran.err
