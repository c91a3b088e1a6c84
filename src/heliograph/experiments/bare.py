"""Bare: a link on which bytes come in and go out; what came is acknowledged, and no more."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from heliograph.wire.frames import (
    CONTROL,
    CURSOR,
    EVENT,
    GREETING,
    HEARTBEAT,
    WANT,
    WORD,
    cursor_frame,
    message_frame,
)
from heliograph.wire.messages import decode_message, encode_message
from heliograph.wire.session import CURSOR_DELAY

if TYPE_CHECKING:
    from heliograph.wire.messages import Message

_UNCOUNTED: Final = (GREETING, CURSOR, HEARTBEAT, WANT)


class Bare:
    """What a `Session` is to a planet, without its books: a client takes it for one."""

    def __init__(self) -> None:
        """Begin empty."""
        self.queue: deque[bytes] = deque()
        self.cursor_at: int | None = None  # When a cursor is due.
        self.cursor_urgent = False
        self._rest = b""
        self._frames = 0
        self._size = 0

    def connect(self, link: int, now: int) -> None:
        """Do nothing."""

    def resume(self, frames: int) -> None:
        """Do nothing."""

    def greet(self, message: Message) -> None:
        """Send a message that belongs to this connection alone."""
        self.queue.append(message_frame(GREETING, encode_message(message)))

    def say(self, message: Message) -> None:
        """Send a message."""
        self.queue.append(message_frame(CONTROL, encode_message(message)))

    def hear(self, data: bytes, now: int) -> tuple[list[bytes], list[Any]]:
        """Return the frames of data in what came, and the messages."""
        data = self._rest + data
        frames: list[bytes] = []
        messages = []
        at = 0
        while len(data) - at >= WORD.size:
            first = WORD.unpack_from(data, at)[0]
            kind, after = first >> 24, at + (first & 0xFFFFFF)
            if after > len(data):
                break
            if kind not in _UNCOUNTED:
                self._frames += 1
                self._size += after - at
            if kind == EVENT:
                frames.append(data[at:after])
            elif kind == WANT:
                self.cursor_urgent = True
            elif kind in (CONTROL, GREETING):
                messages.append(decode_message(data[at + WORD.size : after]))
            at = after
        self._rest = data[at:]
        if frames and self.cursor_at is None:
            self.cursor_at = now + CURSOR_DELAY
        return frames, messages

    def draw(self, max_bytes: int, now: int) -> bytes:
        """Return what is to be written."""
        del max_bytes
        if self.cursor_urgent or (self.cursor_at is not None and self.cursor_at <= now):
            self.queue.append(cursor_frame(self._frames, self._size))
            self.cursor_at, self.cursor_urgent = None, False
        data = b"".join(self.queue)
        self.queue.clear()
        return data
