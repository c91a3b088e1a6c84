"""Block: an immutable run of events of one stream, the only thing that travels.

The header says which numbers it covers; the body is opaque to everything that forwards it. A block
of few events is compact rows, one of many is Arrow columns; both split and thin without a schema
or with the one of the block's version.
"""

from __future__ import annotations

from itertools import islice
from operator import lt
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
import numpy.typing as npt

from heliograph.event import rows
from heliograph.event.errors import EventError
from heliograph.event.types import INT64_MAX, TIME_MAX, TIME_MIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heliograph.event.schema import Schema

ROWS: Final = 0
ARROW: Final = 1
# From so many events on columns are packed twice as fast (docs/benchmarks/policy.md); with fewer,
# the fixed parts of an Arrow batch are larger than the events.
ARROW_EVENTS_MIN: Final = 256
BLOCK_EVENTS_MAX: Final = 65_536
BLOCK_BYTES_MAX: Final = 16 * 2**20
STREAM_CHARS_MAX: Final = 256
# What a block costs in memory beside its body: the object, its header, its place in a lane.
BOOKKEEPING_BYTES: Final = 288
# What a block costs on the wire beside its body, once a link knows the stream by a short number.
HEADER_BYTES: Final = 16

Places = npt.NDArray[np.intp]


class Block(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """Events `first` to `first + span - 1` of one epoch, of which `count` are present."""

    stream: str
    epoch: int
    first: int
    span: int
    count: int
    version: int  # Of the schema.
    time: int  # Rows hold their times as offsets from this one.
    form: int
    presence: bytes  # One bit for each number of the span, empty when all are present.
    body: bytes

    @property
    def last(self) -> int:
        """The number of the last event."""
        return self.first + self.span - 1

    @property
    def size(self) -> int:
        """What this block counts against a byte limit, its bookkeeping included."""
        return len(self.body) + len(self.presence) + BOOKKEEPING_BYTES

    @property
    def wire_bytes(self) -> int:
        """What this block costs on a link."""
        return len(self.body) + len(self.presence) + HEADER_BYTES

    def offsets(self) -> npt.NDArray[np.int64]:
        """Return how far each event's number lies behind `first`."""
        if not self.presence:
            return np.arange(self.count, dtype=np.int64)
        bits = np.frombuffer(self.presence, np.uint8)
        return np.flatnonzero(np.unpackbits(bits, count=self.span)).astype(np.int64)

    def numbers(self) -> npt.NDArray[np.int64]:
        """Return the number of each event."""
        return self.offsets() + self.first

    def thin(self, keep: Places, schema: Schema) -> Block:
        """Return a block of the events at the places `keep` (rising), copied out of this one.

        Only Arrow columns need the schema, to be read.
        """
        if len(keep) == self.count:
            return self
        if self.form == ROWS:
            body = rows.thin(self.body, self.count, keep)
        else:
            from heliograph.event import arrow  # noqa: PLC0415 - a device does without pyarrow

            body = arrow.thin(self, keep, schema)
        return self.with_body(keep, body)

    def with_body(self, keep: Places, body: bytes) -> Block:
        """Return a block of the events at the places `keep`, which `body` holds."""
        offsets = keep if not self.presence else self.offsets()[keep]
        first, last = int(offsets[0]), int(offsets[-1])
        span = last - first + 1
        return Block(
            self.stream,
            self.epoch,
            self.first + first,
            span,
            len(keep),
            self.version,
            self.time,
            self.form,
            b"" if span == len(keep) else _bitmap(offsets - first, span),
            body,
        )

    def split(self, place: int, schema: Schema) -> tuple[Block, Block]:
        """Return the first `place` events and the others, as two blocks; neither may be empty."""
        if not 0 < place < self.count:
            raise EventError(f"a block of {self.count} events cannot be split at {place}")
        if self.form == ROWS and not self.presence:
            one, other = rows.split(self.body, self.count, place)
            return self._run(0, place, one), self._run(place, self.count - place, other)
        return (
            self.thin(np.arange(place), schema),
            self.thin(np.arange(place, self.count), schema),
        )

    def _run(self, place: int, count: int, body: bytes) -> Block:
        """Return the part of `count` events from a place on, which `body` holds."""
        first = self.first + place
        return Block(
            self.stream, self.epoch, first, count, count, self.version, self.time, ROWS, b"", body
        )

    def singles(self, schema: Schema) -> list[Block]:
        """Return one block for each event."""
        if self.count == 1:
            return [self]
        if self.form != ROWS:
            from heliograph.event import arrow  # noqa: PLC0415 - a device does without pyarrow

            return arrow.to_rows(self, schema).singles(schema)
        numbers = self.numbers().tolist()
        bodies = rows.singles(self.body, self.count)
        return [
            Block(self.stream, self.epoch, n, 1, 1, self.version, self.time, ROWS, b"", body)
            for n, body in zip(numbers, bodies, strict=True)
        ]


def _bitmap(offsets: npt.NDArray[np.int64], span: int) -> bytes:
    bits = np.zeros(span, np.uint8)
    bits[offsets] = 1
    return np.packbits(bits).tobytes()


def cover(numbers: Sequence[int]) -> tuple[int, int, bytes]:
    """Return the first number, the span and the presence bitmap of events with rising numbers."""
    if not 0 < len(numbers) <= BLOCK_EVENTS_MAX:
        raise EventError(f"a block holds 1 to {BLOCK_EVENTS_MAX} events, not {len(numbers)}")
    first, span = numbers[0], numbers[-1] - numbers[0] + 1
    if not isinstance(numbers, range) and not all(map(lt, numbers, islice(numbers, 1, None))):
        raise EventError("the numbers of the events of a block rise")
    if span == len(numbers):
        return first, span, b""
    if span > BLOCK_EVENTS_MAX:
        raise EventError(f"a block spans at most {BLOCK_EVENTS_MAX} numbers, not {span}")
    return first, span, _bitmap(np.array(numbers, np.int64) - first, span)


def block_of(
    stream: str,
    epoch: int,
    numbers: Sequence[int],
    times: Sequence[int],
    values: Sequence[Sequence[object]],
    schema: Schema,
) -> Block:
    """Return a block of compact rows; `values` are rows as `Schema.row` makes them."""
    first, span, presence = cover(numbers)
    start = times[0]
    body = rows.encode([[time - start, *row] for time, row in zip(times, values, strict=True)])
    block = Block(
        stream, epoch, first, span, len(numbers), schema.version, start, ROWS, presence, body
    )
    check_block(block)
    return block


def check_block(block: Block) -> None:
    """Refuse a block whose header contradicts itself or its body; for what comes from outside.

    Raises:
        EventError: With the rule that was broken.
    """
    _check_ranges(block)
    if block.presence or block.span != block.count:
        bits = np.unpackbits(np.frombuffer(block.presence, np.uint8))
        fits = len(bits) == (block.span + 7) // 8 * 8 and not bits[block.span :].any()
        if not fits or bits.sum() != block.count or not bits[0] or not bits[block.span - 1]:
            raise EventError("the presence bitmap of a block contradicts its span and count")
    if block.form == ROWS:
        rows.check(block.body, block.count)
    elif block.form != ARROW:
        raise EventError(f"a block of the unknown form {block.form}: upgrade to read it")


def _check_ranges(block: Block) -> None:
    if not 0 < len(block.stream) <= STREAM_CHARS_MAX:
        raise EventError(f"a stream key has 1 to {STREAM_CHARS_MAX} characters")
    if not (0 < block.count <= block.span <= BLOCK_EVENTS_MAX):
        raise EventError(f"a block of {block.count} events cannot span {block.span} numbers")
    if not 0 <= block.epoch <= INT64_MAX or not 0 < block.first <= block.last <= INT64_MAX:
        raise EventError("a block has an epoch and numbers that are positive and within int64")
    if block.version < 1:
        raise EventError("a block has a schema version that is positive")
    if not TIME_MIN <= block.time <= TIME_MAX:
        raise EventError(f"the time {block.time} us of a block lies outside the years 1 to 9999")
    if len(block.body) > BLOCK_BYTES_MAX:
        raise EventError(f"a block has at most {BLOCK_BYTES_MAX} bytes, not {len(block.body)}")


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Block)


def encode_block(block: Block) -> bytes:
    """Return a block as bytes, header and body."""
    return _ENCODER.encode(block)


def decode_block(data: bytes) -> Block:
    """Read a block from bytes that come from outside, and check it."""
    try:
        block = _DECODER.decode(data)
    except rows.BROKEN as error:
        raise EventError(f"bytes that are no block: {error}") from None
    check_block(block)
    return block
