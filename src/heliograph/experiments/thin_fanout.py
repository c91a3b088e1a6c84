"""Thin-link fan-out: Solar's Figure 9b, second plot: 1 to 16 receivers behind one thin link."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heliograph.experiments import crowd
from heliograph.experiments.findings import READ_OFF, Experiment, Findings, Row, columns
from heliograph.experiments.namespaces import kill_all
from heliograph.experiments.transit import TooShortError
from heliograph.experiments.waiting import told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from heliograph.experiments.crowd import Crowd
    from heliograph.experiments.findings import Setting

KINDS: Final = {
    "own": "own policies, from the tail",
    "equal": "equal policies",
    "scattered": "own policies, each keeps other events",
}
COUNTS: Final = (1, 2, 4, 8, 16)
_QUICK_COUNTS: Final = (1, 4, 16)
_SECONDS: Final = 240.0
_QUICK_SECONDS: Final = 120.0
_SEEDS: Final = 3
# What equal policies may cost more than one receiver.
EQUAL_MOST: Final = 0.05
# Before, most of the half that is not measured is what it takes to fill the lanes.
_SECONDS_MIN: Final = 40.0
_AT_ONCE: Final = 8
_REAL_SECONDS: Final = 160.0

# By kind, by the number of receivers: the runs.
Crowds = dict[str, dict[int, list["Crowd"]]]


def _jobs(setting: Setting) -> tuple[list[tuple[str, int, int]], float]:
    counts = _QUICK_COUNTS if setting.quick else COUNTS
    usual = _REAL_SECONDS if setting.real else _SECONDS
    seconds = setting.seconds or (_QUICK_SECONDS if setting.quick else usual)
    if seconds < _SECONDS_MIN:
        raise TooShortError(
            f"in {seconds:g} s the lanes do not fill and settle: "
            f"give it --seconds {_SECONDS_MIN:g} or more"
        )
    seeds = setting.seeds or (1 if setting.quick or setting.real else _SEEDS)
    jobs = [(k, n, seed) for k in KINDS for n in counts for seed in range(1, seeds + 1)]
    return jobs, seconds


def simulate(setting: Setting) -> Findings:
    """Run all crowds behind simulated links."""
    jobs, seconds = _jobs(setting)
    found = []
    for turn, (kind, receivers, seed) in enumerate(jobs, 1):
        found.append(crowd.simulate(kind, receivers, seconds, seed))
        setting.tell(turn / len(jobs))
    return findings(found, f"runs of {seconds:g} s, in virtual time")


def measure(setting: Setting) -> Findings:
    """Run all crowds behind real links, some at once."""
    jobs, seconds = _jobs(setting)
    rounds = -(-len(jobs) // _AT_ONCE)
    with ThreadPoolExecutor(_AT_ONCE) as pool, told(setting.tell, rounds * (seconds + 5)):
        running = [pool.submit(crowd.measure, k, n, seconds, seed) for k, n, seed in jobs]
        try:
            found = [one.result() for one in running]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            kill_all()
            raise
    return findings(found, f"runs of {seconds:g} s, each over a token bucket of its own")


def findings(found: Sequence[Crowd], note: str) -> Findings:
    """Return what all of it comes to."""
    crowds: Crowds = {kind: {} for kind in KINDS}
    for one in found:
        crowds[one.kind].setdefault(one.receivers, []).append(one)
    rows = [row for kind in KINDS for row in _rows(kind, crowds[kind])]
    rows += _equal(crowds["equal"])
    notes = [
        f"{note}; the second half of each is measured",
        f"a lane holds {crowd.LANE_EVENTS} events; all receivers are on one client: one link",
    ]
    data = [
        (one.kind, one.receivers, one.seed, place, came / one.seconds, late)
        for one in found
        for place, (came, late) in enumerate(zip(one.came, one.late, strict=True))
    ]
    names = ("kind", "receivers", "seed", "receiver", "events_per_s", "latency_s")
    return Findings(rows, {"receivers": columns(names, data)}, partial(_draw, crowds), notes)


def mean(crowds: Sequence[Crowd], name: str) -> float:
    """Return the mean of a measure over runs."""
    return float(np.mean([getattr(one, name) for one in crowds]))


def _rows(kind: str, crowds: Mapping[int, Sequence[Crowd]]) -> list[Row]:
    one, most = crowds[min(crowds)], crowds[max(crowds)]
    least = min(each.least for runs in crowds.values() for each in runs)
    # Nobody may fall below what he would get if the link were cut into equal parts.
    fair = min(
        min(each.came) / each.published / (mean(one, "delivered") / count)
        for count, runs in crowds.items()
        for each in runs
        if count > 1
    )
    late = ", ".join(f"{count}: {mean(runs, 'latency'):.2f} s" for count, runs in crowds.items())
    return [
        Row(f"{KINDS[kind]}: latency by receivers",
            "grows linearly " + READ_OFF if kind == "own" else "", late),
        Row(f"{KINDS[kind]}: delivered, to one and to each of {max(crowds)}", "",
            f"{mean(one, 'delivered') * 100:.1f} %, {mean(most, 'delivered') * 100:.1f} %"),
        Row(f"{KINDS[kind]}: the least that a receiver gets", "",
            f"{least * 100:.1f} % of the mean, {fair * 100:.0f} % of an equal part of the link",
            "an equal part", fair >= 1),
    ]  # fmt: skip


def _equal(crowds: Mapping[int, Sequence[Crowd]]) -> list[Row]:
    one, most = crowds[min(crowds)], crowds[max(crowds)]
    late = mean(most, "latency") / mean(one, "latency")
    came = mean(most, "delivered") / mean(one, "delivered")
    return [
        Row(f"equal policies: {max(crowds)} receivers beside one", "",
            f"latency {late:.3f}, delivered {came:.3f} of one's",
            "no more than one receiver costs, within 5 %",
            late <= 1 + EQUAL_MOST and came >= 1 - EQUAL_MOST),
    ]  # fmt: skip


def _draw(crowds: Mapping[str, Mapping[int, Sequence[Crowd]]], figure: Figure) -> None:
    late: Any
    came: Any
    late, came = figure.subplots(2, 1, sharex=True)
    for kind, runs in crowds.items():
        counts = list(runs)
        late.plot(counts, [mean(one, "latency") for one in runs.values()], "o-", label=KINDS[kind])
        came.plot(counts, [mean(one, "delivered") for one in runs.values()], "o-")
    late.set_ylabel("mean latency (s)")
    late.set_ylim(bottom=0)
    late.legend()
    came.set_ylabel("part delivered to each")
    came.set_ylim(0, 1)
    came.set_xlabel("receivers behind the link")


EXPERIMENT: Final = Experiment(
    "thin-link-fanout",
    "Solar Fig. 9b (second)",
    "A link of 50 Kbit/s with 1 to 16 receivers behind it, each with a policy",
    simulate,
    measure,
)
