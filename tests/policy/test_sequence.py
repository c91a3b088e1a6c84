from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heliograph.event.block import Block
from heliograph.event.schema import Schema
from heliograph.event.types import INT64_MAX, INT64_MIN, Type
from heliograph.policy import sequence
from heliograph.policy.catalogue import FILTERS
from policy import twin
from policy.runs import bound, drops, events, judged
from policy.strategies_policy import block, cut, filters, streams
from policy.twin import One

TWO = {"who": Type.STRING, "a": Type.INT64}


def kept_by(document: dict[str, Any], *rows: tuple[str | None, int | None]) -> list[Any]:
    """Return what a filter of `a` by `who` keeps; the twin must agree."""
    schema = Schema.declare(TWO)
    found = [One(1, n, 0, {"who": who, "a": value}) for n, (who, value) in enumerate(rows, 1)]
    policy = bound(document | {"by": "who"}, schema=schema)
    drop = drops(policy, [block(found, schema)])
    assert drop == drops(policy, [block(found, schema, columns=True)])
    assert drop == twin.dropped_by(policy.policy.levels[0].filters[0], found, TWO)
    return [row for row, gone in zip(rows, drop, strict=True) if not gone]


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_a_filter_that_looks_at_the_order_does_as_its_twin(data: st.DataObject) -> None:
    stream = data.draw(streams(max_size=12))
    ordered = filters(stream.kinds, stream.pool).filter(lambda one: not FILTERS[one["name"]].alone)
    policy = bound(data.draw(ordered), schema=stream.schema)
    blocks = [entry for entry in data.draw(cut(stream.events, policy)) if isinstance(entry, Block)]
    one = policy.policy.levels[0].filters[0]
    assert drops(policy, blocks) == twin.dropped_by(one, stream.events, stream.kinds)


def test_first_and_last_keep_one_of_the_set_and_pass_all_others() -> None:
    values = ("x", "a", "b", "x", "a", None)
    assert judged({"name": "FIRST", "values": ["a", "b"]}, *values) == ["x", "a", "x", None]
    assert judged({"name": "LAST", "values": ["a", "b"]}, *values) == ["x", "x", "a", None]


def test_uniq_drops_neighbours_and_guniq_all_duplicates() -> None:
    assert judged({"name": "UNIQ"}, 1, 1, 2, 1, None, 1) == [1, 2, 1, None]
    assert judged({"name": "GUNIQ"}, 1, 1, 2, 1, None, 2) == [1, 2, None]


def test_equal_floats_are_equal_whatever_their_sign_or_place() -> None:
    assert judged({"name": "GUNIQ"}, 0.0, -0.0, math.inf, -math.inf, math.inf) == [
        0.0,
        math.inf,
        -math.inf,
    ]


def test_lists_are_equal_as_sets() -> None:
    assert judged({"name": "UNIQ"}, [1, 2], [2, 1, 1], [1]) == [[1, 2], [1]]


def test_delta_compares_with_the_last_kept_one_and_not_the_previous() -> None:
    """PACK 2 says "since the previous event"; by Solar 6.8 a slow drift must not vanish."""
    assert judged({"name": "DELTA", "change": 5}, 60, 63, 66, 69, 72) == [60, 66, 72]
    assert judged({"name": "DELTA", "change": 5}, 60.0, 64.9, 65.0, 60.0) == [60.0, 65.0, 60.0]


def test_delta_is_exact_for_int64() -> None:
    large = 2**53
    delta = {"name": "DELTA", "change": 1.5}
    assert judged(delta, large, large + 1, large + 2) == [large, large + 2]
    far = {"name": "DELTA", "change": 1e300}
    assert judged(far, INT64_MIN, INT64_MAX, 0) == [INT64_MIN]


def test_delta_drops_what_equals_a_number_so_large_that_change_is_rounded_away() -> None:
    delta = {"name": "DELTA", "change": 5}
    assert judged(delta, 1e17, 1e17, math.nextafter(1e17, 0)) == [1e17, math.nextafter(1e17, 0)]
    inf = math.inf
    assert judged(delta, inf, inf, 1e308, inf, -inf, -inf) == [inf, 1e308, inf, -inf]


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.integers(-99, 99), max_size=30), st.integers(1, 64), st.sampled_from([1.0, 0.125])
)
def test_delta_drops_by_the_difference_where_floats_are_exact(
    steps: list[int], change: int, unit: float
) -> None:
    kept: list[float] = []
    for value in (step * unit for step in steps):
        if not kept or abs(value - kept[-1]) >= change * unit:
            kept.append(value)
    values = np.array([step * unit for step in steps], np.float64)
    drop = sequence.delta(values, None, change * unit)
    assert values[~drop].tolist() == kept


