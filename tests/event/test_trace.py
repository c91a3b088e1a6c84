"""Traces: recorded streams in every form, read block by block."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tracemalloc
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.block import BLOCK_BYTES_MAX, Block
from heliograph.event.convert import GATHER_EVENTS_MAX, blocks_of, events_of
from heliograph.event.csv import CsvWriter
from heliograph.event.digest import Digest
from heliograph.event.errors import TraceError
from heliograph.event.event import Event
from heliograph.event.jsonl import line_of, lines_of
from heliograph.event.parquet import ParquetWriter
from heliograph.event.schema import OPAQUE, Schema
from heliograph.event.trace import open_trace
from heliograph.event.types import Type
from strategies import PROPERTY, events, same, schemas

if TYPE_CHECKING:
    from pathlib import Path

    from heliograph.event.trace import Trace

FORMS = ["csv", "jsonl", "parquet"]


def write(path: Path, some: list[Event], schema: Schema) -> None:
    blocks = list(blocks_of(some, schema))
    if path.suffix == ".parquet":
        with ParquetWriter(path, schema) as columns:
            for block in blocks:
                columns.write(block, schema)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            writer = CsvWriter(file, schema)
            for block in blocks:
                writer.write(block, schema)
        else:
            for block in blocks:
                file.writelines(line + "\n" for line in lines_of(block, schema))


def read(trace: Trace) -> list[Event]:
    with trace:
        blocks = list(trace)
        assert all(block.count <= GATHER_EVENTS_MAX for block in blocks)
        return [event for block in blocks for event in events_of(block, trace.schema)]


def trace_of(tmp_path: Path, text: str | bytes, name: str = "some.jsonl", **options: Any) -> Trace:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return open_trace(path, **options)


@pytest.mark.parametrize("form", FORMS)
@PROPERTY
@given(data=st.data())
def test_what_is_written_is_read_back_the_same_under_its_schema(
    form: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    schema = data.draw(schemas())
    some = data.draw(events(schema))
    path = tmp_path_factory.mktemp(form) / f"some.{form}"

    write(path, some, schema)
    trace = open_trace(path, schema=schema)

    assert trace.schema == schema
    assert same(read(trace), some)
    assert trace.stream == "s"
    assert trace.timed
    assert trace.schema == schema


@PROPERTY
@given(data=st.data())
def test_what_an_open_schema_made_of_json_is_read_back_the_same(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    values = (
        st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=4)
        | st.floats(allow_nan=False, allow_infinity=False)
    )  # fmt: skip
    objects = st.dictionaries(st.sampled_from("abc"), values | st.lists(values, max_size=3))
    lines = data.draw(st.lists(objects, min_size=1, max_size=6))
    folder = tmp_path_factory.mktemp("open")

    first = trace_of(folder, "\n".join(map(json.dumps, lines)))
    some = read(first)
    write(folder / "again.jsonl", some, first.schema)

    assert len(some) == len(lines)
    assert same(read(open_trace(folder / "again.jsonl", schema=first.schema)), some)
    for event, line in zip(some, lines, strict=True):
        held = event.values.keys() | json.loads(event.values.get(OPAQUE, b"{}")).keys()
        assert held - {OPAQUE} == {tag for tag, value in line.items() if value is not None}


def test_a_trace_without_positions_counts_from_1_and_is_named_by_its_file(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, "pulse\n61\n62\n", "ward-3.csv")

    assert trace.stream == "ward-3"
    assert not trace.timed
    assert read(trace) == [
        Event("ward-3", 1, 1, 0, {"pulse": 61}),
        Event("ward-3", 1, 2, 1_000_000, {"pulse": 62}),
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Time,a\n2026-01-31 12:00:00,1\n", "a.csv"),
        ("time,a\n1769860800,1\n", "a.csv"),
        ("a,TS\n1,1769860800.0\n", "a.csv"),
        ('{"a":1,"timestamp":"2026-01-31T12:00:00Z"}', "a.jsonl"),
        ('{"a":1,"date":1769860800}', "a.jsonl"),
    ],
)
def test_the_time_is_found_and_no_attribute(tmp_path: Path, text: str, name: str) -> None:
    trace = trace_of(tmp_path, text, name)

    assert trace.timed
    assert list(trace.schema.index) == ["a"]
    assert read(trace) == [Event("a", 1, 1, 1_769_860_800_000_000, {"a": 1})]


def test_the_attribute_that_the_user_names_has_the_time(tmp_path: Path) -> None:
    text = '{"time":5,"measured":{"at":7},"a":1}'

    assert read(trace_of(tmp_path, text, time="measured.at")) == [
        Event("some", 1, 1, 7_000_000, {"time": 5, "a": 1})
    ]


def test_a_declared_schema_loses_the_attribute_with_the_time(tmp_path: Path) -> None:
    schema = Schema.declare({"time": "timestamp", "a": "int64"})
    trace = trace_of(tmp_path, '{"time":"1970-01-01T00:00:05Z","a":1}', schema=schema)

    assert list(trace.schema.index) == ["a"]
    assert read(trace) == [Event("some", 1, 1, 5_000_000, {"a": 1})]


@pytest.mark.parametrize(
    ("lines", "options", "words"),
    [
        (['{"a":1,"b":2}'], {"time": "t"}, "no event has the attribute t .*; use a, b"),
        (['{"time":1}', '{"a":1}'], {}, "line 2: no value of time, which says when"),
        (['{"time":1}', '{"time":"soon"}'], {}, "line 2: 'soon' is no time"),
        (['{"time":1769860800000}'], {}, "line 1: .* divide milliseconds by 1000"),
        (['{"_number":2}', '{"_number":2}'], {}, "line 2: number 2 of epoch 1 stands behind"),
        (['{"_number":"2"}'], {}, "line 1: _number is an integer"),
        (['{"_stream":5}'], {}, "line 1: _stream is a text"),
        (['{"a":1}', "x"], {}, "line 2: no JSON object"),
        (['{"_stream":"x"}', '{"_stream":"y"}'], {}, "x and y: choose one, as in --stream"),
        (['{"_stream":"x"}'], {"stream": "z"}, "has no stream z: choose another .*such as x"),
        (['{"":1}'], {}, "line 1: a tag has 1 to 256 characters"),
        (['{"_opaque":[1]}'], {}, "line 1: the tag _opaque"),
        (['{"b":1}'], {"schema": Schema.declare({"a": "int64"})}, "attribute b is not in"),
        (['{"a":1.5}'], {"schema": Schema.declare({"a": "int64"})}, "attribute a: expected"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_file_line_and_next_step(
    tmp_path: Path, lines: list[str], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(TraceError, match=f"some.jsonl.*{words}"):
        read(trace_of(tmp_path, "\n".join(lines), **options))


def test_a_bad_line_far_behind_is_refused_after_the_blocks_before_it(tmp_path: Path) -> None:
    lines = ['{"a":1}'] * (GATHER_EVENTS_MAX * 3) + ["x"]
    seen: list[int] = []

    with (
        trace_of(tmp_path, "\n".join(lines)) as trace,
        pytest.raises(TraceError, match=f"line {len(lines)}: no JSON object"),
    ):
        seen.extend(block.count for block in trace)
    assert seen == [GATHER_EVENTS_MAX] * 2


@pytest.mark.parametrize("behind", [[], ["c"]], ids=["last", "among others"])
def test_an_event_larger_than_any_block_is_refused_with_its_own_row(
    tmp_path: Path, behind: list[str]
) -> None:
    texts = ["a", "b" * (BLOCK_BYTES_MAX + 1), *behind]
    pq.write_table(pa.table({"text": texts}), tmp_path / "some.parquet")

    with pytest.raises(TraceError, match=r"some.parquet, row 2: a block has at most 16777216 byte"):
        read(open_trace(tmp_path / "some.parquet"))


@pytest.mark.parametrize("form", FORMS)
def test_one_of_several_streams_is_chosen(tmp_path: Path, form: str) -> None:
    schema = Schema.declare({"a": "int64"})
    some = [Event(stream, 1, 1, 0, {"a": 1}) for stream in ("x", "y", "z")]
    path = tmp_path / f"some.{form}"
    write(path, some, schema)

    trace = open_trace(path, stream="y")
    assert (trace.stream, read(trace)) == ("y", some[1:2])
    with pytest.raises(TraceError, match="several streams, x and y"):
        open_trace(path)


@pytest.mark.parametrize(
    ("text", "name", "kind", "last"),
    [
        ("a\n1\noff\n", "a.csv", Type.STRING, {"a": "off"}),
        ("a\n" + "1\n" * 1_024 + "off\n", "a.csv", Type.INT64, {OPAQUE: b'{"a": "off"}'}),
        ('{"a":1}\n{"a":"off"}\n', "a.jsonl", Type.INT64, {OPAQUE: b'{"a": "off"}'}),
        ('{"a":"off"}\n{"a":1}\n', "a.jsonl", Type.STRING, {OPAQUE: b'{"a": 1}'}),
    ],
)
def test_a_word_among_numbers_is_judged_by_the_first_records_of_csv_and_the_first_value_of_json(
    tmp_path: Path, text: str, name: str, kind: Type, last: dict[str, Any]
) -> None:
    trace = trace_of(tmp_path, text, name)

    assert trace.schema.type_of("a") is kind
    assert read(trace)[-1].values == last


def test_a_trace_that_names_no_stream_may_be_given_a_name(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, '{"a":1}', stream="ward-3")

    assert [event.stream for event in read(trace)] == ["ward-3"]


def test_digests_stand_between_the_blocks_where_they_were_written(tmp_path: Path) -> None:
    mine, other = Digest("s", 1, 2, 5, 3), Digest("t", 1, 2, 5, 3)
    some = [Event("s", 1, number, 0, {"a": 1}) for number in (1, 2, 6)]
    entries: list[Event | Digest] = [*some[:2], mine, other, some[2]]
    text = "\n".join(map(line_of, entries))

    with trace_of(tmp_path, text, stream="s") as trace:
        first, digest, last = trace.entries()
        assert digest == mine
        assert isinstance(first, Block)
        assert isinstance(last, Block)
        assert [first.count, last.count] == [2, 1]
    assert read(trace_of(tmp_path, text, stream="s")) == some


def test_the_schema_grows_while_an_open_trace_is_read(tmp_path: Path) -> None:
    lines = ['{"a":1}'] * GATHER_EVENTS_MAX + ['{"a":1.5,"b":"x"}', '{"a":"y"}']

    with trace_of(tmp_path, "\n".join(lines)) as trace:
        assert trace.schema.type_of("a") is Type.INT64
        blocks = list(trace)
        grown = trace.schema
    assert grown.types == (Type.FLOAT64, Type.STRING, Type.BYTES)
    assert list(grown.index) == ["a", "b", OPAQUE]
    last = [event.values for block in blocks for event in events_of(block, trace.schema)][-2:]
    assert same(last, [{"a": 1.5, "b": "x"}, {OPAQUE: b'{"a": "y"}'}])


def test_the_first_block_of_an_open_trace_has_one_version(tmp_path: Path) -> None:
    with trace_of(tmp_path, '{"a":1}\n{"b":1}\n{"a":0.5}\n') as trace:
        (block,) = trace
        assert block.version == trace.schema.version


def test_csv_widens_an_integer_and_sets_aside_what_does_not_fit(tmp_path: Path) -> None:
    rows = "1\n" * GATHER_EVENTS_MAX + "1.5\nx\n"
    trace = trace_of(tmp_path, "a\n" + rows, "some.csv")

    some = read(trace)
    assert trace.schema.type_of("a") is Type.FLOAT64
    assert same([one.values for one in some[-2:]], [{"a": 1.5}, {OPAQUE: b'{"a": "x"}'}])


def test_columns_keep_their_order_also_where_the_first_row_has_gaps(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, "a,b,c\n,2,\n1,2,3\n", "some.csv")

    assert list(trace.schema.index) == ["a", "b", "c"]
    trace.close()


def test_csv_with_a_header_alone_has_no_events(tmp_path: Path) -> None:
    assert read(trace_of(tmp_path, "time,a\n", "some.csv", time="time")) == []


@pytest.mark.parametrize("form", FORMS)
def test_how_far_it_is_grows_to_its_size(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"some.{form}"
    some = [Event("s", 1, number, 0, {"a": number}) for number in range(1, 5_000)]
    write(path, some, Schema.declare({"a": "int64"}))

    with open_trace(path) as trace:
        steps = [trace.done for _ in trace]
        assert trace.size == path.stat().st_size
        assert trace.done == trace.size
    assert len(steps) == 5
    assert steps == sorted(steps)
    assert steps[0] < path.stat().st_size


def test_standard_input_is_read_and_has_no_size(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b'{"a":1}\n')

    monkeypatch.setattr("sys.stdin", Stdin)
    trace = open_trace("-")

    assert (trace.size, trace.stream) == (None, "stdin")
    assert read(trace) == [Event("stdin", 1, 1, 0, {"a": 1})]


@pytest.mark.parametrize("form", FORMS)
def test_a_trace_is_never_held_in_memory(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"some.{form}"
    text = "x" * 1_000
    some = [Event("s", 1, number, 0, {"a": f"{number}{text}"}) for number in range(1, 20_001)]
    write(path, some, Schema.declare({"a": "string"}))
    del some

    tracemalloc.start()
    try:
        with open_trace(path) as trace:
            assert sum(block.count for block in trace) == 20_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000  # Of more than 20 MB.


@pytest.mark.parametrize("module", ["heliograph", "heliograph.event.trace"])
def test_reading_lines_loads_no_pyarrow(module: str) -> None:
    code = f"import {module}, sys; sys.exit('pyarrow' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_trace_that_cannot_be_opened_leaves_no_file_open(tmp_path: Path) -> None:
    for name, text in (("a.csv", "a,a\n"), ("a.jsonl", "x\n"), ("b.jsonl", '{"_number":0}\n')):
        with pytest.raises(TraceError):  # A file left open would be a ResourceWarning.
            read(trace_of(tmp_path, text, name))
