from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from heliograph.event.block import block_of
from heliograph.event.columns import Columns
from heliograph.event.digest import Digest
from heliograph.event.errors import PolicyError
from heliograph.event.schema import Schema
from heliograph.event.types import Type
from heliograph.policy.binding import bind
from heliograph.policy.catalogue import DIGESTERS, FILTERS
from heliograph.policy.document import loads
from heliograph.policy.pack import Held, pack
from policy.runs import bound, drops, events
from policy.strategies_policy import block

VALUES: dict[Type, Any] = {Type.BOOL: True, Type.TIMESTAMP: "2026-01-01", Type.STRING: "x"}
MADE: list[dict[str, Any]] = [
    {"name": "GT", "attribute": "v", "value": 4},
    {"name": "WITHIN", "attribute": "v", "low": 2, "high": 5},
    {"name": "UNIQ", "attribute": "v", "by": "w"},
    {"name": "GUNIQ", "attribute": "v"},
    {"name": "DELTA", "attribute": "v", "change": 3},
    {"name": "LATEST", "window": 5},
    {"name": "LATEST", "window": 5, "by": "w"},
    {"name": "EVERY", "n": 3},
    {"name": "EVERY", "n": 3, "action": "drop"},
    {"name": "RANDOM", "fraction": 0.5},
    {"name": "MATCH", "attribute": "w", "pattern": "a"},
]


def document(name: str, kind: Type) -> dict[str, Any]:
    """Return a filter whose parameters fit a type as well as any can."""
    value = VALUES.get(kind.element, 1)
    given = {"value": value, "values": [value], "low": value, "high": value, "pattern": "a"}
    given |= {"change": 1, "window": 1, "n": 1, "fraction": 0.5}
    wanted = {one.name: given[one.name] for one in FILTERS[name].parameters if one.required}
    return {"name": name, "attribute": "a"} | wanted


@pytest.mark.parametrize("name", sorted(FILTERS))
@pytest.mark.parametrize("kind", list(Type), ids=lambda kind: kind.value)
def test_a_filter_binds_to_the_types_it_applies_to_and_to_no_others(name: str, kind: Type) -> None:
    schema = Schema.declare({"a": kind})
    if kind in FILTERS[name].types:
        assert not bound(document(name, kind), schema=schema).levels[0][0].waiting
        return
    with pytest.raises(PolicyError, match=f"attribute a is {kind.value}; this filter applies to"):
        bound(document(name, kind), schema=schema)


@pytest.mark.parametrize("name", sorted(DIGESTERS))
@pytest.mark.parametrize("kind", list(Type), ids=lambda kind: kind.value)
def test_a_digester_binds_to_the_types_it_says_something_of(name: str, kind: Type) -> None:
    schema = Schema.declare({"a": kind})
    summary = {"digesters": [{"name": name, "attribute": "a"}]}
    if kind in DIGESTERS[name].types:
        one = bound(schema=schema, summary=summary)
        lane = Held([block(events(None, None), schema)])
        (digest,) = pack(lane, one, 1).entries
        assert digest.count == 2
        return
    with pytest.raises(PolicyError, match=f"attribute a is {kind.value}, of which {name} says"):
        bound(schema=schema, summary=summary)


def refused(text: str, **types: str) -> str:
    with pytest.raises(PolicyError) as caught:
        bind(loads(text), Schema.declare(types))
    return str(caught.value)


def test_the_reason_names_line_filter_attribute_and_types() -> None:
    text = "levels:\n- filters:\n  - {name: DELTA, attribute: who, change: 5}"
    assert refused(text, who="string") == (
        "line 3: DELTA: attribute who is string; this filter applies to int64, float64"
    )


def test_an_attribute_that_a_stream_does_not_declare_is_refused() -> None:
    text = "levels:\n- filters:\n  - {name: UNIQ, attribute: PulseRat}"
    reason = "line 3: UNIQ: the stream declares no attribute PulseRat; it has PulseRate, SpO2"
    assert refused(text, PulseRate="int64", SpO2="int64") == reason
    assert refused(text).endswith("it has none")
    by = "levels:\n- filters:\n  - {name: LATEST, window: 1, by: who}"
    assert "declares no attribute who" in refused(by, a="int64")
    summary = "summary: {digesters: [{name: MAX, attribute: b}]}"
    assert "declares no attribute b" in refused(summary, a="int64")


def test_a_parameter_that_does_not_fit_the_type_is_refused() -> None:
    text = "levels:\n- filters:\n  - {name: GT, attribute: a, value: high}"
    assert refused(text, a="int64") == (
        "line 3: GT: 'high' cannot be compared with attribute a, which is int64"
    )
    text = "levels:\n- filters:\n  - {name: WITHIN, attribute: a, low: '9', high: '10'}"
    assert "low 9 is above high 10" in refused(text, a="string")
    bind(loads(text), Schema.declare({"a": "int64"}))


