from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from heliograph.experiments import crowd, thin_fanout
from heliograph.experiments.crowd import Crowd
from heliograph.experiments.findings import Setting
from heliograph.experiments.thin_fanout import KINDS, findings
from heliograph.experiments.transit import TooShortError


def made(kind: str, receivers: int, came: int, late: float = 1.0) -> Crowd:
    return Crowd(kind, 1, 10.0, 300, [came] * receivers, [late] * receivers)


def fine() -> list[Crowd]:
    return [made(kind, 1, 200) for kind in KINDS] + [
        made("own", 4, 80, 1.5), made("equal", 4, 200), made("scattered", 4, 55, 2.0)
    ]  # fmt: skip


def test_the_shape_holds_where_nobody_starves() -> None:
    found = findings(fine(), "note")
    assert found.holds
    assert len(found.data["receivers"]["kind"]) == 3 + 12
    figure = Figure()
    found.draw(figure)
    assert [len(one.get_lines()) for one in figure.axes] == [3, 3]


def test_a_receiver_below_an_equal_part_starves() -> None:
    hungry = Crowd("own", 2, 10.0, 300, [80, 80, 80, 30], [1.0] * 4)
    assert not findings([*fine(), hungry], "note").holds


@pytest.mark.parametrize("dear", [made("equal", 4, 150), made("equal", 4, 200, late=1.2)])
def test_equal_policies_that_cost_more_than_one_receiver_miss_the_goal(dear: Crowd) -> None:
    crowds = [one for one in fine() if (one.kind, one.receivers) != ("equal", 4)]
    assert not findings([*crowds, dear], "note").holds


@pytest.mark.parametrize("real", [False, True])
def test_all_kinds_are_run_with_all_counts(
    real: bool,  # noqa: FBT001 - a case
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def run(kind: str, receivers: int, seconds: float, seed: int) -> Crowd:
        asked.append((kind, receivers, seconds, seed))
        return made(kind, receivers, 200)

    monkeypatch.setattr(crowd, "measure" if real else "simulate", run)
    assert thin_fanout.EXPERIMENT.run(Setting(real=real, quick=True, seconds=60)).holds
    assert sorted(asked) == sorted((kind, n, 60, 1) for kind in KINDS for n in (1, 4, 16))


def test_a_run_in_which_lanes_do_not_fill_is_refused_before_it_begins() -> None:
    with pytest.raises(TooShortError, match="--seconds 40"):
        thin_fanout.EXPERIMENT.run(Setting(seconds=3))


def test_a_real_run_that_fails_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    killed = []

    def run(*_: object) -> Crowd:
        raise ZeroDivisionError

    monkeypatch.setattr(crowd, "measure", run)
    monkeypatch.setattr(thin_fanout, "kill_all", lambda: killed.append(1))
    with pytest.raises(ZeroDivisionError):
        thin_fanout.EXPERIMENT.run(Setting(real=True, quick=True))
    assert killed
