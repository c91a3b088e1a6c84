"""CSV: written and read back the same, and every damage is named with its line."""

from __future__ import annotations

import csv as python_csv
import io
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.convert import blocks_of, events_of
from heliograph.event.csv import HEAD_RECORDS, CsvRecords, CsvWriter, header_of, line_of, quoted
from heliograph.event.errors import TraceError
from heliograph.event.event import Event
from heliograph.event.lines import LINE_BYTES_MAX, Lines
from heliograph.event.schema import Schema
from heliograph.event.types import Type, show_time
from strategies import PROPERTY, blocks, events, same, schemas

if TYPE_CHECKING:
    from heliograph.event.lines import Record


def reader(data: bytes | str, schema: Schema | None = None) -> CsvRecords:
    raw = data.encode() if isinstance(data, str) else data
    return CsvRecords(Lines(io.BytesIO(raw), "some.csv"), schema)


def read(data: bytes | str, schema: Schema | None = None) -> list[dict[str, Any]]:
    return [record.values for record in reader(data, schema)]


def written(some: list[Event], schema: Schema) -> str:
    file = io.StringIO(newline="")
    writer = CsvWriter(file, schema)
    for block in blocks_of(some, schema):
        writer.write(block, schema)
    return file.getvalue()


@PROPERTY
@given(st.data())
def test_what_is_written_is_read_back_the_same(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    some = data.draw(events(schema))

    found = read(written(some, schema), schema)

    for values, event in zip(found, some, strict=True):
        positions = {
            "_stream": "s",
            "_epoch": event.epoch,
            "_number": event.number,
            "_time": show_time(event.time),
        }
        assert same(values, positions | event.values)


@PROPERTY
@given(st.data())
def test_pythons_own_reader_finds_the_same_cells(data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.lists(st.text(max_size=6), min_size=2, max_size=2), max_size=5))
    text = "".join(",".join(map(quoted, row)) + "\n" for row in [["a", "b"], *rows])

    found = read(text, Schema.declare({"a": "string", "b": "string"}))

    assert [list(values.values()) for values in found] == rows
    assert list(python_csv.reader(io.StringIO(text, newline=""), strict=True))[1:] == rows


@pytest.mark.parametrize("text", ["", " x", "x ", "x\t", "a,b", 'a"b', "a\nb", "a\r", "a\0"])
def test_a_text_that_would_change_without_quotes_is_put_between_them(text: str) -> None:
    assert quoted(text) == '"' + text.replace('"', '""') + '"'
    assert quoted("plain text") == "plain text"
    assert read(f"a,b\n{quoted(text)},1\n", Schema.declare({"a": "string", "b": "int64"})) == [
        {"a": text, "b": 1}
    ]


def test_an_empty_cell_is_absent_and_quotes_are_an_empty_text() -> None:
    assert read('a,b\n,""\n') == [{"b": ""}]
    event = Event("s", 1, 1, 0, {"b": ""})
    schema = Schema.declare({"a": "string", "b": "string"})
    assert line_of(event, schema) == 's,1,1,1970-01-01T00:00:00Z,,""'


def test_the_header_has_the_positions_and_the_tags() -> None:
    schema = Schema.declare({"PulseRate": "int64", "a,b": "string"})

    assert header_of(schema) == '_stream,_epoch,_number,_time,PulseRate,"a,b"'


def test_blanks_mean_nothing_outside_of_quotes() -> None:
    assert read('a , "b "\n 1 , " x "\n') == [{"a": 1, "b ": " x "}]


def test_a_record_goes_on_over_many_lines_between_quotes() -> None:
    found = list(reader('a,b\r\n"x\r\n""y"",\n",1\r\n2,3\r\n'))

    assert [(record.line, record.values) for record in found] == [
        (2, {"a": 'x\r\n"y",\n', "b": 1}),
        (5, {"a": "2", "b": 3}),
    ]


def test_blank_lines_are_skipped() -> None:
    assert read("\n\na\n\n1\n") == [{"a": 1}]


def test_columns_have_the_narrowest_type_that_fits_the_first_records() -> None:
    found = reader("i,f,b,t,s,n\n1,1,true,2026-01-31,1,\n2,1.5,false,2026-02-01,x,\n")

    assert found.types == {
        "i": Type.INT64,
        "f": Type.FLOAT64,
        "b": Type.BOOL,
        "t": Type.TIMESTAMP,
        "s": Type.STRING,
    }
    assert same([record.values["f"] for record in found], [1.0, 1.5])


def test_a_column_that_says_nothing_at_first_has_the_type_of_its_first_value() -> None:
    rows = ["1,"] * HEAD_RECORDS + ["2,7", "3,7.5", "4,x"]
    found = reader("a,b\n" + "\n".join(rows))

    assert found.types == {"a": Type.INT64}
    assert same([record.values.get("b") for record in found][-4:], [None, 7, 7.5, "x"])


