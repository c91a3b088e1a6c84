"""Arrow columns: the encoding of a block of many events, and the way to and from Arrow tables.

The only file of this room that needs pyarrow, and nobody imports it before columns are asked for.
A body is one Arrow IPC record batch without its schema, which the block's version names.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from heliograph.event import rows
from heliograph.event.block import (
    ARROW,
    BLOCK_EVENTS_MAX,
    ROWS,
    Block,
    block_of,
    check_block,
    cover,
)
from heliograph.event.errors import EventError
from heliograph.event.types import Type, check_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heliograph.event.block import Places
    from heliograph.event.columns import Mask
    from heliograph.event.schema import Attribute, Schema

_TIME: Final = pa.timestamp("us", tz="UTC")
_ARROW: Final[dict[Type, Any]] = {
    Type.BOOL: pa.bool_(),
    Type.INT64: pa.int64(),
    Type.FLOAT64: pa.float64(),
    Type.STRING: pa.string(),
    Type.BYTES: pa.binary(),
    Type.TIMESTAMP: _TIME,
}
_POSITIONS: Final = {"_stream": pa.string(), "_epoch": pa.int64(), "_number": pa.int64()}


def arrow_type(kind: Type) -> pa.DataType:
    """Return the Arrow type of an attribute; Spark and Delta can hold all of them (SPARK.md 1)."""
    return pa.list_(_ARROW[kind.element]) if kind.is_list else _ARROW[kind]


@lru_cache(maxsize=1_024)
def _batch_schema(attributes: tuple[Attribute, ...]) -> pa.Schema:
    fields = [pa.field("_time", _TIME)]
    fields += [pa.field(one.tag, arrow_type(one.type)) for one in attributes]
    return pa.schema(fields)


def batch_schema(schema: Schema) -> pa.Schema:
    """Return the Arrow schema of the batches of a stream: its times, then its attributes."""
    return _batch_schema(schema.attributes)


def read_batch(block: Block, schema: Schema) -> pa.RecordBatch:
    """Return the columns of an Arrow block, as the schema now has them.

    Raises:
        EventError: The body is no record batch of the block's schema.
    """
    wanted = batch_schema(schema)
    stored = wanted if block.version == schema.version else batch_schema(schema.at(block.version))
    try:
        batch = pa.ipc.read_record_batch(pa.py_buffer(block.body), stored)
        if block.version != schema.version:
            batch = _widen(batch, wanted)
        # In full: the offsets inside come from outside too, and Arrow would read wherever they
        # point, beyond the block as well. It costs some 10 ns an event.
        batch.validate(full=True)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise EventError(f"columns that do not fit their schema: {error}") from None
    if batch.num_rows != block.count:
        raise EventError(f"a block of {block.count} events has columns of {batch.num_rows}")
    if batch.column(0).null_count:
        raise EventError("an event without a time")
    for place, kind in enumerate(schema.types, 1):
        if kind.is_list and batch.column(place).flatten().null_count:
            raise EventError("a list with a null in it")
    return batch


def _widen(batch: pa.RecordBatch, wanted: pa.Schema) -> pa.RecordBatch:
    """Bring columns of an older version to the present one."""
    columns = []
    for field in wanted:
        place = batch.schema.get_field_index(field.name)
        if place < 0:
            columns.append(pa.nulls(batch.num_rows, field.type))
        else:
            # Not `safe`: an int64 beyond 2**53 is rounded, as it is when rows are read.
            columns.append(batch.column(place).cast(field.type, safe=False))
    return pa.record_batch(columns, schema=wanted)


def to_batch(block: Block, schema: Schema) -> pa.RecordBatch:
    """Return the events of a block of either form as columns."""
    if block.form == ARROW:
        batch = read_batch(block, schema)
        _check_times(batch.column(0).to_numpy().view(np.int64))
        return batch
    decoded = rows.decode([(block.body, block.count)], schema.types)
    times = [row.time + block.time for row in decoded]
    _check_times(times)
    columns = [pa.array(times, pa.int64()).cast(_TIME)]
    for place, kind in enumerate(schema.types):
        name = f"v{place}"
        values = [getattr(row, name) for row in decoded]
        columns.append(_array(values, kind))
    return pa.record_batch(columns, schema=batch_schema(schema))


def _check_times(times: Any) -> None:
    """Refuse times that no calendar has."""
    if len(times):
        check_time(int(np.min(times)))
        check_time(int(np.max(times)))


def _array(values: list[Any], kind: Type) -> pa.Array:
    """Make a column of stored values; timestamps are stored as integers."""
    if kind is Type.TIMESTAMP_LIST:
        return pa.array(values, pa.list_(pa.int64())).cast(arrow_type(kind))
    if kind is Type.TIMESTAMP:
        return pa.array(values, pa.int64()).cast(_TIME)
    return pa.array(values, arrow_type(kind))


def columns_block(  # noqa: D417 - the other arguments are the block's own fields
    stream: str, epoch: int, numbers: Sequence[int], batch: pa.RecordBatch, schema: Schema
) -> Block:
    """Return a block of Arrow columns.

    Args:
        batch: Columns of exactly the fields of `batch_schema(schema)`.
    """
    first, span, presence = cover(numbers)
    body = batch.serialize().to_pybytes()
    count, version = len(numbers), schema.version
    block = Block(stream, epoch, first, span, count, version, 0, ARROW, presence, body)
    check_block(block)
    return block


def thin(block: Block, keep: Places, schema: Schema) -> bytes:
    """Return the body of an Arrow block with only the events at the places `keep`."""
    return take(read_batch(block, schema.at(block.version)), keep)


def take(batch: pa.RecordBatch, keep: Places) -> bytes:
    """Return the body of the events of some columns at the places `keep`, copied out of them."""
    return batch.take(pa.array(keep)).serialize().to_pybytes()  # type: ignore[no-any-return]


def survivors(column: pa.Array, mask: Mask) -> pa.Array:
    """Return the values that a mask keeps, of a column of any length.

    Of millions, it takes less than half the time of taking them by their places, and the memory of
    the result only; of a block, places are faster (`take`).
    """
    bits = pa.py_buffer(np.packbits(mask, bitorder="little"))
    return pc.filter(column, pa.Array.from_buffers(pa.bool_(), len(mask), [None, bits]))


def to_columns(block: Block, schema: Schema) -> Block:
    """Return the same events as Arrow columns."""
    if block.form == ARROW and block.version == schema.version:
        return block
    batch = to_batch(block, schema)
    return columns_block(block.stream, block.epoch, block.numbers().tolist(), batch, schema)


def to_rows(block: Block, schema: Schema) -> Block:
    """Return the same events as compact rows."""
    if block.form == ROWS:
        return block
    times, values = stored_rows(read_batch(block, schema), schema)
    return block_of(block.stream, block.epoch, block.numbers().tolist(), times, values, schema)


def stored_rows(batch: pa.RecordBatch, schema: Schema) -> tuple[list[int], list[tuple[Any, ...]]]:
    """Return the times and the rows of columns, with values as rows store them."""
    columns = [
        stored_values(batch.column(place), kind) for place, kind in enumerate(schema.types, 1)
    ]
    times = batch.column(0).cast(pa.int64()).to_pylist()
    _check_times(times)
    return times, list(zip(*columns, strict=True)) if columns else [()] * batch.num_rows


def stored_values(column: pa.Array, kind: Type) -> list[Any]:
    """Return a column as values that rows store, None where there is none."""
    if kind is Type.TIMESTAMP:
        column = column.cast(pa.int64())
    elif kind is Type.TIMESTAMP_LIST:
        column = column.cast(pa.list_(pa.int64()))
    return column.to_pylist()  # type: ignore[no-any-return]


def to_table(blocks: Sequence[Block], schema: Schema) -> pa.Table:
    """Return blocks as one Arrow table: `_stream`, `_epoch`, `_number`, `_time`, attributes."""
    fields = [pa.field(name, kind) for name, kind in _POSITIONS.items()]
    whole = pa.schema([*fields, *batch_schema(schema)])
    batches = []
    for block in blocks:
        stream = pa.repeat(pa.scalar(block.stream), block.count)
        epoch = pa.repeat(pa.scalar(block.epoch, pa.int64()), block.count)
        columns = [stream, epoch, pa.array(block.numbers()), *to_batch(block, schema).columns]
        batches.append(pa.record_batch(columns, schema=whole))
    return pa.Table.from_batches(batches, whole)


def from_table(table: pa.Table, schema: Schema) -> Iterator[Block]:
    """Yield the blocks of a table that `to_table` made, in its order.

    Raises:
        EventError: A column is missing, or a value does not fit the schema without loss.
    """
    wanted = batch_schema(schema)
    missing = [name for name in [*_POSITIONS, *wanted.names] if name not in table.column_names]
    if missing:
        raise EventError(f"the table has no column {', '.join(missing)}")
    try:
        table = pa.table(
            {field.name: table[field.name].cast(field.type) for field in wanted}
            | {name: table[name].cast(kind) for name, kind in _POSITIONS.items()}
        ).combine_chunks()
    except pa.ArrowException as error:
        raise EventError(f"a column does not fit the schema: {error}") from None
    empty = [name for name in [*_POSITIONS, "_time"] if table[name].null_count]
    if empty:
        raise EventError(f"the table has rows without {', '.join(empty)}")
    numbers = table["_number"].to_numpy()
    epochs = table["_epoch"].to_numpy()
    streams = pc.rank(table["_stream"].combine_chunks(), tiebreaker="dense").to_numpy()
    rising = (np.diff(numbers) > 0) & (np.diff(epochs) == 0) & (np.diff(streams) == 0)
    edges = [0, *(np.flatnonzero(~rising) + 1).tolist(), len(numbers)]
    for start, end in pairwise(edges):
        yield from _runs(table, start, end, numbers, schema)


def _runs(table: pa.Table, start: int, end: int, numbers: Any, schema: Schema) -> Iterator[Block]:
    """Yield blocks of one stream and epoch, none with more events or a wider span than allowed."""
    while start < end:
        stop = min(end, start + BLOCK_EVENTS_MAX)
        stop = start + int(np.searchsorted(numbers[start:stop], numbers[start] + BLOCK_EVENTS_MAX))
        piece = table.slice(start, stop - start)
        (batch,) = piece.select(batch_schema(schema).names).combine_chunks().to_batches()
        stream, epoch = piece["_stream"][0].as_py(), piece["_epoch"][0].as_py()
        yield columns_block(stream, epoch, numbers[start:stop].tolist(), batch, schema)
        start = stop


def nothing(kind: Type) -> pa.Scalar:
    """Return a value to stand where there is none."""
    return pa.scalar(0, pa.int64()).cast(arrow_type(kind))


def codes(columns: list[pa.Array]) -> tuple[Any, list[Any]]:
    """Return text as codes into its distinct values; -1 where there is none."""
    coded = pa.chunked_array(columns).dictionary_encode().unify_dictionaries().combine_chunks()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.chunk(0)
    places = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return places, coded.dictionary.to_pylist()


def codes_of(keys: Any) -> Any:
    """Return whole numbers as codes in the order in which they first appear."""
    return pa.array(keys).dictionary_encode().indices.to_numpy().astype(np.int64, copy=False)
