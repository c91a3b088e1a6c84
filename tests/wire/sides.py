"""Two sessions that talk over pipes of bytes which a test moves, cuts and loses as it likes."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from heliograph.event.block import block_of
from heliograph.wire.frames import block_frame
from heliograph.wire.messages import VERSION, Attach, Attached, Withdraw
from heliograph.wire.reader import Cursor, Reader, Run
from heliograph.wire.session import CURSOR_DELAY, Session
from wire.streams import FRAME_BYTES_MAX, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterable

LARGE: Final = 2**20


def event_frame(number: int, alias: int = 1) -> bytes:
    """Return the frame of an event of a stream."""
    return block_frame(block_of("s", 1, [number], [0], [[7]], NUMBERS), alias, 0)


def flat(items: Iterable[object]) -> list[object]:
    """Write items down one event after the other, however they were put into runs."""
    found: list[object] = []
    for one in items:
        if isinstance(one, Run):
            found += [(one.alias, one.first + place, row) for place, row in enumerate(one.rows)]
        else:
            found.append(one)
    return found


def read(frames: Iterable[bytes]) -> list[object]:
    """Read frames at once, as they would come over a connection that is never cut."""
    return flat(Reader(FRAME_BYTES_MAX).feed(b"".join(frames)))


class Side:
    """One end: its session, what waits in its lanes, what it sent, and what it was given."""

    def __init__(self, window_bytes: int) -> None:
        self.session = Session(window_bytes, FRAME_BYTES_MAX)
        self.waiting: deque[bytes] = deque()
        self.sent: list[bytes] = []  # Each frame when it was sent first: the twin of the session.
        self.got: list[object] = []
        self.pipe = bytearray()
        self.asked: list[int] = []  # How long a frame might have been, each time.
        self._events = self._said = 0

    def publish(self, count: int = 1) -> None:
        for _ in range(count):
            self._events += 1
            self.waiting.append(event_frame(self._events))

    def say(self, count: int = 1) -> None:
        for _ in range(count):
            self._said += 1
            self.session.say(Withdraw(self._said))

    def source(self, size: int) -> bytes | None:
        self.asked.append(size)
        return self.waiting.popleft() if self.waiting else None

    def pull(self, max_bytes: int, now: int) -> bytes:
        before = len(self.session.unacked)
        data = self.session.pull(max_bytes, now, self.source)
        self.sent += [frame for frame, _ in list(self.session.unacked)[before:]]
        self.pipe += data
        return data

    def feed(self, data: bytes, now: int) -> None:
        session = self.session
        for item in session.feed(data, now):
            if isinstance(item, Cursor):
                session.passed(item.frames, now)
            elif isinstance(item, Attach):
                session.greet(Attached(VERSION, [], b"", True, session.reader.frames, 0, 0))  # noqa: FBT003 - a field of a message
                session.resume(item.frames)
            elif isinstance(item, Attached):
                session.resume(item.frames)
            else:
                self.got += flat([item])


class Pair:
    """A client's side, the planet's side, and the time."""

    def __init__(self, window_bytes: int = LARGE, *, connected: bool = True) -> None:
        self.client, self.planet = Side(window_bytes), Side(window_bytes)
        self.sides = (self.client, self.planet)
        self.now = 0
        self.links = 0
        if connected:
            self.connect()
            self.settle()

    def other(self, side: Side) -> Side:
        return self.planet if side is self.client else self.client

    @property
    def connected(self) -> bool:
        return self.client.session.link is not None

    def connect(self) -> None:
        self.links += 1
        for side in self.sides:
            side.session.connect(self.links, self.now)
        self.client.session.greet(Attach(VERSION, [], None, self.client.session.reader.frames))

    def cut(self) -> None:
        """Let the connection vanish, with all that is on its way."""
        for side in self.sides:
            side.session.disconnect()
            side.pipe.clear()

    def move(self, side: Side, size: int) -> bool:
        """Let the other side have so many of the bytes that are on their way from this one."""
        data = bytes(side.pipe[:size])
        del side.pipe[:size]
        if data:
            self.other(side).feed(data, self.now)
        return bool(data)

    def settle(self) -> None:
        """Connect if need be, and let everything arrive and be acknowledged."""
        if not self.connected:
            self.connect()
        quiet = 0
        while quiet < 2:  # Cursors come after a delay.
            moved = False
            for side in self.sides:
                moved = bool(side.pull(LARGE, self.now)) or moved
                moved = self.move(side, LARGE) or moved
            quiet = 0 if moved else quiet + 1
            self.now += 0 if moved else CURSOR_DELAY

    def check(self) -> None:
        """Check that each side was given what the other one sent: once, whole and in order."""
        for side in self.sides:
            assert self.other(side).got == read(side.sent)
            assert not side.waiting
            assert not side.session.unacked
            assert side.session.acked == self.other(side).session.reader.frames == len(side.sent)
            assert side.session.control_bytes == side.session.window.under_way == 0
