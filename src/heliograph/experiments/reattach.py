"""Reattach: PACK's Figure 9: how soon a client that comes back gets what waited for it."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heliograph.experiments import fanout_real, reattach_sim
from heliograph.experiments.findings import READ_OFF, Experiment, Findings, Row, columns
from heliograph.experiments.namespaces import alone
from heliograph.experiments.reattach_ends import VisitsJob
from heliograph.experiments.reattach_sim import TURNS
from heliograph.experiments.returns import Returns
from heliograph.experiments.thin_real import EndError
from heliograph.experiments.transit import TooShortError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from heliograph.experiments.findings import Setting
    from heliograph.experiments.namespaces import Namespace

COUNTS: Final = (1, 2, 4, 8, 12, 16)
_QUICK_COUNTS: Final = (1, 4, 16)
# The papers wait 5 s before each change. What is measured takes milliseconds, so real runs, in
# which as many events are missed, need not.
_WAIT: Final = 5.0
_REAL_WAIT: Final = 0.5
_QUICK_REAL_WAIT: Final = 0.25
_SEEDS: Final = 5
_PROGRAM: Final = [sys.executable, "-m", "heliograph.experiments.reattach_ends"]
LONGEST_MOST: Final = 1.0
MEAN_MOST: Final = 0.02


def simulate(setting: Setting) -> Findings:
    """Let 1 to 16 simulated clients come and go."""
    counts = _QUICK_COUNTS if setting.quick else COUNTS
    wait = setting.seconds / (2 * TURNS) or _WAIT
    seeds = setting.seeds or (1 if setting.quick else _SEEDS)
    found: dict[int, list[Returns]] = {}
    for turn, count in enumerate(counts, 1):
        found[count] = [reattach_sim.simulate(count, wait, seed) for seed in range(1, seeds + 1)]
        setting.tell(turn / len(counts))
    note = f"over a LAN of 100 Mbit/s; processors take no time; {wait:g} s before each change"
    return findings(found, note)


def measure(setting: Setting) -> Findings:
    """Let 1 to 16 clients come and go over loopback."""
    counts = _QUICK_COUNTS if setting.quick else COUNTS
    wait = setting.seconds / (2 * TURNS) or (_QUICK_REAL_WAIT if setting.quick else _REAL_WAIT)
    found: dict[int, list[Returns]] = {}
    seeds = setting.seeds or 1
    for turn, count in enumerate(counts, 1):
        found[count] = [visits(count, wait, seed) for seed in range(1, seeds + 1)]
        setting.tell(turn / len(counts))
    note = f"over loopback; all clients are in one process; {wait:g} s before each change"
    return findings(found, note)


def visits(receivers: int, wait: float, seed: int) -> Returns:
    """Run so many clients, in a namespace of their own."""
    with alone() as place:
        port = fanout_real.start(place, "planet")
        job = VisitsJob(place.address, port, receivers, TURNS, wait, seed)
        said = _said(place, job)
    found = Returns(seed, said["published"])
    for attached, events in zip(said["attached"], said["events"], strict=True):
        found.enter(attached, events)
    return found


def _said(place: Namespace, job: VisitsJob) -> dict[str, Any]:
    done = place.run([*_PROGRAM, json.dumps(asdict(job))], check=False)
    if done.returncode:
        raise EndError(f"the clients ended with {done.returncode}: {done.stderr.strip()}")
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def delays(runs: Sequence[Returns]) -> list[float]:
    """Return all delays of some runs."""
    return [one for run in runs for receiver in run.delays for one in receiver]


def findings(found: Mapping[int, Sequence[Returns]], note: str) -> Findings:
    """Return what all of it comes to.

    Raises:
        TooShortError: So little time was between two changes that no event came in it.
    """
    late = {count: delays(runs) for count, runs in found.items()}
    if not all(late.values()):
        raise TooShortError("no event came while clients were attached: give it more --seconds")
    means = ", ".join(f"{count}: {np.mean(one) * 1e3:.2f} ms" for count, one in late.items())
    worst = max(float(np.mean(one)) for one in late.values())
    longest = max(max(one) for one in late.values())
    asked = sum(count * TURNS * len(runs) for count, runs in found.items())
    got = sum(len(one) for one in late.values())
    lost = sum(run.lost for runs in found.values() for run in runs)
    doubled = sum(run.doubled for runs in found.values() for run in runs)
    rows = [
        Row("from attach to the first buffered event, mean by clients",
            f"grows with the clients {READ_OFF}", means, f"at most {MEAN_MOST * 1e3:g} ms",
            worst <= MEAN_MOST),
        Row("the longest", "less than one second", f"{longest * 1e3:.2f} ms",
            f"at most {LONGEST_MOST:g} s", longest <= LONGEST_MOST),
        Row("returns that got a buffered event", "", f"{got:,} of {asked:,}", "all", got == asked),
        Row("events lost, doubled or out of order", "", f"{lost}, {doubled}", "none",
            not lost and not doubled),
    ]  # fmt: skip
    data = [
        (count, run.seed, place, turn, one)
        for count, runs in found.items()
        for run in runs
        for place, receiver in enumerate(run.delays)
        for turn, one in enumerate(receiver)
    ]
    table = columns(("clients", "seed", "client", "turn", "delay_s"), data)
    return Findings(rows, {"delays": table}, partial(_draw, found), [note])


def _draw(found: Mapping[int, Sequence[Returns]], figure: Figure) -> None:
    """Draw the mean, and as bars the deviation across clients, as the papers do."""
    axes: Any = figure.subplots()
    each = [
        [float(np.mean(receiver)) * 1e3 for run in runs for receiver in run.delays]
        for runs in found.values()
    ]
    axes.errorbar(
        list(found), [np.mean(one) for one in each], [np.std(one) for one in each], fmt="o-",
        capsize=4, label="mean, and the deviation across clients",
    )  # fmt: skip
    axes.set_xlabel("clients that come and go")
    axes.set_ylabel("from attach to the first buffered event (ms)")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.legend()


EXPERIMENT: Final = Experiment(
    "reattach",
    "PACK Fig. 9",
    "1 to 16 clients each detach and attach 20 times",
    simulate,
    measure,
)
