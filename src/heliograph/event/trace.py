"""Trace: a recorded stream, read block by block without ever holding the whole of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from heliograph.event.block import Block
from heliograph.event.convert import GATHER_BYTES_MAX, GATHER_EVENTS_MAX, Gather
from heliograph.event.errors import EventError, TraceError
from heliograph.event.forms import STDIN, open_form
from heliograph.event.lines import Record
from heliograph.event.positions import Positions
from heliograph.event.schema import RESERVED, Attribute, Schema
from heliograph.event.timing import SECOND, check_time, find_time, read_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heliograph.event.digest import Digest
    from heliograph.event.forms import Reader, Source
    from heliograph.event.types import Type


def open_trace(
    source: str | Path,
    *,
    schema: Schema | None = None,
    time: str | None = None,
    stream: str | None = None,
    form: str = "",
) -> Trace:
    """Open a recorded stream: JSON lines, CSV or Parquet.

    Args:
        source: A path, or `-` for standard input.
        schema: What the attributes are; without it they are inferred.
        time: The attribute that says when an event happened; without it, one with a usual name.
        stream: Which stream to read, of a trace that holds several.
        form: "csv", "jsonl" or "parquet", where neither the name of the file nor its beginning say.

    Raises:
        TraceError: It cannot be read, or its first events cannot.
    """
    reader, origin = open_form(source, schema, form)
    stem = "stdin" if str(source) == STDIN else Path(source).stem
    try:
        return Trace(reader, origin, schema=schema, time=time, stream=stream, stem=stem)
    except BaseException:
        origin.close()
        raise


class Trace:
    """The blocks of one recorded stream; iterate over it once, and use it as a context manager."""

    def __init__(
        self,
        reader: Reader,
        source: Source,
        *,
        schema: Schema | None,
        time: str | None,
        stream: str | None,
        stem: str,
    ) -> None:
        """Look at the first events: what their stream, their times and their attributes are."""
        self._source = source
        self._unit = reader.unit
        self._records = iter(reader)
        self._head = self._first()
        events = [record.values for record in self._head if record.digest is None]
        named = len(events) < len(self._head) or any("_stream" in values for values in events)
        # A trace that names no stream is all of one, and whoever reads it may name that.
        self._positions = Positions(stem if named or stream is None else stream, stream)
        self._time_tag = self._find_time(time, events)
        self._count = 0
        self.schema = self._begin(schema, reader.types)
        self._grow()

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    @property
    def stream(self) -> str:
        """The key of the stream; without one in the trace, the name of the file."""
        return self._positions.stream or self._positions.default

    @property
    def timed(self) -> bool:
        """Whether the trace says when its events happened; else they are a second apart."""
        return self._time_tag is not None

    @property
    def done(self) -> int:
        """How many bytes have been read."""
        return self._source.done

    @property
    def size(self) -> int | None:
        """How many bytes there are to read; None where that cannot be known."""
        return self._source.size

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks; digests that the trace holds are left out."""
        return (entry for entry in self.entries() if isinstance(entry, Block))

    def entries(self) -> Iterator[Block | Digest]:
        """Yield the blocks and digests in their order; `schema` reads all that came before it.

        Raises:
            TraceError: An event cannot be read; names the file and the line.
        """
        gather = Gather()
        head, self._head = self._head, []
        last = None
        for record in chain(head, self._records):
            blamed, digest = record, record.digest
            try:
                event = self._event(record)
                if digest is not None and digest.stream != self.stream:
                    digest = None
                # From here on only what was gathered can be refused: one event, beyond any block.
                blamed = last or record
                if event is not None:
                    full, last = gather.add(*event), record
                else:
                    full = None if digest is None else gather.flush()
            except (EventError, RecursionError) as error:
                raise self._trouble(blamed, error) from None
            if full is not None:
                yield full
            if digest is not None:
                yield digest
        try:
            full = gather.flush()
        except EventError as error:
            raise self._trouble(last or Record(0, {}), error) from None
        if full is not None:
            yield full
        if not self._count and self._positions.other is not None:
            raise TraceError(
                f"{self._source.name} has no stream {self.stream}: choose another with --stream, "
                f"such as {self._positions.other}"
            )

    def _event(self, record: Record) -> tuple[str, int, int, int, Sequence[Any], int] | None:
        """Return an event as it is gathered; None for a digest, and for what is not of the stream.

        Raises:
            EventError: It is no event, or it does not stand behind the one before.
        """
        if record.digest is not None:
            self._positions.chosen(record.digest.stream)
            return None
        values = record.values
        stream = self._positions.stream_of(values)
        if not self._positions.chosen(stream):
            return None
        epoch, number = self._positions.step(values)
        time = self._time(values)
        self._count += 1
        self.schema, row = self.schema.absorb(values)
        return stream, epoch, number, time, row, self.schema.version

    def _time(self, values: dict[str, Any]) -> int:
        """Return, and take out, when an event happened."""
        own = values.pop("_time", None)
        tag = self._time_tag
        if tag is None:
            return self._count * SECOND
        value = own if tag == "_time" else values.pop(tag, None)
        if value is None:
            raise EventError(
                f"no value of {tag}, which says when events happened: add it, or choose another "
                "attribute with --time"
            )
        return read_time(value)

    def _first(self) -> list[Record]:
        """Return the first records, at most a block's worth."""
        head: list[Record] = []
        begin = self._source.done
        for record in self._records:
            head.append(record)
            if len(head) == GATHER_EVENTS_MAX or self._source.done - begin > GATHER_BYTES_MAX:
                break
        return head

    def _find_time(self, wanted: str | None, events: list[dict[str, Any]]) -> str | None:
        if wanted is None:
            return find_time(events)
        try:
            check_time(wanted, events)
        except EventError as error:
            raise TraceError(f"{self._source.name}: {error}") from None
        return wanted

    def _begin(self, declared: Schema | None, types: dict[str, Type]) -> Schema:
        """Return the schema to begin with, in which the time of events is no attribute."""
        if declared is not None:
            rest = tuple(one for one in declared.attributes if one.tag != self._time_tag)
            return replace(declared, attributes=rest)
        outside = (*RESERVED, self._time_tag)
        try:
            return Schema(
                tuple(Attribute(tag, kind) for tag, kind in types.items() if tag not in outside)
            )
        except EventError as error:
            raise TraceError(f"{self._source.name}: {error}") from None

    def _grow(self) -> None:
        """Let the schema grow for the first events, so that their blocks are of one version."""
        for record in self._head:
            values = dict(record.values)
            try:
                if record.digest is not None:
                    self._positions.chosen(record.digest.stream)
                elif self._positions.chosen(self._positions.stream_of(values)):
                    outside = (*RESERVED[:4], self._time_tag)
                    rest = {tag: value for tag, value in values.items() if tag not in outside}
                    self.schema, _ = self.schema.absorb(rest)
            except (EventError, RecursionError) as error:
                raise self._trouble(record, error) from None

    def _trouble(self, record: Record, error: Exception) -> TraceError:
        return TraceError(f"{self._source.name}, {self._unit} {record.line}: {error}")
