"""Convert: blocks into events and events into blocks, where someone looks at single events.

Nothing that forwards does this; readers and writers of recorded streams do, and so may users.
"""

from __future__ import annotations

from importlib.util import find_spec
from itertools import repeat
from operator import add
from typing import TYPE_CHECKING, Any, Final

from heliograph.event import rows
from heliograph.event.block import (
    ARROW_EVENTS_MIN,
    BLOCK_EVENTS_MAX,
    ROWS,
    Block,
    check_block,
    cover,
)
from heliograph.event.event import Event
from heliograph.event.types import TIME_MAX, TIME_MIN, check_time, restore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from heliograph.event.schema import Schema

# Blocks of a recorded stream are small, so that neither reader nor writer holds much of it.
GATHER_EVENTS_MAX: Final = 1_024
GATHER_BYTES_MAX: Final = 4 * 2**20


def events_of(block: Block, schema: Schema) -> list[Event]:
    """Return the events of a block of either form; absent attributes are left out.

    Raises:
        EventError: The body is not of the schema, or a time is beyond the years 1 to 9999.
    """
    return events_in((block,), schema)


def _restored(block: Block, schema: Schema) -> list[Event]:
    """Return the events of a block whose values may be stored as something else."""
    kinds = [(one.tag, one.type) for one in schema.attributes]
    return [
        Event(
            block.stream,
            block.epoch,
            number,
            time,
            {
                tag: restore(value, kind)
                for (tag, kind), value in zip(kinds, row, strict=True)
                if value is not None
            },
        )
        for number, (time, row) in zip(
            block.numbers().tolist(), _stored(block, schema), strict=True
        )
    ]


def events_in(blocks: Sequence[Block], schema: Schema) -> list[Event]:
    """Return the events of blocks of one stream and epoch, in their order.

    What receivers mostly get is read all at once, and each step is one for all: rows whose values
    are stored as they are.

    Raises:
        EventError: As for `events_of`.
    """
    numbers: list[int] = []
    starts: list[int] = []
    bodies: list[tuple[bytes, int]] = []
    for block in blocks:
        if block.form != ROWS or schema.converts:
            return [event for one in blocks for event in _restored(one, schema)]
        count, first = block.count, block.first
        numbers += block.numbers().tolist() if block.presence else range(first, first + count)
        starts += [block.time] * count
        bodies.append((block.body, count))
    if not bodies:
        return []
    values = rows.decode_dicts(bodies, schema.tags, schema.types)
    times = [*map(add, starts, map(dict.pop, values, repeat(rows.TIME)))]
    if min(times) < TIME_MIN or max(times) > TIME_MAX:
        check_time(min(times))
        check_time(max(times))
    stream, epoch = repeat(blocks[0].stream), repeat(blocks[0].epoch)
    return [*map(Event, stream, epoch, numbers, times, values)]


def _stored(block: Block, schema: Schema) -> Iterator[tuple[int, Sequence[Any]]]:
    """Return the time and the stored values of each event."""
    if block.form == ROWS:
        names = [f"v{place}" for place in range(len(schema.types))]
        for row in rows.decode([(block.body, block.count)], schema.types):
            check_time(block.time + row.time)
            yield block.time + row.time, [getattr(row, name) for name in names]
        return
    from heliograph.event import arrow  # noqa: PLC0415 - a device does without pyarrow

    times, values = arrow.stored_rows(arrow.read_batch(block, schema), schema)
    yield from zip(times, values, strict=True)


def suited(block: Block, schema: Schema) -> Block:
    """Return a block in the form that suits its size; without pyarrow that is always rows."""
    if block.count >= ARROW_EVENTS_MIN and find_spec("pyarrow") is not None:
        from heliograph.event import arrow  # noqa: PLC0415 - a device does without pyarrow

        return arrow.to_columns(block, schema)
    if block.form == ROWS:
        return block
    from heliograph.event import arrow  # noqa: PLC0415 - as above

    return arrow.to_rows(block, schema)


def blocks_of(events: Iterable[Event], schema: Schema) -> Iterator[Block]:
    """Yield events, in their order, as blocks of rows; one block has one stream and one epoch.

    Raises:
        EventError: Values do not fit the schema, or numbers do not rise within an epoch.
    """
    gather = Gather()
    for event in events:
        row = schema.row(event.values)
        full = gather.add(event.stream, event.epoch, event.number, event.time, row, schema.version)
        if full is not None:
            yield full
    last = gather.flush()
    if last is not None:
        yield last


class Gather:
    """Gathers events, one after the other, until they make a block.

    Rows are encoded when they come: so what is gathered is small, and its size is known.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._rows: list[bytes] = []
        self._numbers: list[int] = []
        self._of: tuple[str, int] = ("", 0)
        self._time = 0
        self._version = 1
        self._bytes = 0

    def add(
        self, stream: str, epoch: int, number: int, time: int, row: Sequence[Any], version: int
    ) -> Block | None:
        """Take an event; return the block of those before it, where it has no place in that.

        Args:
            stream: The stream's key.
            epoch: The epoch of the event.
            number: Its number.
            time: Its time in microseconds.
            row: Its values as `Schema.row` makes them.
            version: The version of that schema.
        """
        full = None
        if self._rows and not self._fits(stream, epoch, number):
            full = self.flush()
        if not self._rows:
            self._of, self._time = (stream, epoch), time
        encoded = rows.encode_row([time - self._time, *row])
        if self._rows and self._bytes + len(encoded) > GATHER_BYTES_MAX:
            full = self.flush()
            self._of, self._time = (stream, epoch), time
            encoded = rows.encode_row([0, *row])
        self._rows.append(encoded)
        self._numbers.append(number)
        self._bytes += len(encoded)
        self._version = version
        return full

    def _fits(self, stream: str, epoch: int, number: int) -> bool:
        return (
            self._of == (stream, epoch)
            and len(self._rows) < GATHER_EVENTS_MAX
            and number - self._numbers[0] < BLOCK_EVENTS_MAX
        )

    def flush(self) -> Block | None:
        """Return a block of what was gathered, or None where nothing was."""
        if not self._rows:
            return None
        first, span, presence = cover(self._numbers)
        body = rows.assemble(self._rows)
        block = Block(
            *self._of,
            first,
            span,
            len(self._numbers),
            self._version,
            self._time,
            ROWS,
            presence,
            body,
        )
        self._rows, self._numbers, self._bytes = [], [], 0
        check_block(block)
        return block
