"""The drawing of a thin link: PACK's Figure 8, a column of plots over time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from heliograph.experiments.transit import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from heliograph.experiments.transit import Transit

_LINE: Final = 0.8


def drawing(runs: Mapping[str, Sequence[Transit]]) -> Callable[[Figure], None]:
    """Return what draws the first run of each queue."""
    return partial(_draw, [transits[0] for transits in runs.values()])


def _draw(transits: Sequence[Transit], figure: Figure) -> None:
    """Draw latency, loss in each second, and the packs of the queues with levels."""
    latency, loss, packs = figure.subplots(3, 1, sharex=True)
    for one in transits:
        start = one.published[0]
        times = [(at - start) / SECOND for at, _, _ in one.events]
        latency.plot(times, [(at - sent) / SECOND for at, sent, _ in one.events],
                     label=one.queue, linewidth=_LINE)  # fmt: skip
        loss.plot(*one.losses(), linewidth=_LINE)
        taken = [((at - start) / SECOND, part) for at, _, part in one.packs]
        packs.plot(*zip(*taken, strict=True), "o", markersize=3)
    latency.set_ylabel("latency of each event (s)")
    latency.set_ylim(bottom=0)
    loss.set_ylabel("loss in each second")
    loss.set_ylim(0, 1)
    packs.set_ylabel("fraction taken by each pack")
    packs.set_ylim(0, 1)
    packs.set_xlabel("time since the first event (s)")
    figure.legend(loc="outside lower center", ncols=len(transits), handles=latency.get_lines())
