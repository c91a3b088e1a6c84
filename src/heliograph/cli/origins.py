"""Origins: where the events come from that `pub` publishes."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.errors import EventError, TraceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heliograph.event.lines import Record
    from heliograph.event.trace import Trace

STDIN: Final = "-"
FORMATS: Final = ("csv", "jsonl", "parquet")
LINES_WANTED: Final = 'JSON lines, such as {"open": true}, or CSV under a header of names'


@dataclass(frozen=True, slots=True)
class Reading:
    """What is published as one event; a time of None is the time when it is published."""

    values: dict[str, Any]
    time: int | None


def from_trace(source: Trace) -> Iterator[Reading]:
    """Yield the events of a trace; one that says no times gives none."""
    from heliograph.event.convert import events_of

    for block in source:
        for event in events_of(block, source.schema):
            yield Reading(event.values, event.time if source.timed else None)


def from_stdin(form: str, time_tag: str | None) -> Iterator[Reading]:
    """Yield the events of standard input, each as soon as its line is there.

    Raises:
        TraceError: A line cannot be read; names it.
    """
    from heliograph.event.csv import CsvRecords
    from heliograph.event.jsonl import JsonLines
    from heliograph.event.lines import Lines
    from heliograph.event.schema import RESERVED
    from heliograph.event.timing import find_time, read_time

    if form == "parquet":
        raise UsageError("Parquet is read from its end: save it to a file, and name that")
    lines = Lines(sys.stdin.buffer, "standard input")
    first = lines.peek().lstrip()
    if not first:
        return
    if not form:
        form = "jsonl" if first.startswith((b"{", b"[")) else "csv"
        if form == "csv" and _number(first.split(b",")[0]):
            raise lines.trouble(1, f"a number where a name was expected; write {LINES_WANTED}")
    reader = JsonLines(lines, None) if form == "jsonl" else CsvRecords(lines, None, 1)
    tag = time_tag
    for record in reader:
        if record.digest is not None:
            continue  # What it tells of was dropped elsewhere, of another stream.
        if tag is None:
            tag = find_time([record.values]) or ""
        time = _taken(record, tag)
        values = {name: one for name, one in record.values.items() if name not in RESERVED}
        try:
            yield Reading(values, None if time is None else read_time(time))
        except EventError as error:
            raise TraceError(f"standard input, line {record.line}: {error}") from None


def _number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _taken(record: Record, tag: str) -> Any:
    """Take out, and return, what an event says of its time."""
    if not tag:
        return None
    time = record.values.pop(tag, None)
    if time is None:
        raise TraceError(
            f"standard input, line {record.line}: no value of {tag}, which says when events "
            "happened: add it, or choose another attribute with --time"
        )
    return time


def from_generator(name: str, seed: int) -> Iterator[Reading]:
    """Yield the readings of a generator, without end."""
    from heliograph.cli.generators import generate

    for values in generate(name, seed):
        yield Reading(values, None)