def test_latest_keeps_the_last_events() -> None:
    assert judged({"name": "LATEST", "window": 2}, 1, 2, 3, 4) == [3, 4]
    assert judged({"name": "LATEST", "window": 2**62}, 1, 2) == [1, 2]
    assert judged({"name": "LATEST", "window": 1, "attribute": "a"}, 1, 2, None) == [2, None]


def test_every_keeps_or_drops_the_positions_of_its_step() -> None:
    assert judged({"name": "EVERY", "n": 3}, *range(8)) == [0, 3, 6]
    locator = {"name": "EVERY", "n": 3, "action": "drop"}
    assert judged(locator, *range(8)) == [1, 2, 4, 5, 7]
    assert judged({"name": "EVERY", "n": 1}, *range(3)) == [0, 1, 2]


def test_by_runs_the_filter_separately_for_each_value() -> None:
    rows = [("p", 1), ("q", 1), ("p", 1), ("q", 9), ("p", 8)]
    assert kept_by({"name": "UNIQ", "attribute": "a"}, *rows) == [
        ("p", 1),
        ("q", 1),
        ("q", 9),
        ("p", 8),
    ]
    assert kept_by({"name": "LATEST", "window": 1}, *rows) == [("q", 9), ("p", 8)]
    assert kept_by({"name": "EVERY", "n": 2}, *rows) == [("p", 1), ("q", 1), ("p", 8)]
    delta = {"name": "DELTA", "attribute": "a", "change": 5}
    assert kept_by(delta, *rows) == [("p", 1), ("q", 1), ("q", 9), ("p", 8)]
    first = {"name": "FIRST", "attribute": "a", "values": [1]}
    assert kept_by(first, *rows) == [("p", 1), ("q", 1), ("q", 9), ("p", 8)]
    last = {"name": "LAST", "attribute": "a", "values": [1, 9]}
    assert kept_by(last, *rows) == [("p", 1), ("q", 9), ("p", 8)]


def test_by_passes_events_that_lack_the_tag() -> None:
    rows = [(None, 1), ("p", 1), (None, 1), ("p", 1), ("p", None)]
    kept = [(None, 1), ("p", 1), (None, 1), ("p", None)]
    assert kept_by({"name": "GUNIQ", "attribute": "a"}, *rows) == kept


def test_by_a_float_passes_nan() -> None:
    schema = Schema.declare({"who": "float64"})
    policy = bound({"name": "LATEST", "window": 1, "by": "who"}, schema=schema)
    rows = events(math.nan, 0.0, -0.0, math.nan, tag="who")
    assert drops(policy, [block(rows, schema)]) == [False, True, False, False]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(INT64_MIN, INT64_MAX) | st.integers(0, 9), max_size=40))
def test_repeats_finds_the_first_of_each_key_by_table_and_by_sorting(keys: list[int]) -> None:
    wanted = [key in keys[:place] for place, key in enumerate(keys)]
    assert sequence.repeats(np.array(keys, np.int64)).tolist() == wanted


def test_groups_of_many_keys_stay_apart() -> None:
    groups = np.array([INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX])
    keys = np.array([INT64_MAX, INT64_MAX, INT64_MAX, INT64_MIN])
    assert sequence.guniq(keys, groups).tolist() == [False, False, True, False]


@pytest.mark.parametrize("name", sorted(name for name, one in FILTERS.items() if not one.alone))
@pytest.mark.parametrize("by", [None, "b"])
def test_every_filter_of_the_order_runs_on_an_empty_lane(name: str, by: str | None) -> None:
    schema = Schema.declare({"a": "int64", "b": "list<string>"})
    given = {"values": [1], "change": 1, "window": 1, "n": 2}
    wanted = {one.name: given[one.name] for one in FILTERS[name].parameters}
    document = {"name": name, "attribute": "a"} | wanted | ({"by": by} if by else {})
    policy = bound(document, schema=schema)
    assert drops(policy, []) == []
    assert drops(policy, [block(events(None, None), schema)]) == [False, False]
