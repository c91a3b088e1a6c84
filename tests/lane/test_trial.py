"""Trials: the measures of PACK's Figure 8, in bounded space."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.block import Block, block_of
from heliograph.event.errors import UsageError
from heliograph.event.schema import Schema
from heliograph.lane.queue import NANOSECONDS, Rate
from heliograph.lane.trial import POINTS_MAX, Latencies, Outcome, Points, Trial, Windows
from heliograph.policy import build
from heliograph.policy.limits import Limits

SCHEMA = Schema.declare({"v": "float64"})
RANDOM = build.policy(None, build.random(0.1), build.random(0.25), build.random(0.5))


def offer(trial: Trial, count: int, gap: float, start: int = 1) -> None:
    for at in range(start, start + count, 500):
        numbers = list(range(at, min(at + 500, start + count)))
        times = [round(number * gap * 1e6) for number in numbers]
        rows = [[float(number)] for number in numbers]
        trial.offer(block_of("s", 1, numbers, times, rows, SCHEMA), SCHEMA)


def test_figure_8_a_policy_has_less_latency_than_drop_tail_at_the_same_loss() -> None:
    # PACK 6: a third more arrives than can leave; DropTail has a nearly constant, full latency.
    trial = Trial(Limits(100), Rate(25))
    ours = trial.add_policy("pack", RANDOM)
    tail = trial.add_broker("oldest")
    offer(trial, 12_000, 0.03)
    trial.finish()

    assert 0.24 < tail.loss_fraction < 0.26
    assert abs(ours.loss_fraction - tail.loss_fraction) < 0.02
    assert (ours.latency_mean or 0) < 0.65 * (tail.latency_mean or 0)
    assert set(ours.levels) >= {1, 2, 3}
    assert ours.busy_fraction > 0.99


def test_figure_8_aim_has_half_the_latency_of_drop_tail_and_changes_levels_less() -> None:
    trial = Trial(Limits(100), Rate(25))
    ladder = trial.add_policy("ladder", RANDOM, "ladder")
    aim = trial.add_policy("aim", RANDOM, "aim")
    tail = trial.add_broker("oldest")
    offer(trial, 12_000, 0.03)
    trial.finish()

    assert (aim.latency_mean or 0) < 0.5 * (tail.latency_mean or 0)
    assert aim.changes / aim.packs < ladder.changes / ladder.packs
    assert aim.loss_fraction < tail.loss_fraction + 0.02


def test_everything_offered_is_delivered_dropped_or_filtered() -> None:
    trial = Trial(Limits(16), Rate(5))
    policy = build.policy("v", build.every(2), always=build.gt(100))
    got: list[Block] = []
    one = trial.add_policy(
        "p", policy, sink=lambda e: got.append(e) if isinstance(e, Block) else None
    )
    offer(trial, 400, 0.05)
    trial.finish()

    assert one.filtered == 100
    assert one.told == one.dropped
    assert one.delivered + one.dropped + one.filtered == one.offered == 400
    assert len(got) == one.delivered
    assert one.loss_fraction == one.dropped / 300


def test_latency_is_from_the_events_time_to_its_delivery() -> None:
    trial = Trial(Limits(16), Rate(1))
    one = trial.add_policy("p", RANDOM)
    offer(trial, 3, 0.0)
    trial.finish()

    assert one.latency_mean == 2 * NANOSECONDS
    assert one.latency_max == 3 * NANOSECONDS
    assert one.quantile(0.5) == pytest.approx(2 * NANOSECONDS, rel=0.01)
    assert one.quantile(1) == 3 * NANOSECONDS


def test_time_never_runs_backwards() -> None:
    trial = Trial(Limits(16), Rate(10))
    one = trial.add_policy("p", RANDOM)
    trial.offer(block_of("s", 1, [1, 2], [5_000_000, 1_000_000], [[1.0], [2.0]], SCHEMA), SCHEMA)
    trial.finish()

    assert one.delivered == 2
    assert [latency for _, latency in one.latency.points] == [0.1, 0.2]


def test_an_outcome_of_nothing_has_no_latency() -> None:
    one = Outcome("nothing")

    assert one.latency_mean is None
    assert one.quantile(0.5) is None
    assert one.loss_fraction == one.busy_fraction == 0


def test_names_that_do_not_exist_are_refused() -> None:
    trial = Trial(Limits(16), Rate(10))

    with pytest.raises(UsageError, match="no controller 'staircase': ladder or aim"):
        trial.add_policy("p", RANDOM, "staircase")
    with pytest.raises(UsageError, match="no broker behaviour 'random': newest or oldest"):
        trial.add_broker("random")


def test_points_are_thinned_evenly_and_bounded() -> None:
    points = Points()
    for n in range(100_000):
        points.add(n, -n)

    assert len(points.points) <= POINTS_MAX
    gaps = {b[0] - a[0] for a, b in zip(points.points, points.points[1:], strict=False)}
    assert len(gaps) == 1
    assert points.points[0] == (0, 0)


def test_what_a_pack_drops_is_lost_in_the_window_in_which_it_was_offered() -> None:
    trial = Trial(Limits(64), Rate(10))
    one = trial.add_policy("p", RANDOM)
    tail = trial.add_broker("oldest")
    offer(trial, 4_000, 0.05)
    trial.finish()

    for outcome in (one, tail):
        shares = [share for _, share in outcome.loss.loss()]
        assert all(0 <= share <= 1 for share in shares)
        assert sum(shares) / len(shares) == pytest.approx(outcome.loss_fraction, abs=0.02)


def test_the_windows_of_a_slow_stream_hold_events_enough_to_have_a_share() -> None:
    windows = Windows()
    for number in range(200):
        windows.add(number * 300.0, offered=1)

    windows.loss()
    assert windows.offered / len(windows.counts) >= 10


@given(st.lists(st.integers(1, 10**14), min_size=1, max_size=200), st.floats(0.01, 1))
def test_quantiles_are_within_one_percent(latencies: list[int], rank: float) -> None:
    found = Latencies()
    for latency in latencies:
        found.add(latency)

    exact = sorted(latencies)[max(0, math.ceil(rank * len(latencies) - 1e-9) - 1)]
    assert found.quantile(rank) == pytest.approx(exact, rel=0.012)
    assert (found.total, found.longest) == (sum(latencies), max(latencies))


def test_windows_widen_when_there_are_too_many() -> None:
    windows = Windows()
    for second in range(3 * POINTS_MAX):
        windows.add(second, offered=4)
        windows.add(second, dropped=1)

    assert windows.seconds == 4
    loss = windows.loss()
    assert len(loss) <= POINTS_MAX
    assert {share for _, share in loss} == {0.25}
    assert loss[1][0] == 4
