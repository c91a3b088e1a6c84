"""Parquet: recorded streams as columnar files, the form that DuckDB, Polars and Spark read too.

Needs pyarrow; nobody imports this file before such a trace is read or written.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from heliograph.event import arrow
from heliograph.event.convert import GATHER_BYTES_MAX, GATHER_EVENTS_MAX
from heliograph.event.errors import EventError, TraceError
from heliograph.event.jsonl import flatten
from heliograph.event.lines import Record
from heliograph.event.types import Type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heliograph.event.block import Block
    from heliograph.event.schema import Schema

GROUP_EVENTS: Final = 65_536
GROUP_BYTES: Final = 16 * 2**20
_TIME: Final = arrow.arrow_type(Type.TIMESTAMP)
_TYPES: Final = {arrow.arrow_type(kind): kind for kind in Type}
_DIGITS_INT64 = 18  # Any integer of so many digits is within int64,
_DIGITS_FLOAT64 = 15  # and float64 holds any number of so many exactly enough to give them back.


class ParquetWriter:
    """Writes the blocks of a stream; its digests have no place in Parquet.

    Use it as a context manager: the file can be read only once it is closed.
    """

    def __init__(self, path: str | Path, schema: Schema) -> None:
        """Create the file."""
        self.schema = schema
        self._blocks: list[Block] = []
        try:
            self._writer = pq.ParquetWriter(str(path), arrow.to_table([], schema).schema)
        except OSError as error:
            raise TraceError(f"{path} cannot be written: {error}") from None

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def write(self, block: Block, schema: Schema) -> None:
        """Write the events of a block.

        Raises:
            TraceError: The stream has grown since the file was begun.
        """
        if block.version > self.schema.version or schema.at(self.schema.version) != self.schema:
            raise TraceError(
                "the stream gained or widened an attribute after the Parquet file was begun: "
                "write JSON lines, or give the schema before"
            )
        self._blocks.append(block)
        if (
            sum(one.count for one in self._blocks) >= GROUP_EVENTS
            or sum(one.size for one in self._blocks) >= GROUP_BYTES
        ):
            self._flush()

    def _flush(self) -> None:
        if self._blocks:
            self._writer.write_table(arrow.to_table(self._blocks, self.schema))
            self._blocks = []

    def close(self) -> None:
        """Write what waits, and close the file."""
        self._flush()
        self._writer.close()


class ParquetRecords:
    """Reads the rows of a Parquet file, batch by batch."""

    unit = "row"

    def __init__(self, path: str | Path) -> None:
        """Read the footer, which says what the columns are."""
        self.name = str(path)
        try:
            # Not buffered ahead: a row group may be larger than memory.
            self._file = pq.ParquetFile(str(path), pre_buffer=False, buffer_size=2**20)
        except (pa.ArrowException, OSError) as error:
            raise self._broken(error) from None
        names = self._file.schema_arrow.names
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise TraceError(f"{path}: two columns are named {twice[0]}: rename one")
        self._schema = pa.schema(
            [pa.field(one.name, _plain_type(one.type)) for one in self._file.schema_arrow]
        )
        self.types = {
            field.name: _TYPES[field.type] for field in self._schema if field.type in _TYPES
        }
        self._rows = 0
        self.size = Path(path).stat().st_size

    @property
    def done(self) -> int:
        """About how many bytes have been read."""
        rows = self._file.metadata.num_rows
        return self.size * self._rows // rows if rows else 0

    def __iter__(self) -> Iterator[Record]:
        """Yield the rows, numbered from 1.

        Raises:
            TraceError: The file is damaged, or holds a time that no event can have.
        """
        try:
            for batch in self._file.iter_batches(self._batch_rows()):
                for values in self._values(batch):
                    self._rows += 1
                    nested = any(isinstance(value, dict) for value in values.values())
                    yield Record(self._rows, flatten(values) if nested else values)
        except EventError as error:
            raise TraceError(f"{self.name}, row {self._rows}: {error}") from None
        except (pa.ArrowException, OSError) as error:
            raise self._broken(error) from None

    def _batch_rows(self) -> int:
        """Return how many rows to read at a time, fewer where they are large."""
        metadata = self._file.metadata
        groups = (metadata.row_group(place) for place in range(metadata.num_row_groups))
        widest = max((one.total_byte_size // max(1, one.num_rows) for one in groups), default=0)
        return max(1, min(GATHER_EVENTS_MAX, GATHER_BYTES_MAX // max(1, widest)))

    def _values(self, batch: pa.RecordBatch) -> list[dict[str, Any]]:
        """Return the rows of a batch in the types that events have, where one holds the values.

        Raises:
            EventError: One of them is beyond any.
        """
        try:
            columns = [
                _cast(column, field.type)
                for column, field in zip(batch.columns, self._schema, strict=True)
            ]
            rows: list[dict[str, Any]] = pa.record_batch(columns, schema=self._schema).to_pylist()
        except (OverflowError, ValueError) as error:
            raise self._beyond(batch, error) from None
        return rows

    def _beyond(self, batch: pa.RecordBatch, error: Exception) -> EventError:
        """Return an error that names the column; the row is where reading stands then."""
        for row in range(batch.num_rows):
            for column, field in zip(batch.columns, self._schema, strict=True):
                try:
                    _cast(column.slice(row, 1), field.type).to_pylist()
                except (OverflowError, ValueError) as found:
                    self._rows += row + 1
                    is_text = isinstance(found, UnicodeError)
                    hint = "" if is_text else "; a time lies in the years 1 to 9999"
                    return EventError(f"column {field.name}: {found}{hint}")
        return EventError(str(error))

    def _broken(self, error: Exception) -> TraceError:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return TraceError(
            f"{self.name} cannot be read as Parquet: {reason}; it may be cut short or damaged: "
            "copy or write it again"
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Bring a column to a type; nanoseconds are cut to microseconds, and nothing else is lost."""
    if column.type == kind:
        return column
    return pc.cast(column, options=pc.CastOptions(target_type=kind, allow_time_truncate=True))


def _plain_type(kind: pa.DataType) -> Any:
    """Return the type of an event's value that holds what a column has; else its own."""
    ask = pa.types
    if ask.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if ask.is_list(kind) or ask.is_large_list(kind) or ask.is_fixed_size_list(kind):
        return pa.list_(_plain_type(kind.value_type))
    if ask.is_struct(kind):
        return pa.struct([pa.field(one.name, _plain_type(one.type)) for one in kind])
    if ask.is_decimal(kind):
        return _plain_decimal(kind)
    return next((plain for test, plain in _PLAIN if test(kind)), kind)


def _plain_decimal(kind: pa.DataType) -> Any:
    if kind.scale <= 0 and kind.precision - kind.scale <= _DIGITS_INT64:
        return pa.int64()
    return pa.float64() if kind.precision <= _DIGITS_FLOAT64 else kind


# The first that is true of a column's type says what its values become.
_PLAIN: Final = (
    (pa.types.is_timestamp, _TIME),
    (pa.types.is_date, _TIME),
    (pa.types.is_uint64, pa.uint64()),  # Beyond int64 it is for the opaque attribute.
    (pa.types.is_integer, pa.int64()),
    (pa.types.is_floating, pa.float64()),
    (pa.types.is_large_string, pa.string()),
    (pa.types.is_string_view, pa.string()),
    (pa.types.is_large_binary, pa.binary()),
    (pa.types.is_fixed_size_binary, pa.binary()),
    (pa.types.is_binary_view, pa.binary()),
)
