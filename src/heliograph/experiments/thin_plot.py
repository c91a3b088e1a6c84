"""The drawing of a thin link: PACK's Figure 8, a column of plots over time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from heliograph.experiments.transit import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from heliograph.experiments.transit import Transit

_LINE: Final = 0.8
# How high the plots of latency and packs are, beside that of the loss of one queue.
_HEIGHTS: Final = (4.0, 2.5)


def drawing(runs: Mapping[str, Sequence[Transit]]) -> Callable[[Figure], None]:
    """Return what draws the first run of each queue."""
    return partial(_draw, [transits[0] for transits in runs.values()])


def _draw(transits: Sequence[Transit], figure: Figure) -> None:
    """Draw latency and packs of all queues, and the loss in each second of each queue.

    The papers lay the losses of two queues over each other. Those of five could not be read so.
    """
    heights = [*_HEIGHTS, *(1.0 for _ in transits)]
    plots: Any = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    latency, packs, *losses = plots
    for place, (one, loss) in enumerate(zip(transits, losses, strict=True)):
        start, colour = one.published[0], f"C{place}"
        times = [(at - start) / SECOND for at, _, _ in one.events]
        latency.plot(times, [(at - sent) / SECOND for at, sent, _ in one.events],
                     label=one.queue, linewidth=_LINE, color=colour)  # fmt: skip
        taken = [((at - start) / SECOND, part) for at, _, part in one.packs]
        packs.plot(*zip(*taken, strict=True), "o", markersize=3, color=colour)
        loss.fill_between(*one.losses(), step="mid", color=colour, linewidth=0)
        loss.set_ylim(0, 1)
        loss.set_yticks([0, 1])
        loss.set_ylabel("loss\nin 1 s")
    latency.set_ylabel("latency of\neach event (s)")
    latency.set_ylim(bottom=0)
    packs.set_ylabel("fraction taken\nby each pack")
    packs.set_ylim(0, 1)
    losses[-1].set_xlabel("time since the first event (s)")
    figure.legend(loc="outside lower center", ncols=len(transits), handles=latency.get_lines())
