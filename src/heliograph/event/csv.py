"""CSV: a header of tags, then one event to a record.

An empty cell is an absent value and `""` is an empty text, as PostgreSQL has it: Python's own csv
module cannot tell them apart. Blanks around a cell without quotes mean nothing, inside quotes all.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.cells import cell, guess_cell, infer_cells, read_cell
from heliograph.event.convert import GATHER_BYTES_MAX, events_of
from heliograph.event.errors import EventError, TraceError
from heliograph.event.lines import LINE_BYTES_MAX, Lines, Record, too_long
from heliograph.event.types import Type, show_time

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from heliograph.event.block import Block
    from heliograph.event.event import Event
    from heliograph.event.schema import Schema

HEAD_RECORDS: Final = 1_024  # So many are looked at to infer the types of the columns.
_POSITIONS: Final = ("_stream", "_epoch", "_number", "_time")
_FIXED: Final = {
    "_stream": Type.STRING,
    "_epoch": Type.INT64,
    "_number": Type.INT64,
    "_time": Type.STRING,
}
# A cell between quotes or one without, and what ends it.
_CELL: Final = re.compile(
    r'(?:[ \t]*"(?P<quoted>[^"]*(?:""[^"]*)*)"[ \t]*|(?P<bare>[^,"]*))(?P<end>,|\Z)'
)
_QUOTED: Final = re.compile(r'[",\r\n\0]|^[ \t]|[ \t]$|^$')

Cells = list[str | None]


def header_of(schema: Schema) -> str:
    """Return the header of the events of a stream, without the line feed."""
    return ",".join([*_POSITIONS, *(quoted(one.tag) for one in schema.attributes)])


def line_of(event: Event, schema: Schema) -> str:
    """Return an event as one record, without the line feed that ends it."""
    cells = [quoted(event.stream), str(event.epoch), str(event.number), show_time(event.time)]
    for one in schema.attributes:
        value = event.values.get(one.tag)
        cells.append("" if value is None else quoted(cell(value)))
    return ",".join(cells)


def quoted(text: str) -> str:
    """Return a text as a cell, between quotes where it must be."""
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


class CsvWriter:
    """Writes the blocks of a stream; its digests have no place in CSV."""

    def __init__(self, file: TextIO, schema: Schema) -> None:
        """Write the header; open the file with `newline=""`, or Windows changes texts."""
        self.schema = schema
        self._file = file
        file.write(header_of(schema) + "\n")

    def write(self, block: Block, schema: Schema) -> None:
        """Write the events of a block.

        Raises:
            TraceError: The stream has gained an attribute that is not in the header.
        """
        added = [tag for tag in schema.index if tag not in self.schema.index]
        if added:
            raise TraceError(
                f"the stream gained {', '.join(added)} after the header of the CSV was written: "
                "write JSON lines, or give the schema before"
            )
        self._file.writelines(
            line_of(event, self.schema) + "\n" for event in events_of(block, schema)
        )


class CsvRecords:
    """Reads the records of CSV."""

    unit = "line"

    def __init__(
        self, lines: Lines, schema: Schema | None, head_records: int = HEAD_RECORDS
    ) -> None:
        """Read the header and, without a schema, enough records to infer what the columns hold.

        A program that writes as its sensor speaks is not waited for so long: give fewer.
        """
        self.source = lines
        self._head_records = head_records
        self._tags = self._header()
        self._declared = schema is not None
        self._head: list[tuple[int, Cells]] = []
        if schema is not None:
            known = {one.tag: one.type for one in schema.attributes}
        else:
            known = self._infer()
        self._kinds: list[Type | None] = [{**known, **_FIXED}.get(tag) for tag in self._tags]
        self.types = {} if self._declared else known

    def _header(self) -> list[str]:
        for line, cells in self._records():
            tags = [tag or "" for tag in cells]
            if "" in tags:
                raise self.source.trouble(
                    line, f"column {tags.index('') + 1} has no name: give it one"
                )
            twice = [tag for tag in dict.fromkeys(tags) if tags.count(tag) > 1]
            if twice:
                raise self.source.trouble(line, f"two columns are named {twice[0]}: rename one")
            if len(tags) == 1 and re.search("[;\t]", tags[0]):
                raise self.source.trouble(line, "columns are parted by commas: write the file so")
            return tags
        raise TraceError(f"{self.source.name} is empty: CSV begins with a header of tags")

    def _infer(self) -> dict[str, Type]:
        """Look at the first records, which stay to be read."""
        begin = self.source.done
        for line, cells in self._records():
            self._head.append((line, self._whole(line, cells)))
            if len(self._head) == self._head_records or self.source.done - begin > GATHER_BYTES_MAX:
                break
        known = {}
        for place, tag in enumerate(self._tags):
            column = [cells[place] for _, cells in self._head]
            kind = infer_cells([text for text in column if text is not None])
            if kind is not None:
                known[tag] = kind
        if "_opaque" in known:
            known["_opaque"] = Type.BYTES
        return known

    def __iter__(self) -> Iterator[Record]:
        """Yield the records behind the header.

        Raises:
            TraceError: A record has too few or too many cells, or one of another type.
        """
        head, self._head = self._head, []
        for line, cells in chain(head, self._records()):
            values = {}
            for place, text in enumerate(self._whole(line, cells)):
                if text is not None:
                    values[self._tags[place]] = self._value(line, place, text)
            yield Record(line, values)

    def _whole(self, line: int, cells: Cells) -> Cells:
        if len(cells) != len(self._tags):
            raise self.source.trouble(
                line,
                f"a record of {len(cells)} under a header of {len(self._tags)} cells: "
                "the file may be cut short here; correct the line or remove it",
            )
        return cells

    def _value(self, line: int, place: int, text: str) -> Any:
        kind, tag = self._kinds[place], self._tags[place]
        try:
            if self._declared or tag in _FIXED:
                # A column that the schema does not have may still be the one with the times.
                return text if kind is None else read_cell(text, kind)
            if kind is None:
                # Nothing stood in this column until now.
                kind = self._kinds[place] = infer_cells([text]) or Type.STRING
            return guess_cell(text, kind)
        except EventError as error:
            raise self.source.trouble(line, f"column {tag}: {error}") from None

    def _records(self) -> Iterator[tuple[int, Cells]]:
        """Yield the line on which each record begins, and its cells."""
        for line, raw in self.source:
            if not raw or raw.isspace():
                continue
            text = self.source.text(line, raw)
            if b'"' in raw:
                text = self._joined(line, text)
            yield line, self._cells(line, text.removesuffix("\r"))

    def _joined(self, line: int, text: str) -> str:
        """Return a record whole: between quotes it may go on over many lines."""
        parts, size = [text], len(text)
        is_open = text.count('"') % 2 == 1
        while is_open:
            following = next(self.source, None)
            if following is None:
                raise self.source.trouble(
                    line, 'a quote (") is never closed: the file may be cut short; correct the line'
                )
            more = self.source.text(*following)
            size += len(following[1]) + 1
            if size > LINE_BYTES_MAX:
                raise self.source.trouble(
                    line, f'a quote (") is not closed here, and the record becomes {too_long()}'
                )
            parts.append(more)
            is_open ^= more.count('"') % 2 == 1
        return "\n".join(parts)

    def _cells(self, line: int, text: str) -> Cells:
        """Split a record into cells; None is one with nothing in it."""
        if '"' not in text:
            self._check_nul(line, text)
            return [part.strip(" \t") or None for part in text.split(",")]
        cells: Cells = []
        place = 0
        while True:
            found = _CELL.match(text, place)
            if found is None:
                raise self.source.trouble(
                    line,
                    f'cell {len(cells) + 1} has a quote (") in its middle: put the whole cell '
                    'between quotes, and write "" for one inside',
                )
            if found["quoted"] is not None:
                cells.append(found["quoted"].replace('""', '"'))
            else:
                self._check_nul(line, found["bare"])
                cells.append(found["bare"].strip(" \t") or None)
            place = found.end()
            if not found["end"]:
                return cells

    def _check_nul(self, line: int, text: str) -> None:
        if "\0" in text:
            raise self.source.trouble(
                line, "a NUL byte: the file is damaged from here, or was never written; cut it"
            )
