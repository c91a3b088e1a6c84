"""JSON lines: written and read back the same, and every damage is named with its line."""

from __future__ import annotations

import io
import json
import math
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.convert import events_of
from heliograph.event.digest import Digest, Part
from heliograph.event.errors import EventError, TraceError
from heliograph.event.event import Event
from heliograph.event.jsonl import (
    JsonLines,
    digest_object,
    flatten,
    line_of,
    lines_of,
    read_digest,
)
from heliograph.event.lines import Lines
from heliograph.event.schema import OPAQUE, Schema
from heliograph.event.types import Type, show_time
from strategies import PROPERTY, blocks, same, schemas

if TYPE_CHECKING:
    from heliograph.event.lines import Record


def read(data: bytes | str, schema: Schema | None = None) -> list[Record]:
    raw = data.encode() if isinstance(data, str) else data
    return list(JsonLines(Lines(io.BytesIO(raw), "some.jsonl"), schema))


@PROPERTY
@given(st.data())
def test_the_lines_of_a_block_hold_its_events(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    block = data.draw(blocks(schema))

    lines = list(lines_of(block, schema))

    for record, event in zip(read("\n".join(lines), schema), events_of(block, schema), strict=True):
        positions = {
            "_stream": "s",
            "_epoch": 1,
            "_number": event.number,
            "_time": show_time(event.time),
        }
        assert same(record.values, positions | event.values)


def test_a_line_is_flat_json_with_positions_first() -> None:
    event = Event("ward-3", 1, 7, 0, {"PulseRate": 61, "none": None, "raw": b"\xff", "x": math.nan})

    assert line_of(event) == (
        '{"_stream":"ward-3","_epoch":1,"_number":7,"_time":"1970-01-01T00:00:00Z",'
        '"PulseRate":61,"raw":"/w==","x":"NaN"}'
    )


@pytest.mark.parametrize(
    "value", [1, 1.5, -0.0, math.inf, -math.inf, "Infinity", "text", b"\x00sketch", True, None]
)
@pytest.mark.parametrize("rest", [0.0, -0.0, 1e-9, math.nan])
def test_a_digest_comes_back_the_same(value: Any, rest: float) -> None:
    parts = (Part("MAX", "a", 2, value, rest), Part("COUNT", "b", 0, 0))
    digest = Digest("s", 1, 4, 9, 2, 1, -5, 1_000_001, parts)

    (line,) = lines_of(digest, Schema())
    (record,) = read(line)

    assert record.digest is not None
    assert same(as_lists(record.digest), as_lists(digest))


def as_lists(digest: Digest) -> Any:
    return [*msgspec.structs.astuple(digest)[:-1], list(map(msgspec.structs.astuple, digest.parts))]


def test_a_digest_without_what_may_be_left_out_is_read() -> None:
    (record,) = read('{"_digest":{"stream":"s","epoch":1,"after":0,"upto":5,"count":5}}')

    assert record.digest == Digest("s", 1, 0, 5, 5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"count": 99}, "cannot count 99 events"),
        ({"count": "2"}, "no digest: Expected `int`"),
        ({"count": None}, "no digest: Expected `int`"),
        ({"first_time": "soon"}, "not an ISO 8601 time"),
        ({"first_time": 5}, "no digest"),
        ({"parts": 5}, "no digest"),
        ({"parts": [5]}, "no digest"),
        ({"parts": [{"digester": "MAX"}]}, "without its value"),
        ({"parts": [{"value": 1, "digester": 5, "attribute": "a", "known": 1}]}, "no digest"),
        ({"parts": [{"sketch": "!", "digester": "X", "attribute": "a", "known": 1}]}, "base64"),
    ],
)
def test_an_object_that_is_no_digest_is_refused(changes: dict[str, Any], words: str) -> None:
    found = digest_object(Digest("s", 1, 4, 9, 2))

    with pytest.raises(EventError, match=words):
        read_digest(found | changes)
    with pytest.raises(TraceError, match=r"some.jsonl, line 2: "):
        read("\n" + json.dumps({"_digest": found | changes}))


def test_a_digest_without_a_field_or_with_something_beside_it_is_refused() -> None:
    with pytest.raises(EventError, match="a digest without its stream"):
        read_digest({})
    with pytest.raises(EventError, match="no digest"):
        read_digest([1])
    with pytest.raises(TraceError, match="nothing beside it"):
        read('{"_digest":{},"a":1}')


