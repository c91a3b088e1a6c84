"""Forms: which form a recorded stream has, and what reads that."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from heliograph.event.csv import CsvRecords
from heliograph.event.errors import TraceError
from heliograph.event.jsonl import JsonLines
from heliograph.event.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heliograph.event.lines import Record
    from heliograph.event.schema import Schema
    from heliograph.event.types import Type

STDIN: Final = "-"
_FORMS: Final = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
}
_PARQUET: Final = b"PAR1"
_GZIP: Final = b"\x1f\x8b"


class Reader(Protocol):
    """What knows one form of trace; `types` are those of an open schema, where the form says."""

    unit: str
    types: dict[str, Type]

    def __iter__(self) -> Iterator[Record]: ...


class Source(Protocol):
    """What the records are read from."""

    name: str

    @property
    def done(self) -> int:
        """How many bytes have been read."""

    @property
    def size(self) -> int | None:
        """How many there are, if that can be known."""

    def close(self) -> None:
        """Close the file."""


def open_form(source: str | Path, schema: Schema | None, form: str = "") -> tuple[Reader, Source]:
    """Find out which form a trace has, and return what reads it, and what it is read from."""
    if str(source) == STDIN:
        lines = Lines(sys.stdin.buffer, "standard input")
        form = form or _sniff(lines)
        if form == "parquet":
            raise TraceError("Parquet is read from its end: save it to a file, and name that")
    else:
        form = form or _FORMS.get(Path(source).suffix.lower(), "")
        try:
            lines = Lines(Path(source).open("rb"), str(source))  # noqa: SIM115 - the trace closes it
        except OSError as error:
            reason = error.strerror or str(error)
            raise TraceError(f"{source} cannot be read: {reason}; check its name") from None
    try:
        form = form or _sniff(lines)
        if form == "parquet":
            lines.close()
            return _open_parquet(source)
        _check_empty(lines)
        reader: Reader = JsonLines(lines, schema) if form == "jsonl" else CsvRecords(lines, schema)
    except BaseException:
        lines.close()
        raise
    return reader, lines


def _check_empty(lines: Lines) -> None:
    if not lines.peek():
        raise TraceError(f"{lines.name} is empty: a trace has at least one line")


def _sniff(lines: Lines) -> str:
    first = lines.peek().lstrip()
    if first.startswith(_PARQUET):
        return "parquet"
    if first.startswith(_GZIP):
        raise TraceError(f"{lines.name} is compressed: read it through zcat, as standard input")
    return "jsonl" if first[:1] in (b"{", b"[") else "csv"


def _open_parquet(source: str | Path) -> tuple[Reader, Source]:
    try:
        from heliograph.event.parquet import ParquetRecords  # noqa: PLC0415 - only if asked for
    except ImportError:
        raise TraceError(
            f"{source} is Parquet, which needs pyarrow: pip install 'heliograph[planet]'"
        ) from None
    reader = ParquetRecords(source)
    return reader, reader
