"""Reader: bytes into frames, however a connection cuts them.

Neighbouring events of one stream come out as one run, whose rows are put behind one another and
never looked into: so a thousand events cost what a thousand slices cost. What cannot be a frame
raises at once, before it is waited for.
"""

from __future__ import annotations

import struct
from typing import Final

import msgspec

from heliograph.event.block import BLOCK_EVENTS_MAX
from heliograph.event.errors import WireError
from heliograph.event.types import INT64_MAX
from heliograph.wire.frames import (
    ALIAS_HEAD,
    BLOCK,
    BLOCK_HEAD,
    CONTROL,
    CURSOR,
    CURSOR_FRAME,
    DIGEST,
    EVENT,
    EVENT_HEAD,
    GREETING,
    HEARTBEAT,
    TO,
    TO_FRAME,
    WANT,
    WORD,
)
from heliograph.wire.messages import Message, decode_message

RUN_EVENTS_MAX: Final = 1_024
RUN_BYTES_MAX: Final = 64 * 1024


class Run(msgspec.Struct, frozen=True, gc=False):
    """Events of one stream with consecutive numbers, each a row."""

    alias: int
    first: int
    rows: list[bytes]


class BlockFrame(msgspec.Struct, frozen=True, gc=False):
    """A block as it came, its body not looked into."""

    alias: int
    first: int
    span: int
    count: int
    version: int
    form: int
    time: int
    presence: bytes
    body: bytes


class DigestFrame(msgspec.Struct, frozen=True, gc=False):
    """A digest that is still encoded."""

    alias: int
    body: bytes


class To(msgspec.Struct, frozen=True, gc=False):
    """Whom the next frames of a stream are for."""

    alias: int
    mask: int


class Cursor(msgspec.Struct, frozen=True, gc=False):
    """How much the other side has received."""

    frames: int
    size: int


Item = Run | BlockFrame | DigestFrame | To | Cursor | Message
_HEAD: Final = EVENT_HEAD.size


class Reader:
    """The receiving end of one connection; `frames` and `size` go on in the next one."""

    def __init__(self, frame_bytes_max: int, *, frames: int = 0) -> None:
        """Begin; `frames` of the session have come by earlier connections."""
        self.frame_bytes_max = frame_bytes_max
        self.frames = frames  # What resuming counts: all but greetings, cursors and heartbeats.
        self.size = 0  # Bytes of those, on this connection.
        self.wanted = False  # Whether the other side asked for a cursor.
        self._rest = bytearray()
        self._due = 0  # How many bytes the rest has to have before it is looked at again.

    @property
    def partial(self) -> bool:
        """Whether a frame has begun and is not whole yet."""
        return bool(self._rest)

    def feed(self, data: bytes) -> list[Item]:
        """Return what has become whole.

        Raises:
            WireError: The bytes are no frames. What stood before them is lost with the connection.
        """
        if self._rest:
            if len(self._rest) + len(data) < self._due:
                self._rest += data  # However slowly a long frame drips in, it is copied once.
                return []
            data = b"".join((self._rest, data))
            self._rest.clear()
        items: list[Item] = []
        at, end = 0, len(data)
        unpack = WORD.unpack_from
        while end - at >= WORD.size:
            first = unpack(data, at)[0]
            length, kind = first & 0xFFFFFF, first >> 24
            if length > self.frame_bytes_max or length < WORD.size:
                raise WireError(
                    f"a frame of {length} bytes; one has 4 to {self.frame_bytes_max} here"
                )
            if end - at < length:
                if not CONTROL <= kind <= WANT:
                    raise WireError(_unknown(kind))
                self._due = length
                break
            if kind == EVENT:
                at = self._run(data, at, end, items)
                continue
            self._one(kind, data, at, at + length, items)
            at += length
        else:
            self._due = WORD.size
        if at < end:
            self._rest += data[at:]
        return items

    def _run(self, data: bytes, at: int, end: int, items: list[Item]) -> int:
        """Read events as long as they follow one another; return where the next frame begins."""
        unpack, size_max = EVENT_HEAD.unpack_from, self.frame_bytes_max
        rows: list[bytes] = []
        begin, run_alias, due = at, -1, -1
        stop = min(end, at + RUN_BYTES_MAX)
        while end - at >= _HEAD:
            word, alias, number = unpack(data, at)
            length = word & 0xFFFFFF
            if alias != run_alias or number != due or word >> 24 != EVENT:
                if rows:
                    break
                run_alias, due = alias, number
            after = at + length
            if after > end or (rows and (after > stop or len(rows) == RUN_EVENTS_MAX)):
                break
            if length <= _HEAD or length > size_max:
                raise WireError(f"an event frame of {length} bytes")
            rows.append(data[at + _HEAD : after])
            at = after
            due += 1
        if not rows:
            raise WireError("an event frame that is too short for its head")
        if not 0 < due - len(rows) < due <= INT64_MAX:
            raise WireError(f"an event of the number {due - 1}")
        self.frames += len(rows)
        self.size += at - begin
        items.append(Run(run_alias, due - len(rows), rows))
        return at

    def _one(self, kind: int, data: bytes, at: int, end: int, items: list[Item]) -> None:
        """Read one whole frame."""
        try:
            if kind == BLOCK:
                items.append(_block(data, at, end))
            elif kind == TO:
                items.append(To(*TO_FRAME.unpack(data[at:end])[1:]))
            elif kind == CONTROL:
                items.append(decode_message(data[at + 4 : end]))
            elif kind == DIGEST:
                alias = ALIAS_HEAD.unpack_from(data[at:end])[1]
                items.append(DigestFrame(alias, data[at + ALIAS_HEAD.size : end]))
            else:
                self._uncounted(kind, data, at, end, items)
                return
        except struct.error:
            raise WireError(f"a frame of kind {kind} with {end - at} bytes") from None
        self.frames += 1
        self.size += end - at

    def _uncounted(self, kind: int, data: bytes, at: int, end: int, items: list[Item]) -> None:
        """Read a frame of which resuming knows nothing."""
        if kind == CURSOR:
            items.append(Cursor(*CURSOR_FRAME.unpack(data[at:end])[1:]))
        elif kind == GREETING:
            items.append(decode_message(data[at + 4 : end]))
        elif kind in (HEARTBEAT, WANT):
            self.wanted = self.wanted or kind == WANT
        else:
            raise WireError(_unknown(kind))


def _unknown(kind: int) -> str:
    return f"a frame of the unknown kind {kind}: the peer is newer, or no peer at all"


def _block(data: bytes, at: int, end: int) -> BlockFrame:
    frame = data[at:end]
    _, alias, first, span, count, version, form, presence, time = BLOCK_HEAD.unpack_from(frame)
    body = BLOCK_HEAD.size + presence
    if not 0 < count <= span <= BLOCK_EVENTS_MAX or body >= len(frame):
        raise WireError(f"a block frame of {count} events in {span} numbers")
    return BlockFrame(
        alias, first, span, count, version, form, time, frame[BLOCK_HEAD.size : body],
        frame[body:],
    )  # fmt: skip
