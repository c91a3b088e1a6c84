"""Columns of a lane agree with a slow, obvious twin: plain lists of the events' values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event import arrow
from heliograph.event.block import Block, block_of
from heliograph.event.columns import Column, Columns
from heliograph.event.convert import events_of
from heliograph.event.errors import EventError
from heliograph.event.schema import Schema
from heliograph.event.types import TIME_MAX, Type, fit
from strategies import PROPERTY, blocks, same, schemas

if TYPE_CHECKING:
    from heliograph.event.event import Event


@st.composite
def lanes(draw: st.DrawFn) -> tuple[Schema, list[Block], list[Event]]:
    """Draw blocks of rows and of columns in any order, the older ones of an older schema."""
    schema = draw(schemas(min_size=1))
    made = draw(st.lists(blocks(schema, max_size=5), max_size=4))
    some = [arrow.to_columns(one, schema) if draw(st.booleans()) else one for one in made]
    if draw(st.booleans()):
        schema = schema.evolve(
            {tag: Type.FLOAT64 for tag in schema.index if schema.type_of(tag) is Type.INT64}
            | {"a new one": draw(st.sampled_from(list(Type)))}
        )
        made = draw(st.lists(blocks(schema, max_size=5), max_size=2))
        some += [arrow.to_columns(one, schema) if draw(st.booleans()) else one for one in made]
    return schema, some, [event for block in some for event in events_of(block, schema)]


def is_known(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def key(value: Any) -> Any:
    """Return what two values that are equal have in common."""
    return frozenset(value) if isinstance(value, list) else value


def known_of(column: Column, count: int) -> list[bool]:
    return [True] * count if column.known is None else column.known.tolist()


@PROPERTY
@given(lanes())
def test_a_column_knows_what_the_events_know(lane: tuple[Schema, list[Block], list[Event]]) -> None:
    schema, some, twin = lane
    columns = Columns(some, schema)

    assert columns.count == len(twin)
    for one in schema.attributes:
        column = columns.column(one.tag)
        wanted = [event.values.get(one.tag) for event in twin]
        known = known_of(column, len(twin))
        assert known == [is_known(value) for value in wanted]
        for value, want, sure in zip(column.tolist(), wanted, known, strict=True):
            assert not sure or same(value, fit(want, one.type))


@PROPERTY
@given(lanes())
def test_keys_are_equal_exactly_where_the_values_are(
    lane: tuple[Schema, list[Block], list[Event]],
) -> None:
    schema, some, twin = lane
    columns = Columns(some, schema)

    for one in schema.attributes:
        keys = columns.column(one.tag).keys().tolist()
        values = [event.values.get(one.tag) for event in twin]
        for here, mine in zip(keys, values, strict=True):
            for there, other in zip(keys, values, strict=True):
                if is_known(mine) and is_known(other) and not has_nan(mine):
                    assert (here == there) == (key(mine) == key(other))


def has_nan(value: Any) -> bool:
    """Say whether a list holds NaN, which is equal to nothing."""
    return isinstance(value, list) and any(member != member for member in value)  # noqa: PLR0124


@PROPERTY
@given(lanes(), st.data())
def test_take_gives_the_values_at_the_places(
    lane: tuple[Schema, list[Block], list[Event]], data: st.DataObject
) -> None:
    schema, some, twin = lane
    columns = Columns(some, schema)
    places = data.draw(st.lists(st.integers(0, len(twin) - 1), max_size=5)) if twin else []

    for one in schema.attributes:
        column = columns.column(one.tag)
        taken = column.take(np.array(places, np.intp))
        assert same(taken.tolist(), [column.tolist()[place] for place in places])
        assert known_of(taken, len(places)) == [
            known_of(column, len(twin))[place] for place in places
        ]


@PROPERTY
@given(lanes())
def test_times_numbers_and_runs_are_those_of_the_events(
    lane: tuple[Schema, list[Block], list[Event]],
) -> None:
    schema, some, twin = lane
    columns = Columns(some, schema)

    assert columns.times().tolist() == [event.time for event in twin]
    assert columns.numbers().tolist() == [event.number for event in twin]
    assert columns.runs() == ([("s", 1, len(twin))] if twin else [])


@PROPERTY
@given(lanes(), st.data())
def test_a_block_thinned_out_of_columns_keeps_the_chosen_events(
    lane: tuple[Schema, list[Block], list[Event]], data: st.DataObject
) -> None:
    schema, some, _ = lane
    columns = Columns(some, schema)

    for place, block in enumerate(some):
        keep = sorted(data.draw(st.sets(st.integers(0, block.count - 1), min_size=1)))
        thinned = columns.thin(place, np.array(keep))
        whole = events_of(block, schema)
        assert same(events_of(thinned, schema), [whole[one] for one in keep])
        assert thinned.form == block.form


def test_zero_is_equal_to_minus_zero_and_a_set_to_itself_in_another_order() -> None:
    schema = Schema.declare({"a": "float64", "b": "list<int64>"})
    rows = block_of(
        "s", 1, [1, 2, 3], [0, 0, 0], [[0.0, [1, 2]], [-0.0, [2, 1, 1]], [1, []]], schema
    )

    for block in (rows, arrow.to_columns(rows, schema)):
        for tag in schema.index:
            first, second, third = Columns([block], schema).column(tag).keys().tolist()
            assert first == second != third


def test_an_attribute_is_converted_once() -> None:
    schema = Schema.declare({"a": "int64"})
    columns = Columns([block_of("s", 1, [1], [0], [[1]], schema)], schema)

    assert columns.column("a") is columns.column("a")


def test_an_attribute_that_the_stream_has_not_is_refused() -> None:
    with pytest.raises(EventError, match="the stream has no attribute b"):
        Columns([], Schema.declare({"a": "int64"})).column("b")


@pytest.mark.parametrize("kind", list(Type))
def test_a_column_without_any_value_is_known_nowhere(kind: Type) -> None:
    schema = Schema.declare({"a": kind})
    rows = block_of("s", 1, [1, 2], [0, 0], [[None], [None]], schema)

    for some in ([rows], [arrow.to_columns(rows, schema)], [rows, arrow.to_columns(rows, schema)]):
        column = Columns(some, schema).column("a")
        assert known_of(column, 2 * len(some)) == [False] * 2 * len(some)
        assert len(column.tolist()) == len(column.keys()) == 2 * len(some)


def test_runs_are_parted_by_epoch_and_stream() -> None:
    schema = Schema.declare({"a": "int64"})
    places = [("s", 1), ("s", 1), ("s", 2), ("t", 2)]
    some = [block_of(stream, epoch, [1, 2], [0, 0], [[1], [2]], schema) for stream, epoch in places]

    assert Columns(some, schema).runs() == [("s", 1, 4), ("s", 2, 2), ("t", 2, 2)]


@pytest.mark.parametrize("form", ["rows", "columns"])
def test_times_that_no_calendar_has_are_refused_where_events_are_read(form: str) -> None:
    schema = Schema.declare({"a": "int64"})
    block = block_of("s", 1, [1, 2], [TIME_MAX, TIME_MAX + 1], [[1], [2]], schema)
    if form == "columns":
        batch = arrow.read_batch(
            arrow.to_columns(block_of("s", 1, [1, 2], [0, 1], [[1], [2]], schema), schema), schema
        )
        times = pa.array([TIME_MAX, TIME_MAX + 1], pa.timestamp("us", "UTC"))
        batch = pa.record_batch([times, batch.column(1)], schema=batch.schema)
        block = arrow.columns_block("s", 1, [1, 2], batch, schema)
    with pytest.raises(EventError, match="outside the years"):
        events_of(block, schema)
    with pytest.raises(EventError, match="outside the years"):
        arrow.to_table([block], schema)
