from __future__ import annotations

from matplotlib.figure import Figure

from experiments.queues import ran
from heliograph.experiments.thin_plot import drawing


def test_latency_and_packs_are_drawn_of_all_queues_and_the_loss_of_each_by_itself() -> None:
    figure = Figure()
    drawing({name: [ran(name), ran(name)] for name in ("DropTail", "aim")})(figure)
    latency, packs, *losses = figure.axes
    assert [len(one.get_lines()) for one in (latency, packs)] == [2, 2]
    assert [len(one.collections) for one in losses] == [1, 1]
    assert "latency" in latency.get_ylabel()
    assert "time" in losses[-1].get_xlabel()
    assert len(figure.legends[0].get_texts()) == 2
