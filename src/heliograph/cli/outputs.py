"""Outputs: what a receiver gets, as a table, as JSON lines or as an Arrow stream."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, TextIO

import click

from heliograph.cli.table import shown
from heliograph.cli.words import clock, digest_words
from heliograph.event.digest import Digest
from heliograph.event.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heliograph.event.event import Event
    from heliograph.event.schema import Schema

FORMATS: Final = ("table", "jsonl", "arrow")
_CELL_MIN: Final = 6
_CELL_MAX: Final = 40


class Output(Protocol):
    """What writes the events and digests that come."""

    def write(self, entries: Sequence[Event | Digest], schema: Schema) -> None:
        """Write some, in their order."""

    def close(self) -> None:
        """Write what is to stand at the end."""


def output(form: str) -> Output:
    """Return what writes a format to standard output."""
    if form == "jsonl":
        return JsonOutput(sys.stdout)
    if form == "arrow":
        if sys.stdout.isatty():
            raise UsageError("--format arrow is for programs: write it to a file or a pipe")
        return ArrowOutput(sys.stdout.buffer)
    return TableOutput()


class JsonOutput:
    """One event or digest to a line, in the form of traces."""

    def __init__(self, file: TextIO) -> None:
        """Write to a file."""
        self._file = file

    def write(self, entries: Sequence[Event | Digest], schema: Schema) -> None:
        """Write some lines, and let whoever reads them have them."""
        from heliograph.event.jsonl import line_of

        del schema
        self._file.writelines(f"{line_of(one)}\n" for one in entries)
        self._file.flush()

    def close(self) -> None:
        """End."""


class ArrowOutput:
    """An Arrow IPC stream."""

    def __init__(self, file: BinaryIO) -> None:
        """Write to a file."""
        try:
            from heliograph.event.ipc import IpcWriter
        except ImportError:
            raise UsageError(
                "--format arrow needs pyarrow: pip install 'heliograph[planet]'"
            ) from None
        self._file = file
        self._writer = IpcWriter(file)

    def write(self, entries: Sequence[Event | Digest], schema: Schema) -> None:
        """Write the events between digests as batches."""
        run: list[Event] = []
        for one in entries:
            if not isinstance(one, Digest):
                run.append(one)
                continue
            if run:
                self._writer.events(run, schema)
                run = []
            self._writer.digest(one, schema)
        if run:
            self._writer.events(run, schema)
        self._file.flush()

    def close(self) -> None:
        """Write the end of the stream."""
        self._writer.close()


class TableOutput:
    """A table for people; a digest is a line of its own, which begins with dashes."""

    def __init__(self) -> None:
        """Begin without a head: what columns there are is seen with the first event."""
        self._tags: list[str] = []
        self._widths: list[int] = []

    def write(self, entries: Sequence[Event | Digest], schema: Schema) -> None:
        """Write some rows."""
        for one in entries:
            if isinstance(one, Digest):
                click.secho(f"-- {shown(digest_words(one))}", fg="yellow")
                continue
            self._head(one, schema)
            cells = [str(one.number), clock(one.time), *(one.values.get(tag) for tag in self._tags)]
            self._row([_text(cell) for cell in cells])
        sys.stdout.flush()

    def _head(self, event: Event, schema: Schema) -> None:
        """Write a head where there is none yet, or where the stream has gained an attribute."""
        known = [one.tag for one in schema.attributes] or list(event.values)
        if known == self._tags and self._widths:
            return
        self._tags, heads = known, [*map(shown, known)]
        wide = [
            max(_CELL_MIN, len(_text(event.values.get(tag))), len(head))
            for tag, head in zip(known, heads, strict=True)
        ]
        self._widths = [8, 12, *(min(width, _CELL_MAX) for width in wide)]
        self._row(["number", "time (UTC)", *heads])
        self._row(["-" * width for width in self._widths])

    def _row(self, cells: list[str]) -> None:
        aligned = [cell.rjust(width) for cell, width in zip(cells, self._widths, strict=True)]
        click.echo("  ".join(aligned).rstrip())

    def close(self) -> None:
        """End."""


def _text(cell: Any) -> str:
    if cell is None:
        return "-"
    text = shown(cell.isoformat() if hasattr(cell, "isoformat") else str(cell))
    return text if len(text) <= _CELL_MAX else text[: _CELL_MAX - 3] + "..."
