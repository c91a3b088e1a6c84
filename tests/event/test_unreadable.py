"""Events that cannot be read come as opaque ones, and cost their neighbours nothing."""

from __future__ import annotations

import msgspec
import pyarrow as pa
import pytest

from heliograph.event import arrow
from heliograph.event.block import ARROW, ROWS, Block, block_of, cover
from heliograph.event.convert import events_of
from heliograph.event.errors import EventError
from heliograph.event.rows import assemble
from heliograph.event.schema import Schema
from heliograph.event.types import TIME_MAX
from heliograph.event.unreadable import all_events, all_rows

SCHEMA = Schema.declare({"a": "int64"})
GOOD = msgspec.msgpack.encode([0, 7])
BAD = msgspec.msgpack.encode([0, "seven"])
LATE = msgspec.msgpack.encode([TIME_MAX, 7])


def of_rows(*rows: bytes, time: int = 5) -> Block:
    count = len(rows)
    return Block("s", 1, 1, count, count, 1, time, ROWS, b"", assemble(rows))


def of_columns(values: list[list[int | None]]) -> tuple[Block, Schema]:
    schema = Schema.declare({"a": "list<int64>"})
    numbers = range(1, len(values) + 1)
    batch = pa.record_batch(
        [pa.array([0] * len(values), pa.timestamp("us", "UTC")), pa.array(values)],
        schema=arrow.batch_schema(schema),
    )
    first, span, presence = cover(numbers)
    body = batch.serialize().to_pybytes()
    return Block("s", 1, first, span, len(values), 1, 0, ARROW, presence, body), schema


@pytest.mark.parametrize("bad", [BAD, LATE, b"\xc1"])
def test_an_event_that_cannot_be_read_is_opaque_and_its_neighbours_are_not(bad: bytes) -> None:
    block = of_rows(GOOD, bad, GOOD)
    with pytest.raises(EventError):
        events_of(block, SCHEMA)
    found = all_events([block], SCHEMA)
    assert [one.number for one in found] == [1, 2, 3]
    assert [one.values for one in found] == [{"a": 7}, {"_opaque": bad}, {"a": 7}]
    assert [one.time for one in found] == [5, 5, 5]


def test_a_block_that_cannot_be_read_takes_none_of_those_beside_it_with_it() -> None:
    found = all_events([of_rows(GOOD), of_rows(BAD), of_rows(GOOD)], SCHEMA)

    assert [one.values for one in found] == [{"a": 7}, {"_opaque": BAD}, {"a": 7}]
    assert all_events([], SCHEMA) == []


def test_what_can_be_read_is_read_as_ever() -> None:
    block = block_of("s", 1, [1, 3], [4, 5], [[1], [2]], SCHEMA)
    assert all_events([block], SCHEMA) == events_of(block, SCHEMA)


def test_columns_with_a_null_in_a_list_are_opaque_as_a_whole() -> None:
    block, schema = of_columns([[1], [1, None]])
    with pytest.raises(EventError, match="a null in it"):
        events_of(block, schema)
    assert [(one.number, one.values) for one in all_events([block], schema)] == [
        (1, {"_opaque": b""}),
        (2, {"_opaque": b""}),
    ]


@pytest.mark.parametrize(
    ("schema", "opaque"),
    [
        (SCHEMA, None),
        (SCHEMA.evolve({"_opaque": SCHEMA.types[0]}), None),
        (Schema().evolve({"a": SCHEMA.types[0]}), None),
    ],
)
def test_a_table_has_a_row_for_each_number(schema: Schema, opaque: bytes | None) -> None:
    parts = list(all_rows(of_rows(GOOD, BAD, GOOD), schema))
    table = arrow.to_table(parts, schema)
    assert table["_number"].to_pylist() == [1, 2, 3]
    assert table["a"].to_pylist() == [7, None, 7]
    if "_opaque" in table.column_names:
        assert table["_opaque"].to_pylist() == [None, opaque, None]


def test_a_table_has_the_row_itself_where_the_stream_has_a_place_for_it() -> None:
    schema, _ = Schema().absorb({"a": 1})
    schema, _ = schema.absorb({"a": "one"})
    table = arrow.to_table(list(all_rows(of_rows(GOOD, BAD), schema)), schema)
    assert table["_opaque"].to_pylist() == [None, BAD]
