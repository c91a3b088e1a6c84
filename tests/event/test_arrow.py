"""Arrow columns: the same events as rows, tables and back, and nothing hostile gets through."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event import arrow
from heliograph.event.block import ARROW, BLOCK_EVENTS_MAX, ROWS, Block, block_of
from heliograph.event.convert import blocks_of, events_of
from heliograph.event.errors import EventError
from heliograph.event.event import Event
from heliograph.event.schema import Schema
from heliograph.event.types import Type
from strategies import PROPERTY, blocks, events, same, schemas

SCHEMA = Schema.declare({"a": "string", "b": "list<string>", "c": "int64"})


def sample(count: int = 40) -> Block:
    rows = [[f"text {place}", ["x", f"y{place}"], place] for place in range(count)]
    block = block_of("s", 1, range(1, count + 1), range(count), rows, SCHEMA)
    return arrow.to_columns(block, SCHEMA)


@PROPERTY
@given(st.data())
def test_rows_come_back_the_same_from_columns(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    block = data.draw(blocks(schema))

    columns = arrow.to_columns(block, schema)
    rows = arrow.to_rows(columns, schema)

    assert (columns.form, rows.form) == (ARROW, ROWS)
    assert (columns.first, columns.span, columns.presence) == (
        block.first,
        block.span,
        block.presence,
    )
    assert same(events_of(columns, schema), events_of(block, schema))
    assert same(events_of(rows, schema), events_of(block, schema))


@PROPERTY
@given(st.data())
def test_blocks_come_back_the_same_from_a_table(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    some = data.draw(events(schema))
    made = list(blocks_of(some, schema))
    if data.draw(st.booleans()):
        made = [arrow.to_columns(block, schema) for block in made]

    table = arrow.to_table(made, schema)
    again = list(arrow.from_table(table, schema))

    assert table.num_rows == len(some)
    assert same([one for block in again for one in events_of(block, schema)], some)


@PROPERTY
@given(st.data())
def test_a_slice_of_a_table_holds_the_events_of_the_slice(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    some = data.draw(events(schema))
    start = data.draw(st.integers(0, len(some)))

    table = arrow.to_table(list(blocks_of(some, schema)), schema).slice(start)
    again = list(arrow.from_table(table, schema))

    assert same([one for block in again for one in events_of(block, schema)], some[start:])


def test_columns_of_an_older_version_are_read_under_the_newer_schema() -> None:
    old = Schema.declare({"a": "int64", "b": "list<int64>"})
    new = old.evolve({"a": Type.FLOAT64, "b": Type.FLOAT64_LIST, "c": Type.STRING})
    newest = new.evolve({"d": Type.BOOL})
    block = arrow.to_columns(block_of("s", 1, [1, 2], [0, 1], [[3, [4]], [None, None]], old), old)

    for schema in (new, newest):
        some = events_of(block, schema)
        assert same([one.values for one in some], [{"a": 3.0, "b": [4.0]}, {}])
        again = arrow.to_columns(block, schema)
        assert again.version == schema.version
        assert same(events_of(again, schema), some)


def test_an_integer_beyond_a_float_is_rounded_the_same_in_both_forms() -> None:
    old = Schema.declare({"a": "int64"})
    new = old.evolve({"a": Type.FLOAT64})
    rows = block_of("s", 1, [1], [0], [[2**53 + 1]], old)

    assert same(events_of(rows, new), events_of(arrow.to_columns(rows, old), new))


def test_a_block_of_a_version_that_is_not_known_yet_is_refused() -> None:
    with pytest.raises(EventError, match="schema version 2 is not known"):
        arrow.read_batch(msgspec.structs.replace(sample(), version=2), SCHEMA)


def test_a_batch_with_another_number_of_rows_is_refused() -> None:
    with pytest.raises(EventError, match="a block of 39 events has columns of 40"):
        arrow.read_batch(msgspec.structs.replace(sample(), count=39, span=39), SCHEMA)


def test_an_event_without_a_time_is_refused() -> None:
    batch = pa.record_batch([pa.nulls(1, arrow.arrow_type(Type.TIMESTAMP))], names=["_time"])
    block = arrow.columns_block("s", 1, [1], batch, Schema())

    with pytest.raises(EventError, match="an event without a time"):
        arrow.read_batch(block, Schema())


@PROPERTY
@given(st.data())
def test_flipped_bits_in_columns_raise_nothing_but_event_errors(data: st.DataObject) -> None:
    block = sample()
    body = bytearray(block.body)
    for place in data.draw(st.lists(st.integers(0, len(body) * 8 - 1), min_size=1, max_size=3)):
        body[place // 8] ^= 1 << place % 8

    with suppress(EventError):
        events_of(msgspec.structs.replace(block, body=bytes(body)), SCHEMA)


def test_offsets_that_point_beyond_the_block_are_refused() -> None:
    block = sample()
    batch = arrow.read_batch(block, SCHEMA)
    offsets = batch.column(1).buffers()[1].to_pybytes()[: 4 * (block.count + 1)]
    wild = offsets[:-4] + (2**30).to_bytes(4, "little")
    assert block.body.count(offsets) == 1

    with pytest.raises(EventError, match="do not fit their schema"):
        arrow.read_batch(
            msgspec.structs.replace(block, body=block.body.replace(offsets, wild)), SCHEMA
        )


def table_of(**columns: Any) -> pa.Table:
    positions = {"_stream": ["s", "s"], "_epoch": [1, 1], "_number": [1, 2]}
    times = {"_time": pa.array([0, 1], pa.timestamp("us", tz="UTC"))}
    return pa.table(positions | times | {"a": [1, 2]} | columns)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": ["x", "y"]}, "a column does not fit the schema"),
        ({"a": [1.5, 2]}, "a column does not fit the schema"),
        ({"_number": [1, None]}, "rows without _number"),
        ({"_stream": [None, "s"]}, "rows without _stream"),
        ({"_time": pa.nulls(2, pa.timestamp("us", tz="UTC"))}, "rows without _time"),
        ({"_number": [0, 1]}, "positive"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(columns: dict[str, Any], words: str) -> None:
    schema = Schema.declare({"a": "int64"})
    assert [block.count for block in arrow.from_table(table_of(), schema)] == [2]

    with pytest.raises(EventError, match=words):
        list(arrow.from_table(table_of(**columns), schema))


def test_a_table_without_a_column_is_refused_with_its_name() -> None:
    schema = Schema.declare({"b": "int64"})

    with pytest.raises(EventError, match="the table has no column _epoch, b"):
        list(arrow.from_table(table_of().drop_columns(["_epoch"]), schema))


def test_a_table_of_other_chunks_and_types_is_read_where_nothing_is_lost() -> None:
    schema = Schema.declare({"a": "int64"})
    narrow = table_of(
        a=pa.array([1, 2], pa.int8()), _stream=pa.array(["s", "s"]).dictionary_encode()
    )
    twice = pa.concat_tables([narrow, narrow.set_column(2, "_number", [[3, 4]])])

    (block,) = arrow.from_table(twice, schema)
    assert [event.values["a"] for event in events_of(block, schema)] == [1, 2, 1, 2]


def test_an_empty_table_has_no_blocks() -> None:
    assert list(arrow.from_table(arrow.to_table([], SCHEMA), SCHEMA)) == []


def test_a_table_is_cut_where_stream_epoch_or_width_change() -> None:
    places = [("a", 1, 1), ("a", 1, 2), ("a", 2, 1), ("b", 2, 2), ("b", 2, BLOCK_EVENTS_MAX + 2)]
    places += [("b", 2, BLOCK_EVENTS_MAX + 3), ("a", 3, 1)]
    some = [Event(*place, 0, {}) for place in places]

    table = arrow.to_table(list(blocks_of(some, SCHEMA)), SCHEMA)
    again = list(arrow.from_table(table, SCHEMA))

    assert [block.count for block in again] == [2, 1, 1, 2, 1]
    assert [event for block in again for event in events_of(block, SCHEMA)] == some


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 1_000])
def test_the_survivors_of_a_mask_are_its_values_in_order(count: int) -> None:
    mask = np.arange(count) % 3 == 1
    texts = [None if n % 4 == 0 else f"text {n}" for n in range(count)]

    kept = arrow.survivors(pa.array(texts, pa.string()), mask).to_pylist()

    assert kept == [text for text, one in zip(texts, mask, strict=True) if one]
