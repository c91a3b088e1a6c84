"""The ladder beside its rival: over-dropping, latency and stability on three loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heliograph.event.block import block_of
from heliograph.event.schema import Schema
from heliograph.lane.queue import Rate
from heliograph.lane.trial import Trial
from heliograph.policy import build
from heliograph.policy.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.lane.trial import Outcome
    from report import Report

EVENTS = 60_000
CAPACITY = 128
RATE = 25.0  # Events a second that can depart.
SCHEMA = Schema.declare({"v": "float64"})
LEVELS = [build.random(fraction) for fraction in (0.10, 0.25, 0.50)]


def steady(rng: np.random.Generator) -> np.ndarray:
    """Return gaps between events: one third over, as in PACK's Figure 8."""
    del rng
    return np.full(EVENTS, 1 / (RATE * 4 / 3))


def bursty(rng: np.random.Generator) -> np.ndarray:
    """Return gaps of bursts of random length at 4 times the rate, with pauses; 1.2 over all."""
    gaps: list[float] = []
    while len(gaps) < EVENTS:
        burst = int(rng.geometric(1 / 200))
        gaps += [1 / (RATE * 4)] * burst
        gaps[-1] += burst * (1 / (1.2 * RATE) - 1 / (4 * RATE)) * rng.exponential(1.0)
    return np.array(gaps[:EVENTS])


def square(rng: np.random.Generator) -> np.ndarray:
    """Return gaps of a square wave: a minute at twice the rate, a minute at half of it."""
    del rng
    gaps: list[float] = []
    while len(gaps) < EVENTS:
        gaps += [1 / (RATE * 2)] * int(RATE * 2 * 60) + [1 / (RATE / 2)] * int(RATE / 2 * 60)
    return np.array(gaps[:EVENTS])


def run(gaps: np.ndarray) -> dict[str, Outcome]:
    """Run both controllers and a tail-dropping queue over one load."""
    trial = Trial(Limits(entries=CAPACITY), Rate(RATE))
    policy = build.policy(None, *LEVELS)
    outcomes = {name: trial.add_policy(name, policy, name) for name in ("ladder", "aim")}
    outcomes["oldest"] = trial.add_broker("oldest")
    times = (np.cumsum(gaps) * 1e6).astype(np.int64).tolist()
    for at in range(0, EVENTS, 1_000):
        piece = times[at : at + 1_000]
        numbers = list(range(at + 1, at + 1 + len(piece)))
        trial.offer(
            block_of("load", 1, numbers, piece, [[float(n)] for n in numbers], SCHEMA), SCHEMA
        )
    trial.finish()
    return outcomes


def controllers(report: Report, _rows: int) -> None:
    """Measure both controllers on the three loads."""
    report.section(
        "Controllers",
        f"{EVENTS:,} events into a lane of {CAPACITY}, drained at {RATE:g} events/s; levels RANDOM "
        "10, 25, 50 %. Over-dropped is what was lost beyond a tail-dropping queue of the same "
        "capacity (`oldest`), which never drops while there is room. Level changes are per 100 "
        "packs; the spread is the standard deviation of the fraction that a pack takes.",
    )
    loads: list[Callable[[np.random.Generator], np.ndarray]] = [steady, bursty, square]
    rows = []
    for load in loads:
        outcomes = run(load(np.random.default_rng(11)))
        least = outcomes["oldest"]
        for name, one in outcomes.items():
            taken = [fraction for _, fraction in one.taken.points]
            mean, base = one.latency_mean or 0, least.latency_mean or 1
            rows.append(
                [
                    load.__name__,
                    name,
                    f"{one.loss_fraction:.2%}",
                    f"{(one.dropped - least.dropped) / one.offered:+.2%}",
                    f"{mean / 1e9:.2f} s",
                    f"{mean / base:.2f}",
                    f"{(one.quantile(0.99) or 0) / 1e9:.2f} s",
                    one.packs,
                    f"{100 * one.changes / one.packs:.0f}" if one.packs else "-",
                    f"{np.std(taken):.3f}" if taken else "-",
                ]
            )
    report.table(
        ["load", "controller", "loss", "over-dropped", "latency", "/ oldest", "p99", "packs",
         "level changes", "spread"],
        rows,
    )  # fmt: skip
