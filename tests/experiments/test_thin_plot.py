from __future__ import annotations

from matplotlib.figure import Figure

from experiments.queues import ran
from heliograph.experiments.thin_plot import drawing


def test_latency_loss_and_packs_are_drawn_for_each_queue() -> None:
    figure = Figure()
    drawing({name: [ran(name), ran(name)] for name in ("DropTail", "aim")})(figure)
    assert [len(one.get_lines()) for one in figure.axes] == [2, 2, 2]
    assert "latency" in figure.axes[0].get_ylabel()
