"""Session: one client and one planet, across the connections that they lose (PACK 3, mobility).

Every frame but greetings, cursors and heartbeats is counted. What was sent is kept until the other
side's cursor has passed it; after a reconnect each side says how many frames it received, and the
rest is sent again, byte for byte. So nothing is lost, doubled or reordered by a connection, and no
policy touches what is under way. Planets and clients use the same session.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from heliograph.event.errors import WireError
from heliograph.wire.frames import (
    CONTROL,
    GREETING,
    HEARTBEAT_FRAME,
    WANT_FRAME,
    cursor_frame,
    message_frame,
)
from heliograph.wire.messages import Message, encode_message
from heliograph.wire.reader import Reader
from heliograph.wire.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable

# A cursor is sent after so many bytes, or so long after the first of fewer.
CURSOR_BYTES: Final = 16_384
CURSOR_DELAY: Final = 25_000_000
# A peer that takes no messages at all is no peer: control has a bound of its own.
CONTROL_BYTES_MAX: Final = 4 * 2**20

_FRAME_MIN: Final = 1_024
_NEVER: Final = 2**62


class Session:
    """What one side knows of the other."""

    def __init__(self, window_bytes_max: int, frame_bytes_max: int) -> None:
        """Begin without a connection."""
        self.window = Window(window_bytes_max)
        self.frame_bytes_max = frame_bytes_max
        self.reader = Reader(frame_bytes_max)
        self.link: int | None = None
        self.open = False  # Greetings have been exchanged on this connection.
        self.hurry = False  # What waits is sent whatever is under way: there is no later.
        self.unacked: deque[tuple[bytes, bool]] = deque()  # Frames; and whether each is data.
        self.acked = 0  # Frames.
        self._again: deque[bytes] = deque()  # To be sent once more, before anything new.
        self._greetings: list[bytes] = []
        # What is to be said, in this order, by what it takes the place of.
        self._control: dict[tuple[str, int] | int, bytes] = {}
        self._said = 0
        self.control_bytes = 0
        self._told_size = 0  # Of what was received, as the last cursor said.
        self.cursor_at: int | None = None  # When a cursor is due.
        self.cursor_urgent = False  # It is due now.
        self._beat = False
        self.heard = 0  # When anything was last received.
        self.spoke = 0  # When anything was last sent.
        self.sent_bytes = 0
        self.received_bytes = 0

    def greet(self, message: Message) -> None:
        """Send a message that belongs to this connection alone."""
        self._greetings.append(message_frame(GREETING, encode_message(message)))

    def say(self, message: Message, key: tuple[str, int] | None = None) -> None:
        """Send a message that survives the connection.

        It takes the place of one with the same key that has not been sent yet.

        Raises:
            WireError: The other side takes none, and they have piled up.
        """
        frame = message_frame(CONTROL, encode_message(message))
        place = key or self._said
        size = self.control_bytes + len(frame) - len(self._control.get(place, b""))
        if size > CONTROL_BYTES_MAX:
            raise WireError(f"{CONTROL_BYTES_MAX} bytes of messages would wait: none are taken")
        self.control_bytes = size
        self._said += 1
        self._control[place] = frame

    def beat(self) -> None:
        """Send a sign of life."""
        self._beat = True

    def connect(self, link: int, now: int) -> None:
        """Go on over a new connection; what was received so far counts on."""
        self.link, self.open = link, False
        self.reader = Reader(self.frame_bytes_max, frames=self.reader.frames)
        self._greetings.clear()
        self._told_size = 0
        self.cursor_at, self.cursor_urgent = None, False
        self.heard = self.spoke = now
        self.window.reset()

    def resume(self, frames: int) -> None:
        """Begin where the other side is, which has received so many frames of this session.

        Raises:
            WireError: It cannot have.
        """
        self.window.acked += self._pass(frames)
        self._again = deque(frame for frame, _ in self.unacked)
        self.open = True

    def disconnect(self) -> None:
        """Go on without a connection."""
        self.link, self.open = None, False
        self._again.clear()

    def feed(self, data: bytes, now: int) -> list[object]:
        """Return the items in what was received."""
        self.heard = now
        self.received_bytes += len(data)
        items = self.reader.feed(data)
        due = self.reader.size - self._told_size
        if due > 0 and self.cursor_at is None:
            self.cursor_at = now + CURSOR_DELAY
        if due >= CURSOR_BYTES or (self.reader.wanted and due > 0):
            self.reader.wanted = False
            self.cursor_at = now
            self.cursor_urgent = True
        return items  # type: ignore[return-value]

    def freeze(self) -> None:
        """Acknowledge what has been received so far, and nothing that comes from now on."""
        if self.open:
            self._greetings.append(cursor_frame(self.reader.frames, self.reader.size))
        self._told_size = _NEVER
        self.cursor_at, self.cursor_urgent = None, False

    def passed(self, frames: int, now: int) -> None:
        """Take the other side's cursor.

        Raises:
            WireError: It passes what was never sent.
        """
        size = self._pass(frames)
        if size:
            self.window.ack(size, now)

    def _pass(self, frames: int) -> int:
        """Forget what has been received; return how many bytes of data were in it."""
        size = 0
        unacked = self.unacked
        count = frames - self.acked
        if not 0 <= count <= len(unacked):
            raise WireError(
                f"a cursor at {frames} frames; between {self.acked} and "
                f"{self.acked + len(unacked)} could be"
            )
        for _ in range(count):
            frame, data = unacked.popleft()
            if data:
                size += len(frame)
            else:
                self.control_bytes -= len(frame)
        self.acked = frames
        return size

    def pull(self, max_bytes: int, now: int, source: Callable[[int], bytes | None]) -> bytes:
        """Return the next bytes: what is urgent first, data as far as the window lets it.

        `source` returns a frame of data of at most so many bytes (or of one event), or None.
        """
        parts = self._greetings
        self._greetings = []
        if self.open:
            if self.cursor_at is not None and self.cursor_at <= now:
                parts.append(cursor_frame(self.reader.frames, self.reader.size))
                self._told_size, self.cursor_at = self.reader.size, None
                self.cursor_urgent = False
            left = self._repeat(parts, max_bytes)
            if not self._again:
                for frame in self._control.values():
                    parts.append(frame)
                    self.unacked.append((frame, False))
                    left -= len(frame)
                self._control.clear()
                self._data(parts, left, now, source)
        if self._beat:
            if not parts:
                parts.append(HEARTBEAT_FRAME)
            self._beat = False
        if not parts:
            return b""
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        self.spoke = now
        self.sent_bytes += len(data)
        return data

    def _repeat(self, parts: list[bytes], left: int) -> int:
        while self._again and left > 0:
            frame = self._again.popleft()
            parts.append(frame)
            left -= len(frame)
        return left

    def _data(
        self, parts: list[bytes], left: int, now: int, source: Callable[[int], bytes | None]
    ) -> None:
        window, unacked = self.window, self.unacked
        # Cursors say when there is room; this is where the backlog stays in lanes.
        before = room = left if self.hurry else window.room()
        # A frame is no longer than a quarter of what may be under way: messages wait behind it.
        longest = max(_FRAME_MIN, window.limit >> 2)
        while left > 0 and room > 0:
            frame = source(min(left, room, longest))
            if frame is None:
                break
            unacked.append((frame, True))
            parts.append(frame)
            left -= len(frame)
            room -= len(frame)
        if room < before:
            window.send(before - room, now)
            if room <= 0:
                # A receiver that waits for more to tell of would keep a small window shut.
                parts.append(WANT_FRAME)

    @property
    def waiting(self) -> bool:
        """Whether anything but data waits to be sent."""
        return bool(self._greetings or self._control or self._again or self._beat)

    def lost(self, received: int) -> list[bytes]:
        """Begin anew: the other side knows nothing of the `received` frames, nor of those sent.

        Returns the frames of data that nobody has said to have received.
        """
        frames = [frame for frame, data in self.unacked if data]
        self.unacked.clear()
        self._control.clear()
        self._again.clear()
        self.control_bytes = self.acked = 0
        self.reader.frames -= received
        self.window = Window(self.window.max_bytes)
        return frames