def test_an_attribute_that_an_open_schema_does_not_have_yet_is_waited_for() -> None:
    schema = Schema()
    one = bound(
        {"name": "GT", "attribute": "a", "value": "x"},
        {"name": "LATEST", "window": 1, "by": "who"},
        {"name": "RANDOM", "fraction": 1, "attribute": "a"},
        schema=schema,
        summary={"digesters": [{"name": "MAX", "attribute": "b"}, {"name": "COUNT"}]},
    )
    assert one.waits_for() == ("a", "who", "b")
    packed = pack(Held([block(events(1, 2), schema)]), one, 3)
    assert [entry.count for entry in packed.entries] == [2]
    (digest,) = pack(Held([block(events(1, 2), schema)]), one, 4).entries
    assert isinstance(digest, Digest)
    assert [(part.digester, part.known) for part in digest.parts] == [("MAX", 0), ("COUNT", 2)]


def test_when_the_attribute_comes_the_policy_is_bound_again_or_refused() -> None:
    policy = loads("levels: [{filters: [{name: GT, attribute: a, value: x}]}]")
    schema, _ = Schema().absorb({"a": "y"})
    assert bind(policy, schema).waits_for() == ()
    number, _ = Schema().absorb({"a": 5})
    with pytest.raises(PolicyError, match="'x' cannot be compared with attribute a"):
        bind(policy, number)


def test_a_filter_by_a_tag_that_has_not_come_judges_nothing() -> None:
    schema, _ = Schema().absorb({"a": 1})
    one = bound({"name": "UNIQ", "attribute": "a", "by": "who"}, schema=schema)
    assert one.waits_for() == ("who",)
    assert drops(one, [block(events(1, 1), schema)]) == [False, False]


def test_by_an_absent_value_or_nan_passes_untouched() -> None:
    schema = Schema.declare({"a": "float64"})
    one = bound({"name": "GUNIQ", "attribute": "a", "by": "a"}, schema=schema)
    found = events(1.0, math.nan, None, 1.0, math.nan, None)
    assert drops(one, [block(found, schema)]) == [False, False, False, True, False, False]


def test_a_policy_that_was_bound_stays_bound_when_its_attribute_is_widened() -> None:
    large = 2**53 + 1
    narrow = Schema.declare({"a": "int64"})
    one = bound({"name": "EQ", "attribute": "a", "value": large}, schema=narrow)
    assert drops(one, [block(events(large - 1, large), narrow)]) == [True, False]
    wide = narrow.evolve({"a": Type.FLOAT64})
    again = bind(one.policy, wide)
    assert drops(again, [block(events(large), narrow)]) == [False]
    assert drops(again, [block(events(float(large), 5.0), wide)]) == [False, True]


def test_a_text_may_equal_what_looks_like_a_number_but_has_no_order_beside_it() -> None:
    schema = Schema.declare({"a": "string"})
    one = bound({"name": "EQ", "attribute": "a", "value": 404}, schema=schema)
    assert drops(one, [block(events("404", "405"), schema)]) == [False, True]
    with pytest.raises(PolicyError, match="50 cannot be compared with attribute a"):
        bound({"name": "GT", "attribute": "a", "value": 50}, schema=schema)


def test_always_filters_have_the_level_0_and_the_others_count_from_1() -> None:
    text = """
    levels:
    - {always: true, filters: [{name: RANDOM, fraction: 0.5}, {name: RANDOM, fraction: 0.5}]}
    - filters: [{name: RANDOM, fraction: 0.5}]
    - filters: [{name: RANDOM, fraction: 0.5}]
    """
    one = bind(loads(text), Schema())
    assert [found.place for found in one.always] == [(0, 1), (0, 2)]
    assert [chain[0].place for chain in one.levels] == [(1, 1), (2, 1)]
    assert one.top == 2


@pytest.mark.parametrize("one", MADE, ids=lambda one: str(one["name"]))
@pytest.mark.parametrize("count", [0, 1, 40])
def test_the_mask_of_a_filter_and_the_places_that_it_leaves_are_the_same(
    one: dict[str, Any], count: int
) -> None:
    schema = Schema.declare({"v": "int64", "w": "string"})
    values = [None if n % 7 == 0 else n % 10 for n in range(count)]
    numbers = list(range(1, count + 1))
    rows = [[value, "ab"[place % 2]] for place, value in enumerate(values)]
    held = [block_of("s", 1, numbers, [0] * count, rows, schema)] if count else []
    (filter_,) = bound(one, schema=schema).levels[0]

    mask = filter_.mask(Columns(held, schema), 3)

    assert mask.dtype == np.bool_
    assert np.array_equal(mask.nonzero()[0], filter_.run(Columns(held, schema), None, 3))
