"""The plot of a trial: what PACK's Figure 8 draws, for each queue that was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heliograph.event.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from heliograph.lane.trial import Outcome


def draw(outcomes: Sequence[Outcome], path: Path) -> None:
    """Draw a trial into a PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    drawn = figure(outcomes)
    FigureCanvasAgg(drawn)
    try:
        drawn.savefig(path, dpi=110, format="png")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def figure(outcomes: Sequence[Outcome]) -> Figure:
    """Return latency, loss and packs over time: one line a queue, and the packs of the first."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(9, 9), layout="constrained")
    latency, loss, packs = drawn.subplots(3, 1, sharex=True)
    for one in outcomes:
        _line(latency, one.latency.points, label=one.name, linewidth=0.8)
        _line(loss, one.loss.loss(), label=one.name, linewidth=0.9)
    ours = outcomes[0]
    if ours.taken.points:
        times, fractions = zip(*ours.taken.points, strict=True)
        packs.vlines(times, 0, fractions, linewidth=0.8)
        packs.plot(times, fractions, "o", markersize=2)
    latency.set_ylabel("latency of each event (s)")
    latency.set_ylim(bottom=0)
    latency.set_title(f"{ours.name}: {ours.delivered:,} of {ours.offered:,} events delivered")
    window = ours.loss.seconds
    loss.set_ylabel(f"loss in each {'second' if window == 1 else f'{window} s'}")
    loss.set_ylim(0, 1)
    packs.set_ylabel("fraction taken by each pack")
    packs.set_ylim(0, 1)
    packs.set_xlabel("time since the first event (s)")
    drawn.legend(loc="outside lower center", ncols=len(outcomes), handles=latency.get_lines())
    return drawn


def _line(axes: Any, points: Sequence[tuple[float, float]], **style: Any) -> None:
    if points:
        axes.plot(*zip(*points, strict=True), **style)
