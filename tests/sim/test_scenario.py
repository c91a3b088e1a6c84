"""The scenarios happen as they were recorded, and the runner sees when they do not.

HELIOGRAPH_REWRITE=1 pytest tests/sim records them again; then read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heliograph.sim.scenario import check, read_steps, replay, show
from heliograph.sim.world import SimulationError

SCENARIOS = sorted((Path(__file__).parent / "scenarios").glob("*.txt"))
SHORT = """\
# A planet, alone.

planet
run 1s
----
    0.000 sol       starts

lanes
----
"""


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_happens_as_it_was_recorded(path: Path) -> None:
    check(path, rewrite=bool(os.environ.get("HELIOGRAPH_REWRITE")))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_begins_with_a_drawing_and_ends_with_a_check(path: Path) -> None:
    head, steps = read_steps(path.read_text(encoding="utf-8"))
    assert any("--" in line and "sol" in line for line in head)
    assert steps[-1].commands[-1] == "check"


def test_there_are_scenarios() -> None:
    assert len(SCENARIOS) >= 8


def test_a_scenario_is_written_as_it_is_read() -> None:
    assert show(*read_steps(SHORT)) == SHORT
    assert replay(SHORT) == SHORT


def test_what_happens_otherwise_than_recorded_is_told_and_can_be_recorded(tmp_path: Path) -> None:
    path = tmp_path / "alone.txt"
    path.write_text(SHORT.replace("sol       starts", "sol       explodes"), encoding="utf-8")
    with pytest.raises(SimulationError, match=r"(?s)HELIOGRAPH_REWRITE=1.*-.*explodes.*\+.*starts"):
        check(path)
    check(path, rewrite=True)
    assert path.read_text(encoding="utf-8") == SHORT
    check(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Head\n\nplanet\n", "no ---- behind 'planet'"),
        ("# Head\n\nplanet\n# late\n----\n", "line 4: comments stand in the head"),
    ],
)
def test_a_scenario_that_cannot_be_read_is_refused(text: str, words: str) -> None:
    with pytest.raises(SimulationError, match=words):
        read_steps(text)
