from __future__ import annotations

from statistics import mean

import pytest
from matplotlib.figure import Figure

from heliograph.experiments import fanout, fanout_real
from heliograph.experiments.fanout import beside, curve, findings, line
from heliograph.experiments.findings import Setting


def late(slope: float) -> dict[int, list[list[float]]]:
    return {count: [[1e-3 + slope * count] * 3 for _ in range(count)] for count in (1, 4, 8)}


def test_a_receiver_counts_by_its_median() -> None:
    late = {2: [[1.0, 2.0, 90.0], [4.0, 4.0, 4.0]]}
    assert curve(late) == {2: 3.0}
    assert curve(late, mean) == {2: 17.5}


def test_what_a_curve_adds_is_a_mean_over_its_points() -> None:
    assert beside({1: 2.0, 2: 6.0}, {1: 2.0, 2: 4.0}) == 0.25


def test_a_line_has_its_slope_and_how_well_it_fits() -> None:
    assert line({1: 3.0, 2: 5.0, 4: 9.0}) == pytest.approx((2, 1, 1))


@pytest.mark.parametrize(("slope", "holds"), [(1.0e-4, True), (1.5e-4, False)])
def test_buffering_may_add_a_tenth(slope: float, holds: bool) -> None:  # noqa: FBT001 - a case
    found = findings({"planet": late(slope), "forwarder": late(1e-4)}, "note")
    rows = {one.measure: one for one in found.rows}
    assert rows["buffering adds to plain forwarding"].holds is holds
    assert rows["planet: latency by receivers"].holds
    assert len(found.data["latencies"]["latency_s"]) == 2 * 3 * (1 + 4 + 8)
    figure = Figure()
    found.draw(figure)
    assert len(figure.axes[0].get_lines()) == 2


def test_the_simulated_figure_holds() -> None:
    found = fanout.EXPERIMENT.run(Setting(quick=True, seconds=2))
    assert found.holds
    assert "processors take no time" in found.notes[0]


def test_the_real_figure_takes_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[tuple[int, ...], int]] = []

    def measure(counts: tuple[int, ...], events: int, tell: object) -> object:
        asked.append((counts, events))
        assert tell is not None
        return [(count, [late(1e-4)[1]] * 3) for count in counts]

    monkeypatch.setattr(fanout_real, "measure", measure)
    found = fanout.EXPERIMENT.run(Setting(real=True, quick=True, seeds=2))
    assert asked == [((1, 4, 8, 16), 100)] * 2
    assert any("bare forwarding" in one.measure for one in found.rows)
