"""Tables: Arrow tables as applications have them, made into blocks of a stream.

Unlike what `arrow.to_table` makes, such a table has no positions, and its columns have the types
that its maker found handy: what can be widened without loss is, the rest is refused by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from heliograph.event.arrow import batch_schema, columns_block, to_rows
from heliograph.event.block import ARROW_EVENTS_MIN
from heliograph.event.errors import EventError
from heliograph.event.types import WIDER, Type

if TYPE_CHECKING:
    from heliograph.event.block import Block
    from heliograph.event.schema import Schema

# Blocks that a link can take in turns with others, and a lane can drop by halves.
BLOCK_EVENTS: Final = 4_096
_TIME: Final = "_time"


def type_of(kind: pa.DataType) -> Type | None:
    """Return the type of an attribute that holds the values of an Arrow column, if there is one."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        member = type_of(kind.value_type)
        return None if member is None or member.is_list else member.list
    checks = (
        (pa.types.is_boolean, Type.BOOL),
        (pa.types.is_floating, Type.FLOAT64),
        (pa.types.is_integer, Type.INT64),
        (pa.types.is_string, Type.STRING),
        (pa.types.is_large_string, Type.STRING),
        (pa.types.is_binary, Type.BYTES),
        (pa.types.is_large_binary, Type.BYTES),
    )
    for check, found in checks:
        if check(kind):
            return found
    # A time without a zone could be any time, here as everywhere.
    return Type.TIMESTAMP if pa.types.is_timestamp(kind) and kind.tz else None


def schema_for(table: pa.Table, schema: Schema) -> Schema:
    """Return a stream's schema, grown for the columns of a table; a declared one does not grow.

    Raises:
        EventError: A column is none of the stream's, or has a type that does not fit.
    """
    grown: dict[str, Type] = {}
    for field in table.schema:
        if field.name == _TIME or pa.types.is_null(field.type):
            continue
        kind, known = type_of(field.type), schema.type_of(field.name)
        if kind is None:
            raise EventError(
                f"column {field.name} is {field.type}, which no attribute can be: cast it"
            )
        if known is None or WIDER.get(known) is kind:
            grown[field.name] = kind
        elif known is not kind and WIDER.get(kind) is not known:
            raise EventError(
                f"column {field.name} is {field.type}, but the attribute is {known.value}: cast it"
            )
    if grown and schema.declared:
        raise EventError(
            f"column {', '.join(grown)}: not so in the declared schema; add it there, or leave it"
        )
    return schema.evolve(grown) if grown else schema


def blocks_of_table(
    table: pa.Table, stream: str, epoch: int, first: int, schema: Schema, now: int
) -> list[Block]:
    """Return the rows of a table as blocks of events, numbered from `first` on.

    Args:
        table: Attributes by column, and the times in `_time`, if it has that.
        stream: The stream's key.
        epoch: The epoch of the events.
        first: The number of the first.
        schema: What `schema_for` returned for the table.
        now: The time of all of them, in microseconds, where there is no `_time`.

    Raises:
        EventError: A value does not fit without loss; no block is made then.
    """
    columns = [_times(table, now)]
    for one, field in zip(schema.attributes, list(batch_schema(schema))[1:], strict=True):
        if one.tag in table.column_names:
            columns.append(_cast(table[one.tag], field.type, one.tag))
        else:
            columns.append(pa.nulls(table.num_rows, field.type))
    whole = pa.table(columns, schema=batch_schema(schema))
    blocks = []
    for start in range(0, table.num_rows, BLOCK_EVENTS):
        piece = whole.slice(start, BLOCK_EVENTS).combine_chunks()
        (batch,) = piece.to_batches()
        numbers = range(first + start, first + start + batch.num_rows)
        block = columns_block(stream, epoch, numbers, batch, schema)
        blocks.append(block if block.count >= ARROW_EVENTS_MIN else to_rows(block, schema))
    return blocks


def _times(table: pa.Table, now: int) -> Any:
    wanted = pa.timestamp("us", tz="UTC")
    if _TIME not in table.column_names:
        return pa.repeat(pa.scalar(now, pa.int64()), table.num_rows).cast(wanted)
    column = table[_TIME]
    if column.null_count:
        raise EventError(f"the column {_TIME} has no value in {column.null_count} rows")
    if pa.types.is_integer(column.type):
        return _cast(column, pa.int64(), _TIME).cast(wanted)  # Microseconds, as everywhere.
    if type_of(column.type) is not Type.TIMESTAMP:
        raise EventError(
            f"the column {_TIME} is {column.type}: make it a timestamp with a time zone, or "
            "microseconds since 1970 in UTC"
        )
    return pc.floor_temporal(column, unit="microsecond").cast(wanted)


def _cast(column: Any, kind: pa.DataType, tag: str) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_timestamp(column.type):
        column = pc.floor_temporal(column, unit="microsecond")
    try:
        # Integers beyond 2**53 are rounded when they become floats, as they are in single events.
        safe = not (pa.types.is_integer(column.type) and pa.types.is_floating(kind))
        return column.cast(kind, safe=safe)
    except pa.ArrowException as error:
        raise EventError(f"column {tag}: {error}") from None
