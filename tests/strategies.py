"""What Hypothesis draws for the tests of every room: values, schemas, rows, events and blocks."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from heliograph.event.block import Block, block_of
from heliograph.event.event import Event
from heliograph.event.schema import RESERVED, Attribute, Schema
from heliograph.event.types import INT64_MAX, INT64_MIN, Type, restore

if TYPE_CHECKING:
    from collections.abc import Sequence

# How properties are tested: the same examples on every run, and no clock that a busy host upsets.
PROPERTY: Final = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)

_TEXTS: Final = ["", "0", "NaN", "true", "ä,ö\n", '"', " x ", "\x00", "😀", "2026-01-31"]
_FLOATS: Final = [0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 2.0**53 + 2, 0.1]
_INTS: Final = [0, 1, -1, 2**53 + 1, INT64_MIN, INT64_MAX]
_MOMENTS: Final = [
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime.min.replace(tzinfo=UTC),
    datetime.max.replace(tzinfo=UTC),
]

_SCALARS: Final[dict[Type, st.SearchStrategy[Any]]] = {
    Type.BOOL: st.booleans(),
    Type.INT64: st.sampled_from(_INTS) | st.integers(INT64_MIN, INT64_MAX) | st.integers(-9, 9),
    Type.FLOAT64: st.sampled_from(_FLOATS) | st.floats() | st.integers(-9, 9).map(float),
    Type.STRING: st.sampled_from(_TEXTS) | st.text(max_size=12),
    Type.BYTES: st.binary(max_size=12),
    Type.TIMESTAMP: st.sampled_from(_MOMENTS) | st.datetimes(timezones=st.just(UTC)),
}


def values_of(kind: Type) -> st.SearchStrategy[Any]:
    """Draw values as an event has them: a timestamp is a datetime, a list a Python list."""
    if kind.is_list:
        return st.lists(_SCALARS[kind.element], max_size=4)
    return _SCALARS[kind]


def types() -> st.SearchStrategy[Type]:
    """Draw the type of an attribute."""
    return st.sampled_from(list(Type))


def tags() -> st.SearchStrategy[str]:
    """Draw tags, the strange ones among them too."""
    plain = st.sampled_from(["a", "b", "PulseRate", "a.b", "time", " x", 'q"', "ä,ö"])
    return (plain | st.text(min_size=1, max_size=6)).filter(lambda tag: tag not in RESERVED)


@st.composite
def schemas(draw: st.DrawFn, max_size: int = 5, min_size: int = 0) -> Schema:
    """Draw a declared schema; `_opaque` may not be among its tags only by great luck."""
    kinds = draw(st.dictionaries(tags(), types(), min_size=min_size, max_size=max_size))
    return Schema(tuple(Attribute(tag, kind) for tag, kind in kinds.items()), declared=True)


@st.composite
def values_for(draw: st.DrawFn, schema: Schema) -> dict[str, Any]:
    """Draw the values of one event of a stream, with some attributes absent."""
    return {
        one.tag: draw(values_of(one.type)) for one in schema.attributes if draw(st.integers(0, 4))
    }


def rows_for(schema: Schema) -> st.SearchStrategy[list[Any]]:
    """Draw one row as `Schema.row` makes it: stored values in order, None where one is absent."""
    return values_for(schema).map(schema.row)


@st.composite
def numbers(draw: st.DrawFn, count: int) -> list[int]:
    """Draw rising numbers, mostly without gaps, else with some."""
    number = draw(st.integers(1, 2**40))
    if draw(st.booleans()):
        return list(range(number, number + count))
    gaps = draw(st.lists(st.integers(1, 9), min_size=count, max_size=count))
    return [number := number + gap for gap in gaps]


def times() -> st.SearchStrategy[int]:
    """Draw times of events in microseconds, within the years that a datetime can hold."""
    near = st.integers(1_700_000_000_000_000, 1_700_000_100_000_000)
    return near | st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)


@st.composite
def blocks(
    draw: st.DrawFn,
    schema: Schema,
    *,
    min_size: int = 1,
    max_size: int = 12,
    stream: str = "s",
    epoch: int = 1,
) -> Block:
    """Draw a block of compact rows, with or without a presence bitmap."""
    rows = draw(st.lists(rows_for(schema), min_size=min_size, max_size=max_size))
    when = draw(st.lists(times(), min_size=len(rows), max_size=len(rows)))
    return block_of(stream, epoch, draw(numbers(len(rows))), when, rows, schema)


@st.composite
def events(draw: st.DrawFn, schema: Schema, *, max_size: int = 12) -> list[Event]:
    """Draw some events of one stream in their order, over one or two epochs."""
    found: list[Event] = []
    for epoch in range(1, draw(st.integers(1, 2)) + 1):
        count = draw(st.integers(1, max_size))
        found += [
            Event("s", epoch, number, draw(times()), draw(values_for(schema)))
            for number in draw(numbers(count))
        ]
    return found


def same(one: Any, other: Any) -> bool:
    """Say whether two values are the same to the last bit: NaN is NaN, 0.0 is not -0.0 nor 0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, Event):
        return one.position == other.position and all(
            same(getattr(one, name), getattr(other, name)) for name in ("stream", "time", "values")
        )
    return bool(one == other)


def restored(row: Sequence[Any], schema: Schema) -> dict[str, Any]:
    """Return the values of an event from its row: what `Schema.row` made it of."""
    return {
        one.tag: restore(value, one.type)
        for one, value in zip(schema.attributes, row, strict=True)
        if value is not None
    }
