"""Parquet: written and read back the same, and the types of other tools become ours."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.convert import blocks_of
from heliograph.event.errors import TraceError
from heliograph.event.event import Event
from heliograph.event.parquet import GROUP_EVENTS, ParquetRecords, ParquetWriter
from heliograph.event.schema import Schema
from heliograph.event.types import Type, moment
from strategies import PROPERTY, events, same, schemas

if TYPE_CHECKING:
    from pathlib import Path

UTC = dt.UTC


def write(path: Path, some: list[Event], schema: Schema) -> None:
    with ParquetWriter(path, schema) as writer:
        for block in blocks_of(some, schema):
            writer.write(block, schema)


def read(path: Path) -> list[dict[str, Any]]:
    reader = ParquetRecords(path)
    try:
        return [
            {tag: value for tag, value in record.values.items() if value is not None}
            for record in reader
        ]
    finally:
        reader.close()


@PROPERTY
@given(data=st.data())
def test_what_is_written_is_read_back_the_same(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    schema = data.draw(schemas())
    some = data.draw(events(schema))
    path = tmp_path_factory.mktemp("parquet") / "some.parquet"

    write(path, some, schema)

    for values, event in zip(read(path), some, strict=True):
        positions = {"_stream": "s", "_epoch": event.epoch, "_number": event.number}
        assert same(values, positions | {"_time": moment(event.time)} | event.values)


def test_a_file_has_row_groups_of_many_events(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    some = [Event("s", 1, number, 0, {}) for number in range(1, GROUP_EVENTS + 3)]

    write(path, some, Schema())

    footer = pq.read_metadata(path)
    assert [footer.row_group(place).num_rows for place in range(footer.num_row_groups)] == [
        GROUP_EVENTS,
        2,
    ]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (pa.array([5], pa.int8()), 5),
        (pa.array([5], pa.uint32()), 5),
        (pa.array([2**63], pa.uint64()), 2**63),
        (pa.array([0.5], pa.float32()), 0.5),
        (pa.array([0.5], pa.float16()), 0.5),
        (pa.array(["x"], pa.large_string()), "x"),
        (pa.array(["x"], pa.string_view()), "x"),
        (pa.array(["x"]).dictionary_encode(), "x"),
        (pa.array([b"x"], pa.large_binary()), b"x"),
        (pa.array([b"x"], pa.binary(1)), b"x"),
        (pa.array([dt.date(2026, 1, 31)]), dt.datetime(2026, 1, 31, tzinfo=UTC)),
        (pa.array([1_001], pa.timestamp("ns")), moment(1)),
        (pa.array([1], pa.timestamp("s", tz="Europe/Vienna")), moment(1_000_000)),
        (pa.array([Decimal("1.25")], pa.decimal128(9, 2)), 1.25),
        (pa.array([Decimal(7)], pa.decimal128(18, 0)), 7),
        (pa.array([Decimal("1.25")], pa.decimal128(30, 2)), Decimal("1.25")),
        (pa.array([[1, 2]], pa.large_list(pa.int16())), [1, 2]),
        (pa.array([[1, 2]], pa.list_(pa.int64(), 2)), [1, 2]),
        (pa.array([[dt.date(1970, 1, 1)]]), [moment(0)]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_the_types_of_other_tools_become_ours_where_nothing_is_lost(
    tmp_path: Path, column: pa.Array, value: Any
) -> None:
    path = tmp_path / "some.parquet"
    pq.write_table(pa.table({"a": column}), path)

    assert same(read(path), [{"a": value}])


FAR = 400_000_000_000_000_000


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, FAR], pa.timestamp("us")),
        pa.array([0, -FAR], pa.timestamp("us", tz="UTC")),
        pa.array([0, 18_446_744_073_709_557], pa.timestamp("ms")),
        pa.array([0, 2**31 - 1], pa.int32()).cast(pa.date32()),
        pa.array([0, FAR], pa.timestamp("us")).dictionary_encode(),
        pa.array([[0], [0, FAR]], pa.list_(pa.timestamp("us"))),
        pa.array([{"b": 0}, {"b": FAR}], pa.struct([("b", pa.timestamp("us"))])),
    ],
    ids=lambda column: str(column.type),
)
def test_a_time_that_no_event_can_have_is_refused_with_its_row_and_column(
    tmp_path: Path, column: pa.Array
) -> None:
    path = tmp_path / "some.parquet"
    pq.write_table(pa.table({"a": [1, 2], "far": column}), path)

    with pytest.raises(
        TraceError, match=r"some.parquet, row 2: column far: .*; a time lies in the years 1 to 9999"
    ):
        read(path)


def test_nested_columns_become_tags_with_dots(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    pq.write_table(pa.table({"a": [{"b": 1, "c": {"d": dt.date(1970, 1, 1)}}]}), path)

    assert read(path) == [{"a.b": 1, "a.c.d": moment(0)}]


def test_two_columns_that_get_one_tag_are_refused_with_the_row(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    pq.write_table(pa.table({"a": [{"b": 1}], "a.b": [2]}), path)

    with pytest.raises(TraceError, match=r"some.parquet, row 1: two attributes of the tag a.b"):
        read(path)


def test_the_types_of_the_columns_are_known_without_a_row(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    pq.write_table(
        pa.table({"a": pa.array([], pa.int8()), "b": pa.array([], pa.time64("us"))}), path
    )

    reader = ParquetRecords(path)
    assert reader.types == {"a": Type.INT64}
    reader.close()


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), path)

    with pytest.raises(TraceError, match="two columns are named a"):
        ParquetRecords(path)


def test_a_file_that_is_cut_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    write(path, [Event("s", 1, 1, 0, {"a": 1})], Schema.declare({"a": "int64"}))
    whole = path.read_bytes()

    for cut in (0, 4, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(TraceError, match=r"cannot be read as Parquet: .* copy or write it"):
            read(path)


def test_a_file_that_is_damaged_inside_is_refused_when_that_is_reached(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    pq.write_table(pa.table({"a": list(range(9_999))}), path)
    data = bytearray(path.read_bytes())
    data[4:400] = b"\xff" * 396
    path.write_bytes(data)

    with pytest.raises(TraceError, match="cannot be read as Parquet"):
        read(path)


def test_large_rows_are_read_a_few_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    pq.write_table(
        pa.table({"a": [f"{place}" * 400_000 for place in range(8)]}), path, use_dictionary=False
    )

    reader = ParquetRecords(path)
    assert reader._batch_rows() < 20  # noqa: SLF001 - what bounds the memory
    assert len(list(reader)) == 8
    reader.close()


def test_a_schema_that_grew_after_the_file_was_begun_is_refused(tmp_path: Path) -> None:
    old = Schema.declare({"a": "int64"})
    new = old.evolve({"b": Type.INT64})
    (block,) = blocks_of([Event("s", 1, 1, 0, {"b": 1})], new)

    with (
        ParquetWriter(tmp_path / "some.parquet", old) as writer,
        pytest.raises(TraceError, match="gained or widened an attribute"),
    ):
        writer.write(block, new)


def test_older_blocks_are_written_under_the_schema_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    old = Schema.declare({"a": "int64"})
    new = old.evolve({"a": Type.FLOAT64, "b": Type.INT64})

    with ParquetWriter(path, new) as writer:
        for block in blocks_of([Event("s", 1, 1, 0, {"a": 1})], old):
            writer.write(block, new)

    assert same(read(path)[0]["a"], 1.0)


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot be written"):
        ParquetWriter(tmp_path / "no" / "some.parquet", Schema())
