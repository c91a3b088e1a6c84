"""A trial of your own: the ladder beside aim, under bursts that the lane can or cannot absorb."""

from __future__ import annotations

import random

from heliograph.event.block import block_of
from heliograph.event.schema import Schema
from heliograph.lane.queue import Rate
from heliograph.lane.trial import Outcome, Trial
from heliograph.policy import build
from heliograph.policy.limits import Limits

EVENTS = 20_000
RATE = 100
SCHEMA = Schema.declare({"value": "float64"})
POLICY = build.policy(None, build.random(0.1), build.random(0.25), build.random(0.5))


def times(rng: random.Random) -> list[int]:
    """Return bursts at three times the rate and calm stretches at half of it, in microseconds."""
    now = 0.0
    result: list[int] = []
    while len(result) < EVENTS:
        speed = RATE * rng.choice((3, 0.5))
        for _ in range(rng.randrange(20, 400)):
            now += rng.expovariate(speed)
            result.append(round(now * 1e6))
    return result[:EVENTS]


def main() -> None:
    """Let both controllers have the same events."""
    rng = random.Random(7)
    trial = Trial(Limits(entries=200), Rate(RATE))
    outcomes: list[Outcome] = [
        trial.add_policy(name, POLICY, controller=name) for name in ("ladder", "aim")
    ]
    outcomes.append(trial.add_broker("oldest"))
    moments = times(rng)
    for start in range(0, EVENTS, 1_000):
        piece = moments[start : start + 1_000]
        numbers = range(start + 1, start + 1 + len(piece))
        rows = [[rng.gauss(20, 3)] for _ in numbers]
        trial.offer(block_of("load", 1, numbers, piece, rows, SCHEMA), SCHEMA)
    trial.finish()
    for one in outcomes:
        mean = (one.latency_mean or 0) / 1e9
        levels = dict(sorted(one.levels.items()))
        print(f"{one.name:6}  loss {one.loss_fraction:6.1%}  latency {mean:.2f} s  packs {levels}")
    whole = all(one.delivered + one.dropped == one.offered == EVENTS for one in outcomes)
    print(f"every event delivered or counted: {whole}")


if __name__ == "__main__":
    main()
