"""Explain: shares, shadows and advice, on streams where the right answer is plain."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from heliograph.event.block import block_of
from heliograph.event.columns import Columns
from heliograph.event.errors import PolicyError
from heliograph.event.schema import Schema
from heliograph.policy import build
from heliograph.policy.binding import bind
from heliograph.policy.explain import Explainer, Explanation

if TYPE_CHECKING:
    from heliograph.policy.model import Policy

SCHEMA = Schema.declare({"v": "int64", "text": "string"})


def explain(policy: Policy, values: list[int], lane: int = 100, block: int = 33) -> Explanation:
    ticks = itertools.count(0, 1_000)
    explainer = Explainer(policy, lane, lambda: next(ticks))
    for at in range(0, len(values), block):
        part = values[at : at + block]
        numbers = list(range(at + 1, at + 1 + len(part)))
        rows = [[value, "ab"[value % 2]] for value in part]
        explainer.offer(block_of("s", 1, numbers, numbers, rows, SCHEMA), SCHEMA)
    return explainer.finish()


def test_a_filter_alone_sees_everything_and_in_its_place_what_is_left() -> None:
    policy = build.policy("v", build.lt(50), build.within(0, 9))
    found = explain(policy, [n % 100 for n in range(1_000)])
    first, second = found.filters

    assert (first.alone, first.met, first.dropped) == (500, 1_000, 500)
    assert (second.alone, second.met, second.dropped) == (100, 500, 100)
    assert (second.share_alone, second.share) == (0.1, 0.2)
    assert found.kept == [500, 400]
    assert (found.events, found.lanes) == (1_000, 10)


def test_lanes_are_cut_alike_however_the_blocks_are() -> None:
    policy = build.policy("v", build.guniq())
    values = [n % 7 for n in range(505)]

    drops = [explain(policy, values, 100, block).filters[0].dropped for block in (1, 33, 100, 505)]
    assert drops == [505 - 5 * 7 - 5] * 4


def test_a_filter_that_never_acts_is_named() -> None:
    found = explain(build.policy("v", build.within(1_000, 2_000)), [1, 2, 3])

    assert found.filters[0].note == "never acts"
    assert found.advice == [
        "level 1 WITHIN never acts on this trace: check its values, or delete it",
        "no filters of one level could change places, and the order of the levels is yours",
    ]


def test_a_shadowed_filter_is_named_with_what_shadows_it() -> None:
    policy = build.policy("v", build.within(0, 50), build.within(10, 20))
    found = explain(policy, [n % 100 for n in range(300)])

    assert [one.note for one in found.filters] == ["", "shadowed by level 1 WITHIN"]
    assert "adds cost and drops almost nothing more" in found.advice[0]


def test_of_two_earlier_filters_the_one_that_shadows_is_named() -> None:
    policy = build.policy("v", build.within(90, 99), build.within(0, 50), build.within(10, 20))
    found = explain(policy, [n % 100 for n in range(300)])

    assert found.filters[2].note == "shadowed by level 2 WITHIN"


def test_an_always_level_decides_as_it_does_on_arrival() -> None:
    policy = build.policy(None, always=build.random(0.5))
    found = explain(policy, list(range(400)))
    block = block_of("s", 1, list(range(1, 401)), [0] * 400, [[0, "a"]] * 400, SCHEMA)
    passed = bind(policy, SCHEMA).always[0].run(Columns([block], SCHEMA), None, 0)

    assert found.kept == [len(passed)]


def test_a_filter_that_still_drops_much_of_what_it_meets_is_not_shadowed() -> None:
    policy = build.policy("v", build.within(0, 95), build.within(0, 97))
    found = explain(policy, [n % 100 for n in range(300)])

    assert found.filters[1].note == ""


def test_a_cheaper_order_is_advised_only_among_filters_that_judge_alone() -> None:
    values = [n % 100 for n in range(300)]
    alone = build.policy("v", [build.within(0, 9), build.within(0, 90)])
    across = build.policy("v", build.within(0, 9), build.within(0, 90))
    neighbours = build.policy("v", [build.within(0, 9), build.every(2)])

    assert any("cheaper order" in line for line in explain(alone, values).advice)
    assert not any("cheaper order" in line for line in explain(across, values).advice)
    assert not any("cheaper order" in line for line in explain(neighbours, values).advice)


def test_an_order_that_saves_nothing_is_not_advised() -> None:
    values = [n % 100 for n in range(300)]
    best_first = build.policy("v", [build.within(3, 96), build.within(0, 2), build.eq(1)])

    assert explain(best_first, values).advice[-1].startswith("no other order")


def test_where_no_filters_could_change_places_that_is_said() -> None:
    values = [n % 100 for n in range(300)]
    one_a_level = build.policy("v", build.within(0, 9), build.within(0, 90))
    across_a_run = build.policy("v", [build.within(0, 9), build.every(2), build.within(0, 90)])

    said = ["no filters of one level could change places, and the order of the levels is yours"]
    assert explain(one_a_level, values).advice == explain(across_a_run, values).advice == said


def test_the_cost_is_per_event_that_a_filter_meets() -> None:
    found = explain(build.policy("v", build.gt(-1)), list(range(100)), lane=100, block=100)

    assert found.filters[0].cost_per_event == 10  # One tick of 1,000 ns over 100 events.


def test_an_always_level_is_level_0() -> None:
    policy = build.policy("v", build.latest(5), always=build.gt(49))
    found = explain(policy, [n % 100 for n in range(200)], lane=200)

    assert [(one.level, one.dropped) for one in found.filters] == [(0, 100), (1, 95)]
    assert found.kept == [100, 5]


def test_a_policy_that_does_not_fit_the_trace_is_refused() -> None:
    with pytest.raises(PolicyError, match="attribute text is string; this filter applies to int64"):
        explain(build.policy("text", build.delta(1)), [1])


def test_a_trace_of_nothing_explains_nothing() -> None:
    assert explain(build.policy("v", build.gt(1)), []).events == 0