def test_nested_objects_become_tags_with_dots() -> None:
    (record,) = read('{"a":{"b":1,"c":{"d":[2]},"e":{}},"f":null}')

    assert record.values == {"a.b": 1, "a.c.d": [2], "f": None}


def test_two_attributes_that_get_one_tag_are_refused() -> None:
    with pytest.raises(TraceError, match=r"line 1: two attributes of the tag a.b: rename one"):
        read('{"a":{"b":1},"a.b":2}')


def test_objects_nested_a_thousand_deep_cost_no_stack() -> None:
    deep: dict[str, Any] = {"a": 1}
    for _ in range(5_000):
        deep = {"a": deep}

    assert list(flatten(deep).values()) == [1]


def test_blank_lines_are_skipped_and_counted() -> None:
    assert [record.line for record in read('\n{"a":1}\r\n \n{"a":2}\n')] == [2, 4]


def test_integers_of_any_length_are_read_as_they_are() -> None:
    assert read('{"a":123456789012345678901234567890}')[0].values == {
        "a": 123456789012345678901234567890
    }


def test_the_opaque_attribute_is_bytes_also_without_a_schema() -> None:
    assert read(f'{{"{OPAQUE}":"e30="}}')[0].values == {OPAQUE: b"{}"}


def test_text_is_not_guessed_at_without_a_schema() -> None:
    values = {"a": "NaN", "b": "2026-01-31T12:00:00Z", "c": "/w=="}

    assert read(json.dumps(values))[0].values == values


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"a":NaN}', "JSON has no NaN or infinity: write null, or leave the attribute out"),
        (b'{"a":[1,-Infinity]}', "JSON has no NaN or infinity"),
        (b'{"a":1', "the line is cut short"),
        (b'{"a":"x', "the line is cut short"),
        (b'[{"a":1}]', "not one array: convert it with jq"),
        (b"5", "each line is one event"),
        (b"pulse,61", "each line is one event"),
        (b'{"a":1}{"a":2}', "each line is one event"),
        (b'{"a":1e999}', "no JSON object"),
        (b'{"a":"\xff"}', "byte 0xff at place 1 is not UTF-8"),
        (b'{"a":"\\ud800"}', "half a character, which no text has"),
        (b'{"a":"\\\\\\ud800x"} ', "half a character, which no text has"),
        (b'{"a":"\\udc00"}', "half a character, which no text has"),
        (b'{"a":"\\ud83d\\u0041"}', "half a character, which no text has"),
        (b'{"a":"\\ud83d', "the line is cut short"),
        (b'{"b":{"a":"\\\\ud83d"}', "the line is cut short"),
        (b'{"b":{"a":"\\ud83d\\ude00"}', "the line is cut short"),
        (b'{"a":\x00}', "a NUL byte"),
        (b"\x00" * 50, "a NUL byte"),
        (b'{"a":' * 99_999, "nested too deep"),
    ],
)
def test_a_line_that_is_no_event_is_refused_with_its_place_and_the_next_step(
    line: bytes, words: str
) -> None:
    with pytest.raises(TraceError, match=f"^some.jsonl, line 2: .*{words}"):
        read(b'{"a":1}\n' + line + b"\n")


def test_the_advice_for_nan_keeps_the_attribute_a_number() -> None:
    schema = Schema()
    for record in read('{"a":null}\n{"a":1.5}\n{}'):
        schema, _ = schema.absorb(record.values)

    assert schema.type_of("a") is Type.FLOAT64


@PROPERTY
@given(st.binary(max_size=80))
def test_any_bytes_are_records_or_a_trace_error(data: bytes) -> None:
    for raw in (data, b'{"a":' + data + b"}"):
        assert trouble_of(raw).startswith(("none", "some.jsonl, line "))


def trouble_of(raw: bytes) -> str:
    try:
        read(raw)
    except TraceError as error:
        return str(error)
    return "none"


def test_declared_text_that_is_no_such_value_is_refused_with_the_attribute() -> None:
    schema = Schema.declare({"a": "bytes", "b": "timestamp"})

    with pytest.raises(TraceError, match="line 1: attribute a: '!' is not base64"):
        read('{"a":"!"}', schema)
    with pytest.raises(TraceError, match="line 1: attribute b: 'soon' is not an ISO 8601 time"):
        read('{"b":"soon"}', schema)
