"""Fan-out: PACK's Figure 7 (Solar's 9b, first plot): the latency of 1 to 16 receivers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heliograph.experiments import fanout_real, fanout_sim
from heliograph.experiments.findings import READ_OFF, Experiment, Findings, Row, columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from heliograph.experiments.findings import Setting

COUNTS: Final = (1, 2, 4, 8, 12, 16)
_QUICK_COUNTS: Final = (1, 4, 8, 16)
ADDED_MOST: Final = 0.10
LINEAR_LEAST: Final = 0.9
NAMES: Final = {
    "planet": "planet", "forwarder": "plain forwarding", "bare": "bare forwarding"
}  # fmt: skip
_SECONDS: Final = 180.0
_QUICK_SECONDS: Final = 20.0
_EVENTS: Final = 200
_QUICK_EVENTS: Final = 100

# By kind, by the number of receivers: the latencies of each receiver.
Latencies = dict[str, dict[int, list[list[float]]]]


def simulate(setting: Setting) -> Findings:
    """Let 1 to 16 simulated receivers share the planet's network card."""
    counts = _QUICK_COUNTS if setting.quick else COUNTS
    seconds = setting.seconds or (_QUICK_SECONDS if setting.quick else _SECONDS)
    found: Latencies = {"planet": {}, "forwarder": {}}
    for turn, count in enumerate(counts, 1):
        for kind, late in found.items():
            runs = [
                fanout_sim.simulate(count, seconds, seed, buffered=kind == "planet")
                for seed in range(1, (setting.seeds or 1) + 1)
            ]
            late[count] = [one for run in runs for one in run]
        setting.tell(turn / len(counts))
    note = f"an event each 200 ms, {seconds:g} s, over a LAN of 100 Mbit/s; processors take no time"
    return findings(found, note)


def measure(setting: Setting) -> Findings:
    """Let 1 to 16 receivers share two processors with the planet, over loopback."""
    counts = _QUICK_COUNTS if setting.quick else COUNTS
    events = _QUICK_EVENTS if setting.quick else _EVENTS
    if setting.seconds:
        events = max(_QUICK_EVENTS, int(setting.seconds / fanout_real.INTERVAL))
    found: Latencies = {kind: {} for kind in fanout_real.KINDS}
    rounds = setting.seeds or (1 if setting.quick else 3)
    for turn in range(rounds):

        def tell(part: float, turn: int = turn) -> None:
            setting.tell((turn + part) / rounds)

        for count, late in fanout_real.measure(counts, events, tell):
            for kind, one in zip(fanout_real.KINDS, late, strict=True):
                found[kind].setdefault(count, []).extend(one)
    note = (
        f"{rounds} rounds of {events} events, one each {fanout_real.INTERVAL * 1e3:g} ms to each "
        "kind in turn; all receivers are in one process, and each counts by its median"
    )
    return findings(found, note)


def curve(
    late: Mapping[int, Sequence[Sequence[float]]],
    usual: Callable[[Sequence[float]], Any] = np.median,
) -> dict[int, float]:
    """Return the mean over the receivers of what each finds usual.

    The papers take each receiver's mean. Other programs on the machine make outliers of it.
    """
    return {
        count: float(np.mean([usual(one) for one in receivers]))
        for count, receivers in late.items()
    }


def beside(late: Mapping[int, float], base: Mapping[int, float]) -> float:
    """Return which part a curve adds to another, in the mean over the numbers of receivers."""
    return float(np.mean([late[count] / base[count] for count in late])) - 1


def line(late: Mapping[int, float]) -> tuple[float, float, float]:
    """Return the slope and begin of the line through a curve, and how well it fits (R squared)."""
    x, y = np.array(list(late), float), np.array(list(late.values()))
    slope, begin = np.polyfit(x, y, 1)
    rest = float(np.sum((y - slope * x - begin) ** 2))
    whole = float(np.sum((y - np.mean(y)) ** 2))
    return float(slope), float(begin), 1 - rest / whole if whole else 1.0


def findings(found: Latencies, note: str) -> Findings:
    """Return what all of it comes to."""
    curves = {kind: curve(late) for kind, late in found.items()}
    lines = {kind: line(late) for kind, late in curves.items()}
    added = beside(curves["planet"], curves["forwarder"])
    means = beside(curve(found["planet"], np.mean), curve(found["forwarder"], np.mean))
    rows = [
        Row(f"{NAMES[kind]}: latency by receivers", f"grows linearly {READ_OFF}",
            f"{_micro(begin)} + {_micro(slope)} a receiver, R2 {fit:.3f}",
            f"linear: R2 at least {LINEAR_LEAST:g}", fit >= LINEAR_LEAST and slope > 0)
        for kind, (slope, begin, fit) in lines.items()
    ]  # fmt: skip
    slopes = lines["planet"][0] / lines["forwarder"][0] - 1
    rows += [
        Row("buffering adds to plain forwarding", f"a larger slope {READ_OFF}",
            f"{added * 100:.1f} % (slope {slopes * 100:+.1f} %)", "under 10 %", added < ADDED_MOST),
        Row("the same, where each receiver counts by its mean", "", f"{means * 100:.1f} %"),
    ]  # fmt: skip
    if "bare" in curves:
        bare = beside(curves["planet"], curves["bare"])
        rows.append(
            Row("all that a planet does adds to bare forwarding", "", f"{bare * 100:.1f} %")
        )
    data = [
        (kind, count, place, one)
        for kind, late in found.items()
        for count, receivers in late.items()
        for place, each in enumerate(receivers)
        for one in each
    ]
    table = columns(("kind", "receivers", "receiver", "latency_s"), data)
    return Findings(rows, {"latencies": table}, partial(_draw, curves), [note])


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f} us"


def _draw(curves: Mapping[str, Mapping[int, float]], figure: Figure) -> None:
    axes: Any = figure.subplots()
    for place, (kind, late) in enumerate(curves.items()):
        # The first are larger and hollow: where curves are one, all of them are seen.
        axes.plot(list(late), [one * 1e3 for one in late.values()], "o-", label=NAMES[kind],
                  markersize=12 - 4 * place, markerfacecolor="none")  # fmt: skip
    axes.set_xlabel("receivers")
    axes.set_ylabel("latency, mean over the receivers (ms)")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.legend()


EXPERIMENT: Final = Experiment(
    "fanout",
    "PACK Fig. 7, Solar Fig. 9b (first)",
    "One planet and 1 to 16 receivers, beside plain forwarding without buffers",
    simulate,
    measure,
)
