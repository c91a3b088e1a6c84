from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from heliograph.experiments import namespaces, reattach
from heliograph.experiments.findings import Setting
from heliograph.experiments.reattach import findings
from heliograph.experiments.reattach_sim import TURNS
from heliograph.experiments.returns import Returns
from heliograph.experiments.transit import TooShortError

REASON = namespaces.unavailable()
needs_namespaces = pytest.mark.skipif(bool(REASON), reason=REASON or "namespaces work here")


def made(delay: float = 0.001, *, turns: int = TURNS, lost: int = 0, doubled: int = 0) -> Returns:
    return Returns(1, 100, [[delay] * turns], lost, doubled)


def test_the_shape_holds_where_all_come_back_soon() -> None:
    found = findings({1: [made()]}, "note")
    assert found.holds
    figure = Figure()
    found.draw(figure)
    assert figure.axes[0].get_ylabel().endswith("(ms)")
    assert figure.axes[0].get_legend() is not None
    assert len(found.data["delays"]["delay_s"]) == TURNS


@pytest.mark.parametrize(
    "wrong", [made(2.0), made(0.05), made(turns=19), made(lost=1), made(doubled=1)]
)
def test_the_shape_does_not_hold_otherwise(wrong: Returns) -> None:
    assert not findings({1: [wrong]}, "note").holds


def test_a_run_in_which_nothing_came_is_refused() -> None:
    with pytest.raises(TooShortError, match="more --seconds"):
        findings({1: [Returns(1, 0, [[]])]}, "note")


def test_the_simulated_figure_holds() -> None:
    assert reattach.EXPERIMENT.run(Setting(quick=True, seconds=20)).holds


@needs_namespaces
def test_clients_come_and_go_in_a_namespace() -> None:
    found = reattach.visits(2, 0.03, 1)
    assert (found.lost, found.doubled) == (0, 0)
    assert len(found.delays) == 2
