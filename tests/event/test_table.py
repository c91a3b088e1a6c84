"""Tables as people have them become blocks, and nothing is converted that would lose something."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from heliograph.event.block import ARROW, ARROW_EVENTS_MIN, ROWS
from heliograph.event.convert import events_of
from heliograph.event.errors import EventError
from heliograph.event.schema import Schema
from heliograph.event.table import BLOCK_EVENTS, blocks_of_table, schema_for, type_of
from heliograph.event.types import Type

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def values(table: pa.Table, schema: Schema | None = None) -> list[dict[str, Any]]:
    grown = schema_for(table, schema or Schema())
    blocks = blocks_of_table(table, "s", 1, 1, grown, 7)
    return [event.values for block in blocks for event in events_of(block, grown)]


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (pa.int8(), Type.INT64),
        (pa.uint32(), Type.INT64),
        (pa.float32(), Type.FLOAT64),
        (pa.large_string(), Type.STRING),
        (pa.dictionary(pa.int8(), pa.string()), Type.STRING),
        (pa.binary(), Type.BYTES),
        (pa.bool_(), Type.BOOL),
        (pa.timestamp("ns", "Europe/Zurich"), Type.TIMESTAMP),
        (pa.timestamp("ns"), None),
        (pa.list_(pa.int16()), Type.INT64_LIST),
        (pa.large_list(pa.string()), Type.STRING_LIST),
        (pa.list_(pa.list_(pa.int16())), None),
        (pa.struct([("a", pa.int8())]), None),
        (pa.date32(), None),
    ],
)
def test_a_column_has_the_type_that_holds_its_values(kind: Any, found: Type | None) -> None:
    assert type_of(kind) is found


def test_the_rows_of_a_table_are_events() -> None:
    table = pa.table(
        {
            "rate": pa.array([71, None, 73], pa.int16()),
            "name": pa.array(["a", "b", "a"]).dictionary_encode(),
            "seen": pa.array([NOON] * 3, pa.timestamp("ms", "UTC")),
            "none": pa.nulls(3),
        }
    )
    assert values(table) == [
        {"rate": 71, "name": "a", "seen": NOON},
        {"name": "b", "seen": NOON},
        {"rate": 73, "name": "a", "seen": NOON},
    ]


@pytest.mark.parametrize(
    "times",
    [
        pa.array([5, 6]),
        pa.array([5, 6], pa.timestamp("us", "UTC")),
        pa.array([5_999, 6_001], pa.timestamp("ns", "UTC")),
    ],
)
def test_times_come_from_their_column(times: pa.Array) -> None:
    table = pa.table({"a": [1, 2], "_time": times})
    schema = schema_for(table, Schema())
    (block,) = blocks_of_table(table, "s", 3, 11, schema, 7)
    events = events_of(block, schema)
    assert [event.time for event in events] == [5, 6]
    assert [(event.epoch, event.number) for event in events] == [(3, 11), (3, 12)]


def test_without_times_all_rows_have_that_of_now() -> None:
    table = pa.table({"a": [1, 2]})
    schema = schema_for(table, Schema())
    (block,) = blocks_of_table(table, "s", 1, 1, schema, 7)
    assert [event.time for event in events_of(block, schema)] == [7, 7]


def test_blocks_have_the_form_that_suits_their_size() -> None:
    table = pa.table({"a": range(BLOCK_EVENTS + ARROW_EVENTS_MIN - 1)})
    schema = schema_for(table, Schema())
    one, other = blocks_of_table(table, "s", 1, 1, schema, 7)
    assert (one.form, one.count, one.last) == (ARROW, BLOCK_EVENTS, BLOCK_EVENTS)
    assert (other.form, other.first) == (ROWS, BLOCK_EVENTS + 1)


def test_an_open_schema_grows_and_widens() -> None:
    schema = schema_for(pa.table({"a": [1]}), Schema())
    grown = schema_for(pa.table({"a": [1.5], "b": ["x"]}), schema)
    assert grown.types == (Type.FLOAT64, Type.STRING)
    assert values(pa.table({"a": [2]}), grown) == [{"a": 2.0}]
    assert schema_for(pa.table({"b": ["y"]}), grown) is grown


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pa.table({"a": ["x"]}), "column a is string, but the attribute is int64: cast it"),
        (pa.table({"b": [1]}), "column b: not so in the declared schema"),
        (pa.table({"a": [1.5]}), "column a: not so in the declared schema"),
        (pa.table({"c": [{"x": 1}]}), "column c is struct.*, which no attribute can be"),
    ],
)
def test_what_does_not_fit_a_declared_schema_is_refused(table: pa.Table, words: str) -> None:
    with pytest.raises(EventError, match=words):
        schema_for(table, Schema.declare({"a": "int64"}))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": pa.array([2**63], pa.uint64())}, "column a: .*not in range"),
        ({"a": [1], "_time": pa.array([None], pa.int64())}, "the column _time has no value in 1"),
        ({"a": [1], "_time": [1.5]}, "the column _time is double: make it a timestamp"),
        ({"a": [1], "_time": pa.array([1], pa.timestamp("us"))}, "_time is timestamp.us.: make"),
    ],
)
def test_what_would_lose_something_is_refused(columns: dict[str, Any], words: str) -> None:
    with pytest.raises(EventError, match=words):
        values(pa.table(columns))


def test_an_empty_table_has_no_block() -> None:
    assert values(pa.table({"a": pa.array([], pa.int64())})) == []
