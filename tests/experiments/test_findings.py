from __future__ import annotations

from heliograph.experiments.findings import (
    Experiment,
    Findings,
    Row,
    Setting,
    columns,
    document,
    markdown,
)

GOOD = Row("loss", "about 30 %", "29.5 %", "at most 31 %", holds=True)
BAD = Row("latency", "1 s", "2 s", "at most 1 s", holds=False)
PLAIN = Row("level", "2", "3")


def findings(*rows: Row) -> Findings:
    return Findings(list(rows), {}, lambda _: None, ["one run"])


def test_a_shape_holds_if_every_goal_does() -> None:
    assert findings(GOOD, PLAIN).holds
    assert not findings(GOOD, BAD).holds


def test_the_table_puts_the_number_of_the_paper_beside_ours() -> None:
    lines = markdown(findings(GOOD, BAD, PLAIN)).splitlines()
    assert lines[0] == "| measure | paper | ours | must hold | holds |"
    assert lines[2] == "| loss | about 30 % | 29.5 % | at most 31 % | yes |"
    assert lines[3].endswith("| **no** |")
    assert "- one run" in lines
    assert lines[-1] == "shape holds: no (1 of 2 goals)"


def test_the_same_as_json() -> None:
    found = document(findings(GOOD, PLAIN))
    assert found["holds"] is True
    assert found["rows"][1]["holds"] is None


def test_rows_become_columns() -> None:
    assert columns(("a", "b"), [(1, 2), (3, 4)]) == {"a": [1, 3], "b": [2, 4]}
    assert columns(("a",), []) == {"a": []}


def test_an_experiment_runs_simulated_or_over_real_links() -> None:
    simulated, real = findings(GOOD), findings(BAD)
    one = Experiment("name", "Fig. 1", "what", lambda _: simulated, lambda _: real)
    assert one.run(Setting()) is simulated
    assert one.run(Setting(real=True)) is real
    Setting().tell(0.5)
