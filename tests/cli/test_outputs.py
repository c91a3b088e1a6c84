from __future__ import annotations

import io
from unittest import mock

import pytest
from pyarrow import ipc

from heliograph.cli.outputs import ArrowOutput, JsonOutput, TableOutput, output
from heliograph.event.digest import Digest
from heliograph.event.errors import UsageError
from heliograph.event.event import Event
from heliograph.event.schema import Schema

NOON = 1_700_000_000_000_000
SCHEMA = Schema.declare({"PulseRate": "int64", "patient": "string"})


def event(number: int, **values: object) -> Event:
    return Event("s", 1, number, NOON + number * 1_000_000, values)


DIGEST = Digest("s", 1, 1, 3, 2, 0, NOON, NOON)


def test_a_table_has_a_head_and_digests_apart(capsys: pytest.CaptureFixture[str]) -> None:
    table = TableOutput()
    table.write([event(1, PulseRate=61, patient="p-7"), DIGEST], SCHEMA)
    table.write([event(4, PulseRate=None, patient="x" * 90)], SCHEMA)
    table.close()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["number", "time", "(UTC)", "PulseRate", "patient"]
    assert lines[2].split() == ["1", "22:13:21.000", "61", "p-7"]
    assert lines[3].startswith("-- 2 to 3: 2 dropped; 22:13:20.000")
    assert lines[4].split()[2:] == ["-", "x" * 37 + "..."]


def test_a_table_of_a_stream_that_gains_an_attribute_gets_a_new_head(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = TableOutput()
    table.write([event(1, PulseRate=61)], Schema.declare({"PulseRate": "int64"}))
    table.write([event(2, PulseRate=61, patient="p")], SCHEMA)
    assert capsys.readouterr().out.count("number") == 2


def test_json_lines_are_those_of_traces() -> None:
    file = io.StringIO()
    lines = JsonOutput(file)
    lines.write([event(1, PulseRate=61), DIGEST], SCHEMA)
    lines.close()
    one, other = file.getvalue().splitlines()
    assert one.endswith('"_time":"2023-11-14T22:13:21Z","PulseRate":61}')
    assert other.startswith('{"_digest":{"stream":"s"')


def test_arrow_keeps_the_order_of_events_and_digests() -> None:
    file = io.BytesIO()
    arrow = ArrowOutput(file)
    arrow.write([event(1, PulseRate=61), DIGEST, event(4, PulseRate=62)], SCHEMA)
    arrow.close()
    batches = [one.num_rows for one in ipc.open_stream(file.getvalue())]
    assert batches == [1, 0, 1]


def test_arrow_is_not_for_a_terminal() -> None:
    with (
        mock.patch("sys.stdout.isatty", return_value=True),
        pytest.raises(UsageError, match="a pipe"),
    ):
        output("arrow")


def test_arrow_needs_pyarrow() -> None:
    with (
        mock.patch.dict("sys.modules", {"heliograph.event.ipc": None}),
        pytest.raises(UsageError, match="needs pyarrow: pip install"),
    ):
        ArrowOutput(io.BytesIO())


def test_each_format_has_its_output() -> None:
    assert isinstance(output("table"), TableOutput)
    assert isinstance(output("jsonl"), JsonOutput)


def test_what_events_say_commands_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    schema = Schema.declare({"te\x1bxt": "string"})
    event = Event("s", 1, 1, 0, {"te\x1bxt": "\x1b[2Jred\x9b\n"})
    TableOutput().write([event], schema)
    printed = capsys.readouterr().out
    assert all(line.isprintable() for line in printed.splitlines())
    assert len(printed.splitlines()) == 3
