"""Digest: settles an interval of numbers, and summarises the events of it that were dropped.

`(after, upto]` of one epoch is settled: of these numbers, those that do not arrive as events are
exactly `count` (dropped) plus `filtered`. So a receiver can check that nothing was lost silently:

    events received in (after, upto] + count + filtered = upto - after
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from heliograph.event.block import STREAM_CHARS_MAX
from heliograph.event.errors import EventError
from heliograph.event.rows import BROKEN
from heliograph.event.types import INT64_MAX, TIME_MAX, TIME_MIN

PARTS_MAX: Final = 64
# What a digest costs in memory and on the wire beside its parts.
BOOKKEEPING_BYTES: Final = 160
HEADER_BYTES: Final = 32
_NUMBER_BYTES: Final = 16


class Part(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What one digester says of one attribute of the dropped events.

    `known` is how many of them had a value; nulls, NaN and lost values are not in it.
    The value is a number, a text or the bytes of a sketch; `rest` is what rounding took from a sum.
    """

    digester: str
    attribute: str
    known: int
    value: Any  # int | float | str | bytes | None; `check_digest` sees to it.
    rest: float = 0.0

    @property
    def size(self) -> int:
        """What this part counts against a byte limit."""
        value = self.value
        return len(value) if isinstance(value, str | bytes) else _NUMBER_BYTES


class Digest(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Settles the numbers above `after` up to `upto` of one epoch of a stream."""

    stream: str
    epoch: int
    after: int
    upto: int
    count: int
    filtered: int = 0
    first_time: int | None = None
    last_time: int | None = None
    parts: tuple[Part, ...] = ()
    gap: int = 0  # Of the count: lost in a crash, so that no part knows them.

    @property
    def size(self) -> int:
        """What this digest counts against a byte limit, its bookkeeping included."""
        return BOOKKEEPING_BYTES + sum(part.size for part in self.parts)

    @property
    def wire_bytes(self) -> int:
        """What this digest costs on a link."""
        return HEADER_BYTES + sum(part.size for part in self.parts)

    def part(self, digester: str, attribute: str = "") -> Part | None:
        """Return one part, or None where the policy asked for no such digester."""
        for part in self.parts:
            if part.digester == digester and attribute in ("", part.attribute):
                return part
        return None

    @property
    def settled(self) -> int:
        """How many numbers this digest says do not arrive as events."""
        return self.count + self.filtered


def check_digest(digest: Digest) -> None:
    """Refuse a digest that contradicts itself; call it on what comes from outside."""
    if not 0 < len(digest.stream) <= STREAM_CHARS_MAX:
        raise EventError(f"a stream key has 1 to {STREAM_CHARS_MAX} characters")
    if not 0 <= digest.epoch <= INT64_MAX:
        raise EventError(f"a digest cannot be of the epoch {digest.epoch}")
    if not 0 <= digest.after <= digest.upto <= INT64_MAX:
        raise EventError(f"a digest cannot settle ({digest.after}, {digest.upto}]")
    if digest.count < 0 or digest.filtered < 0 or digest.settled > digest.upto - digest.after:
        raise EventError(
            f"a digest of ({digest.after}, {digest.upto}] cannot count {digest.settled} events"
        )
    first, last = digest.first_time, digest.last_time
    if any(time is not None and not TIME_MIN <= time <= TIME_MAX for time in (first, last)):
        raise EventError("the times of a digest lie within the years 1 to 9999")
    if len(digest.parts) > PARTS_MAX:
        raise EventError(f"a digest has at most {PARTS_MAX} parts, not {len(digest.parts)}")
    if any(not isinstance(part.value, int | float | str | bytes | None) for part in digest.parts):
        raise EventError("the value of a part is a number, a text or bytes")
    if not 0 <= digest.gap <= digest.count:
        raise EventError("the gap of a digest is a part of its count")
    if any(not 0 <= part.known <= digest.count for part in digest.parts):
        raise EventError("a part of a digest knows more values than were dropped")


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Digest)


def encode_digest(digest: Digest) -> bytes:
    """Return a digest as bytes."""
    return _ENCODER.encode(digest)


def decode_digest(data: bytes) -> Digest:
    """Read a digest from bytes that come from outside, and check it."""
    try:
        digest = _DECODER.decode(data)
    except BROKEN as error:
        raise EventError(f"bytes that are no digest: {error}") from None
    check_digest(digest)
    return digest


def settles(events: int, digest: Digest) -> bool:
    """Say whether a digest and the number of events received in its interval make it whole."""
    return events + digest.settled == digest.upto - digest.after
