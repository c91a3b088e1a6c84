from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from cli.running import PULSE, write_trace
from heliograph.cli.origins import Reading, from_generator, from_stdin, from_trace
from heliograph.event.errors import TraceError, UsageError
from heliograph.event.trace import open_trace

if TYPE_CHECKING:
    from pathlib import Path

NOON = 1_700_000_000


def piped(text: str, form: str = "", time_tag: str | None = None) -> list[Reading]:
    given = io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8")
    with mock.patch("sys.stdin", given):
        return list(from_stdin(form, time_tag))


def test_json_lines_are_events() -> None:
    assert piped('{"v": 1}\n\n{"a": {"b": 2}}\n') == [
        Reading({"v": 1}, None), Reading({"a.b": 2}, None),
    ]  # fmt: skip


def test_positions_and_digests_of_another_stream_are_left_out() -> None:
    text = '{"_stream": "x", "_epoch": 1, "_number": 7, "v": 1}\n'
    digest = '{"_digest": {"stream": "x", "epoch": 1, "after": 7, "upto": 9, "count": 2}}\n'
    assert piped(text + digest) == [Reading({"v": 1}, None)]


def test_csv_needs_no_more_than_its_first_record() -> None:
    assert piped("v,w\n1,a\n2.5,b\n") == [
        Reading({"v": 1, "w": "a"}, None), Reading({"v": 2.5, "w": "b"}, None),
    ]  # fmt: skip


@pytest.mark.parametrize("tag", ["_time", "time", "TS"])
def test_an_attribute_of_a_usual_name_is_the_time(tag: str) -> None:
    assert piped(f'{{"{tag}": {NOON}, "v": 1}}\n') == [Reading({"v": 1}, NOON * 1_000_000)]


def test_any_attribute_may_be_the_time() -> None:
    assert piped(f"at,v\n{NOON},1\n", time_tag="at") == [Reading({"v": 1}, NOON * 1_000_000)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'{{"time": {NOON}}}\n{{"v": 1}}\n', "line 2: no value of time"),
        (f'{{"time": {NOON}}}\n{{"time": "noon"}}\n', "line 2: 'noon' is no time"),
        ('{"v": 1\n', "line 1: no JSON object"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(text: str, said: str) -> None:
    with pytest.raises(TraceError, match=said):
        piped(text)


def test_nothing_is_no_event() -> None:
    assert piped("") == []


def test_parquet_is_no_pipe() -> None:
    with pytest.raises(UsageError, match="save it to a file"):
        piped("x", "parquet")


def test_a_line_is_an_event_as_soon_as_it_is_there() -> None:
    inside, outside = os.pipe()
    with os.fdopen(inside, "rb") as reader, os.fdopen(outside, "wb", buffering=0) as writer:
        given: Any = mock.Mock(buffer=reader)
        writer.write(b"v\n1\n")
        with mock.patch("sys.stdin", given):
            events = from_stdin("", None)
            assert next(events).values == {"v": 1}
            writer.write(b"2\n")
            assert next(events).values == {"v": 2}


def test_a_trace_gives_its_events_with_their_times(tmp_path: Path) -> None:
    with open_trace(PULSE) as trace:
        found = list(from_trace(trace))
    assert len(found) == 3_000
    assert found[0].values["PulseRate"] == 76
    assert found[1].time == (found[0].time or 0) + 200_000
    with open_trace(write_trace(tmp_path, ["v", "1"])) as trace:
        assert list(from_trace(trace)) == [Reading({"v": 1}, None)]


def test_a_generator_gives_no_times() -> None:
    assert next(from_generator("pulse", 1)).time is None
