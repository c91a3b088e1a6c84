"""Unreadable: what whoever reads events gets of those that cannot be read.

Nothing that forwards looks into events, so what a sender broke reaches those who want to read it.
It has a number, by which it counts as received: so it comes as an event, with its row as opaque
bytes, and neither ends a subscription nor takes its neighbours with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from heliograph.event.block import ROWS, Block
from heliograph.event.convert import blocks_of, events_in
from heliograph.event.errors import EventError
from heliograph.event.event import Event
from heliograph.event.rows import payload
from heliograph.event.schema import OPAQUE
from heliograph.event.types import Type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from heliograph.event.schema import Schema


def all_events(blocks: Sequence[Block], schema: Schema) -> list[Event]:
    """Return the events of blocks of one epoch, those that cannot be read as opaque ones."""
    try:
        return events_in(blocks, schema)
    except EventError:
        if len(blocks) > 1:
            return [event for one in blocks for event in all_events([one], schema)]
    (block,) = blocks
    if block.form == ROWS and block.count > 1:
        return all_events(block.singles(schema), schema)
    return [_opaque(block, number) for number in block.numbers().tolist()]


def _opaque(block: Block, number: int) -> Event:
    """Return an event of which only its row is known; of columns not even that is its own."""
    row = payload(block.body, block.count) if block.form == ROWS else b""
    return Event(block.stream, block.epoch, number, block.time, {OPAQUE: row})


def all_rows(block: Block, schema: Schema) -> Iterator[Block]:
    """Yield the same events as blocks that can be read, to stand in a table.

    One that cannot be read has its number there, and its row where the stream has a place for it.
    """
    yield from rows_of(all_events([block], schema), schema)


def rows_of(events: Iterable[Event], schema: Schema) -> Iterator[Block]:
    """Yield events as a receiver got them, some of them opaque perhaps, as blocks of rows."""
    has_place = schema.type_of(OPAQUE) is Type.BYTES
    whole = (
        event if has_place or OPAQUE not in event.values else replace(event, values={})
        for event in events
    )
    yield from blocks_of(whole, schema)
