"""Our side of the load: a planet, and its protocol as a raw load generator speaks it."""

from __future__ import annotations

import contextlib
import struct
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import peers
from heliograph import __version__
from heliograph.event.block import block_of
from heliograph.event.schema import Schema
from heliograph.wire import forms, frames, messages
from wires import PAYLOAD_BYTES, exactly

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

NAME = "Heliograph"
CURSOR_BYTES = 16_384  # After so many bytes a client says how far it has received.
KIND_SHIFT, LENGTH_MASK = 24, 0xFFFFFF
# Frames that a cursor does not count.
UNCOUNTED = (frames.GREETING, frames.CURSOR, frames.HEARTBEAT, frames.WANT)
EPOCH = 1
# What `heliograph planet` runs, without its log.
PROGRAM = (
    "import sys\nfrom heliograph.net.server import run\n"
    "from heliograph.planet.config import read_config\nrun(read_config(sys.argv[1]))"
)
NUMBER = struct.Struct("<Q")
NUMBER_AT = 8  # Where the number of its first event stands in a frame: after word and alias.


@contextlib.contextmanager
def planet(**settings: object) -> Iterator[peers.Peer]:
    """Start a planet with these settings over its defaults."""
    port = peers.free_port()
    settings = {"listen": f"{peers.HOST}:{port}", **settings}
    lines = [
        f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
        for key, value in settings.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "planet.toml")
        config.write_text("\n".join(lines) + "\n", encoding="utf-8")
        words = [sys.executable, "-c", PROGRAM, str(config)]
        with peers.started(NAME, words, port, __version__) as peer:
            yield peer


class Helio:
    """Our protocol, frame by frame, as `heliograph.wire.frames` defines it."""

    name = NAME

    goodbye = frames.message_frame(frames.CONTROL, messages.encode_message(messages.Depart()))
    schema = Schema.declare({"payload": "bytes"})

    def join_sender(self, connection: socket.socket, stream: str) -> object:
        """Attach and advertise; return the alias of the stream."""
        talk = Talk(connection)
        talk.attach()
        schema = forms.schema_bytes(self.schema)
        talk.say(messages.Advertise(1, stream, EPOCH, 0, 1, schema))
        return talk.wait(messages.Advertised).alias

    def join_receiver(self, connection: socket.socket, stream: str) -> Counting:
        """Attach and subscribe, without a policy."""
        talk = Talk(connection)
        talk.attach()
        talk.say(messages.Subscribe(1, stream, b""))
        talk.wait(messages.Opened)
        return Counting(talk.frames, talk.size)

    def writes(
        self, stream: str, joined: Any, events: int, per_write: int, per_message: int
    ) -> list[bytes]:
        """Return the events as frames of `per_message` events each.

        They differ in their numbers alone, which stand at one place in each: so one is encoded,
        and copied.
        """
        count, left = divmod(events, per_message)
        one = self._frame(stream, joined, 1, per_message)
        copies: Any = np.tile(np.frombuffer(one, np.uint8), (count, 1))
        numbers = np.arange(count, dtype="<u8") * per_message + 1
        copies[:, NUMBER_AT : NUMBER_AT + 8] = numbers.view(np.uint8).reshape(count, 8)
        step = max(1, per_write // per_message)
        made = [copies[at : at + step].tobytes() for at in range(0, count, step)]
        return [*made, self._frame(stream, joined, events - left + 1, left)] if left else made

    def _frame(self, stream: str, alias: int, first: int, count: int) -> bytes:
        numbers, times = list(range(first, first + count)), [0] * count
        rows = [[bytes(PAYLOAD_BYTES)]] * count
        block = block_of(stream, EPOCH, numbers, times, rows, self.schema)
        return frames.block_frame(block, alias, 0)


class Talk:
    """A greeting over a socket that blocks."""

    def __init__(self, connection: socket.socket) -> None:
        """Begin; what is received is counted, as cursors tell of it."""
        self.connection = connection
        self.frames = 0
        self.size = 0

    def attach(self) -> None:
        """Greet the planet."""
        hello = messages.Attach(messages.VERSION, list(messages.FEATURES), None, 0, "bench")
        self.say(hello, frames.GREETING)
        self.wait(messages.Attached)

    def say(self, message: messages.Message, kind: int | None = None) -> None:
        """Send a message."""
        body = messages.encode_message(message)
        self.connection.sendall(frames.message_frame(kind or frames.CONTROL, body))

    def wait(self, kind: type) -> Any:
        """Return the next message of a kind; refuse a refusal."""
        while True:
            word = exactly(self.connection, 4)
            first = int.from_bytes(word, "little")
            length, sort = first & LENGTH_MASK, first >> KIND_SHIFT
            body = exactly(self.connection, length - 4)
            if sort not in UNCOUNTED:
                self.frames += 1
                self.size += length
            if sort not in (frames.GREETING, frames.CONTROL):
                continue
            message = messages.decode_message(body)
            if isinstance(message, kind):
                return message
            if isinstance(message, messages.Refused | messages.Denied | messages.Bye):
                raise SystemExit(f"the planet refused: {message}")


class Counting:
    """Counts events in frames, a run of equal ones at a time, and acknowledges them."""

    def __init__(self, received: int, size: int) -> None:
        """Go on after a greeting that had so many frames and bytes."""
        self.frames, self.size, self.told = received, size, size
        self.rest = b""
        self.last = 0
        self.wanted = False

    def feed(self, data: memoryview) -> int:
        """Return how many events have become whole; they must follow one another."""
        whole: bytes | memoryview = self.rest + data if self.rest else data
        at, end, events = 0, len(whole), 0
        while end - at >= 4:
            first = int.from_bytes(whole[at : at + 4], "little")
            length, sort = first & LENGTH_MASK, first >> KIND_SHIFT
            run = equal(whole, at, length, first)
            if run == 0:
                break
            if sort == frames.EVENT:
                self._follow(whole, at, 1)
                self._follow(whole, at + (run - 1) * length, run - 1)
                events += run
            elif sort == frames.BLOCK:
                run = 1  # Equal words do not mean equal counts.
                count = frames.BLOCK_HEAD.unpack_from(whole, at)[4]
                self._follow(whole, at, 1)
                self.last += count - 1
                events += count
            else:
                run = 1
            if sort == frames.DIGEST:
                raise SystemExit("the planet dropped events: the load was to fit")
            self.wanted = self.wanted or sort == frames.WANT
            if sort not in UNCOUNTED:
                self.frames += run
                self.size += run * length
            at += run * length
        self.rest = bytes(whole[at:])
        return events

    def _follow(self, data: bytes | memoryview, at: int, steps: int) -> None:
        """Check that the frame here is so many numbers behind the last one."""
        number = NUMBER.unpack_from(data, at + NUMBER_AT)[0]
        self.last += steps
        if number != self.last:
            raise SystemExit(f"event {number} came where {self.last} was to come")

    def reply(self, idle: bool) -> bytes:  # noqa: FBT001 - as in `Counter`
        """Return a cursor, when one is due."""
        due = self.size - self.told
        if due < (1 if idle or self.wanted else CURSOR_BYTES):
            return b""
        self.told, self.wanted = self.size, False
        return frames.cursor_frame(self.frames, self.size)


def equal(data: bytes | memoryview, at: int, length: int, word: int) -> int:
    """Return how many whole frames begin here that have the same first word."""
    whole = (len(data) - at) // length
    if whole < 4:
        return min(whole, 1)
    words: Any = np.ndarray((whole,), "<u4", buffer=data, offset=at, strides=(length,))
    other = np.flatnonzero(words != word)
    return int(other[0]) if len(other) else whole