def test_inference_stops_after_the_first_records() -> None:
    found = reader("a\n" + "1\n" * HEAD_RECORDS + "x\n")

    assert found.types == {"a": Type.INT64}
    assert [record.values["a"] for record in found][-2:] == [1, "x"]


def test_positions_are_never_inferred() -> None:
    (values,) = read("_stream,_epoch,_number,_time,a\n007,1,2,5,6\n")

    assert values == {"_stream": "007", "_epoch": 1, "_number": 2, "_time": "5", "a": 6}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a,b\n1,2\n3\n", "line 3: a record of 1 under a header of 2 cells"),
        (b"a,b\n1,2,3\n", "line 2: a record of 3 under a header of 2 cells"),
        (b"a,a\n1,2\n", "line 1: two columns are named a"),
        (b"a,\n1,2\n", "line 1: column 2 has no name"),
        (b'a,""\n1,2\n', "line 1: column 2 has no name"),
        (b"a;b\n1;2\n", "line 1: columns are parted by commas"),
        (b'a\n"x\ny\n', r'line 2: a quote \("\) is never closed'),
        (b'a\nx"y"\n', r'line 2: cell 1 has a quote \("\) in its middle'),
        (b'a\n"x"y\n', r'line 2: cell 1 has a quote \("\) in its middle'),
        (b"a\n\xff\n", "line 2: byte 0xff at place 1 is not UTF-8"),
        (b'a\n"x\n\xff"\n', "line 3: byte 0xff at place 1 is not UTF-8"),
        (b"a\n\x00\n", "line 2: a NUL byte"),
        (b'a,b\n"x",\x00\n', "line 2: a NUL byte"),
        (b"a\n" + b"x" * (LINE_BYTES_MAX + 1), "line 2: longer than the limit"),
        (b'a\n"' + b"x\n" * LINE_BYTES_MAX, r'line 2: a quote \("\) is not closed here'),
        (b"_number\nx\n", "line 2: column _number: expected int64, got 'x'"),
    ],
)
def test_a_record_that_cannot_be_read_is_refused_with_its_line(data: bytes, words: str) -> None:
    with pytest.raises(TraceError, match=f"^some.csv, {words}"):
        read(data)


def test_a_file_without_a_header_is_refused() -> None:
    with pytest.raises(TraceError, match=r"some.csv is empty: CSV begins with a header"):
        read("")


def test_a_cell_of_another_type_than_declared_is_refused() -> None:
    with pytest.raises(TraceError, match="line 2: column a: expected int64, got 'x'"):
        read("a\nx\n", Schema.declare({"a": "int64"}))


@PROPERTY
@given(st.binary(max_size=60))
def test_any_bytes_are_records_or_a_trace_error(data: bytes) -> None:
    for raw in (data, b"a,b\n" + data, b'a,b\n"' + data):
        assert trouble_of(raw).startswith(("none", "some.csv"))


def trouble_of(raw: bytes) -> str:
    try:
        read(raw)
    except TraceError as error:
        return str(error)
    return "none"


@PROPERTY
@given(st.data())
def test_a_schema_that_grew_by_widening_is_still_written(data: st.DataObject) -> None:
    old = Schema.declare({"a": "int64"})
    new = old.evolve({"a": Type.FLOAT64})
    block = data.draw(blocks(old))
    file = io.StringIO()

    CsvWriter(file, old).write(block, new)

    cells = [line.rsplit(",", 1)[1] for line in file.getvalue().splitlines()[1:]]
    wanted = [event.values.get("a") for event in events_of(block, new)]
    assert cells == ["" if value is None else repr(value) for value in wanted]


def test_an_attribute_that_came_after_the_header_is_refused() -> None:
    old = Schema.declare({"a": "int64"})
    new = old.evolve({"b": Type.INT64})
    (block,) = blocks_of([Event("s", 1, 1, 0, {"b": 1})], new)

    with pytest.raises(TraceError, match="the stream gained b after the header"):
        CsvWriter(io.StringIO(), old).write(block, new)


def records_of(found: CsvRecords) -> list[Record]:
    return list(found)


def test_records_are_read_once() -> None:
    found = reader("a\n1\n")

    assert len(records_of(found)) == 1
    assert records_of(found) == []


def test_whoever_writes_slowly_is_not_waited_for() -> None:
    """The types of the columns are those of as few records as wanted."""
    lines = Lines(io.BytesIO(b"v,w\n1,\n2.5,x\n"), "some.csv")
    found = CsvRecords(lines, None, 1)
    assert lines.done == len(b"v,w\n1,\n")
    assert [record.values for record in found] == [{"v": 1}, {"v": 2.5, "w": "x"}]
