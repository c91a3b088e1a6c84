"""The load generator: pre-encoded bytes over non-blocking sockets, one process, the same for all.

It knows nothing of protocols (`wires.py` does). Each sender has a bounded number of events under
way, counted by its slowest receiver, so that no broker ever drops one.
"""

from __future__ import annotations

import contextlib
import itertools
import select
import socket
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wires import Counter, Wire

HOST = "127.0.0.1"
READ_BYTES = 1 << 20
STALL_SECONDS = 10.0  # After so long without an event something was lost.
IDLE_SECONDS = 0.005
_turn = itertools.count()  # No run uses a stream of another.
TURNS = 8  # Writes of each sender before receivers are read.


@dataclass(frozen=True)
class Shape:
    """Who sends to whom, and how."""

    pairs: int = 1  # Streams, each with a sender of its own.
    fanout: int = 1  # Receivers of each stream.
    per_write: int = 128  # Events that one write takes: many where a sender pipelines.
    per_message: int = 1  # Events that one message takes, where the protocol can do that.
    window: int = 2_048  # Events under way of each stream.


@dataclass(eq=False, slots=True)
class Receiver:
    """A receiving connection."""

    connection: socket.socket
    counter: Counter
    count: int = 0


@dataclass(eq=False, slots=True)
class Sender:
    """A sending connection, with all that it will write."""

    connection: socket.socket
    writes: list[bytes]
    per_write: int
    receivers: list[Receiver]
    at: int = 0
    rest: memoryview | None = None

    def room(self, window: int) -> int:
        """Return how many writes may go now; what a write has left over counts as one."""
        arrived = min([one.count for one in self.receivers])
        may = (arrived + window) // self.per_write - self.at
        return min(may, len(self.writes) - self.at) + (self.rest is not None)


@dataclass(eq=False)
class Rig:
    """The connections of one run."""

    shape: Shape
    goodbye: bytes
    senders: list[Sender] = field(default_factory=list)
    receivers: list[Receiver] = field(default_factory=list)

    def close(self) -> None:
        """Close them all."""
        for one in self.ends:
            with contextlib.suppress(OSError):
                one.connection.sendall(self.goodbye)
            one.connection.close()

    @property
    def ends(self) -> list[Sender | Receiver]:
        """All connections."""
        return [*self.senders, *self.receivers]


def rig(wire: Wire, port: int, shape: Shape, events: int) -> Rig:
    """Connect all, and encode what will be sent: so many events on each stream."""
    made = Rig(shape, wire.goodbye)
    for _ in range(shape.pairs):
        stream = f"bench{next(_turn):06}"
        sending = _connect(port)
        joined = wire.join_sender(sending, stream)
        receivers = []
        for _ in range(shape.fanout):
            receiving = _connect(port)
            receivers.append(Receiver(receiving, wire.join_receiver(receiving, stream)))
        writes = wire.writes(stream, joined, events, shape.per_write, shape.per_message)
        made.senders.append(Sender(sending, writes, shape.per_write, receivers))
        made.receivers += receivers
    for one in made.ends:
        one.connection.settimeout(0)
    return made


def run(made: Rig, events: int) -> float:
    """Send everything and receive everything; return the seconds from the first to the last."""
    epoll = select.epoll()
    by_fd: dict[int, Receiver | Sender] = {}
    for one in made.ends:
        by_fd[one.connection.fileno()] = one
        epoll.register(one.connection, select.EPOLLIN)
    buffer = memoryview(bytearray(READ_BYTES))
    missing = events * len(made.receivers)
    start = heard = time.perf_counter()
    while missing:
        busy = _push_all(made)
        came = epoll.poll(0 if busy else IDLE_SECONDS)
        for fd, _ in came:
            count = _take(by_fd[fd], buffer)
            missing -= count
        if came:
            heard = time.perf_counter()
        elif not busy:
            for receiver in made.receivers:
                _answer(receiver, idle=True)
            if time.perf_counter() - heard > STALL_SECONDS:
                raise SystemExit(f"{missing} events did not arrive: {made.shape}")
    seconds = time.perf_counter() - start
    epoll.close()
    return seconds


def _push_all(made: Rig) -> bool:
    """Write in turns, one write each, as long as windows and sockets let it; return whether any.

    Receivers are read when the turns are over: a read of several events costs what one of one does.
    """
    turns = [(one, room) for one in made.senders if (room := one.room(made.shape.window)) > 0]
    busy = bool(turns)
    for turn in range(TURNS):
        turns = [pair for pair in turns if pair[1] > turn and _push(pair[0])]
        if not turns:
            break
    return busy


def _push(sender: Sender) -> bool:
    """Write once; return whether the socket took it all."""
    data: bytes | memoryview
    if sender.rest is not None:
        data = sender.rest
    else:
        data = sender.writes[sender.at]
        sender.at += 1
    try:
        sent = sender.connection.send(data)
    except BlockingIOError:
        sent = 0
    if sent == len(data):
        sender.rest = None
        return True
    sender.rest = memoryview(data)[sent:]
    return False


def _take(one: Receiver | Sender, buffer: memoryview) -> int:
    """Read once; return how many events became whole."""
    size = one.connection.recv_into(buffer)
    if size == 0:
        raise SystemExit("a server closed a connection in the middle of a run")
    if isinstance(one, Sender):
        return 0  # What a server says to a sender needs no answer within seconds.
    count = one.counter.feed(buffer[:size])
    one.count += count
    _answer(one, idle=False)
    return count


def _answer(receiver: Receiver, *, idle: bool) -> None:
    data = receiver.counter.reply(idle)
    if data:
        # A few bytes, to a server that reads them at once: they always fit.
        receiver.connection.sendall(data)


def _connect(port: int) -> socket.socket:
    connection = socket.create_connection((HOST, port), 10.0)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection
