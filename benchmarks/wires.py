"""What a raw load generator must know of a protocol: greetings, messages, and how to count them.

One class for each side. Ours is in `ours.py`.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import socket

PAYLOAD_BYTES = 100


class Counter(Protocol):
    """What counts the events in the bytes that a receiver gets."""

    def feed(self, data: memoryview) -> int:
        """Return how many events have become whole."""

    def reply(self, idle: bool) -> bytes:  # noqa: FBT001 - a protocol of one caller
        """Return what the receiver has to answer; `idle` when nothing came for a while."""


class Wire(Protocol):
    """One protocol, spoken over sockets that block until the greeting is over."""

    name: str
    goodbye: bytes  # What a client says before it closes its connection for good.

    def join_sender(self, connection: socket.socket, stream: str) -> object:
        """Greet as a sender; return what `writes` must know of it."""

    def join_receiver(self, connection: socket.socket, stream: str) -> Counter:
        """Greet as a receiver, up to the point from which every event arrives."""

    def writes(
        self, stream: str, joined: object, events: int, per_write: int, per_message: int
    ) -> list[bytes]:
        """Return all events, encoded as messages, cut into what one write takes."""


class FixedSize:
    """Counts messages that all have one size; what else a server says is small and rare."""

    def __init__(self, size: int) -> None:
        """Count messages of so many bytes."""
        self.size = size
        self.received = 0
        self.counted = 0

    def feed(self, data: memoryview) -> int:
        """Return how many have become whole."""
        self.received += len(data)
        count = self.received // self.size - self.counted
        self.counted += count
        return count

    def reply(self, idle: bool) -> bytes:  # noqa: ARG002, FBT001 - as in `Counter`
        """Return nothing: neither MQTT at QoS 0 nor NATS acknowledges."""
        return b""


class Mqtt:
    """MQTT 3.1.1, QoS 0."""

    name = "Mosquitto"
    goodbye = b"\xe0\x00"

    def join_sender(self, connection: socket.socket, stream: str) -> None:
        """Connect."""
        del stream
        client = b""  # The server makes up a name.
        body = _text(b"MQTT") + b"\x04\x02" + struct.pack(">H", 0) + _text(client)
        connection.sendall(_packet(0x10, body))
        answer = exactly(connection, 4)
        if answer != b"\x20\x02\x00\x00":
            raise SystemExit(f"Mosquitto refused a connection: {answer!r}")

    def join_receiver(self, connection: socket.socket, stream: str) -> Counter:
        """Connect and subscribe."""
        self.join_sender(connection, stream)
        connection.sendall(_packet(0x82, struct.pack(">H", 1) + _text(stream.encode()) + b"\x00"))
        answer = exactly(connection, 5)
        if answer != b"\x90\x03\x00\x01\x00":
            raise SystemExit(f"Mosquitto refused a subscription: {answer!r}")
        return FixedSize(len(self.message(stream)))

    def message(self, stream: str, payload: bytes = bytes(PAYLOAD_BYTES)) -> bytes:
        """Return one event as sent, which is also as received."""
        return _packet(0x30, _text(stream.encode()) + payload)

    def writes(
        self, stream: str, joined: object, events: int, per_write: int, per_message: int
    ) -> list[bytes]:
        """Return the writes: one event is one message here."""
        del joined, per_message
        return repeated(self.message(stream), events, per_write)


class Nats:
    """The NATS client protocol, without acknowledgements."""

    name = "nats-server"
    goodbye = b""

    def join_sender(self, connection: socket.socket, stream: str) -> None:
        """Connect."""
        del stream
        options = {"verbose": False, "pedantic": False, "lang": "raw", "version": "1"}
        connection.sendall(b"CONNECT " + json.dumps(options).encode() + b"\r\nPING\r\n")
        until(connection, b"PONG\r\n")

    def join_receiver(self, connection: socket.socket, stream: str) -> Counter:
        """Connect and subscribe."""
        self.join_sender(connection, stream)
        connection.sendall(b"SUB " + stream.encode() + b" 1\r\nPING\r\n")
        until(connection, b"PONG\r\n")
        return FixedSize(len(self.received(stream)))

    def message(self, stream: str, payload: bytes = bytes(PAYLOAD_BYTES)) -> bytes:
        """Return one event as sent."""
        return f"PUB {stream} {len(payload)}\r\n".encode() + payload + b"\r\n"

    def received(self, stream: str, payload: bytes = bytes(PAYLOAD_BYTES)) -> bytes:
        """Return one event as received."""
        return f"MSG {stream} 1 {len(payload)}\r\n".encode() + payload + b"\r\n"

    def writes(
        self, stream: str, joined: object, events: int, per_write: int, per_message: int
    ) -> list[bytes]:
        """Return the writes: one event is one message here."""
        del joined, per_message
        return repeated(self.message(stream), events, per_write)


def repeated(message: bytes, events: int, per_write: int) -> list[bytes]:
    """Return writes of `per_write` equal messages, and one with what is left."""
    whole, left = divmod(events, per_write)
    return [message * per_write] * whole + ([message * left] if left else [])


def exactly(connection: socket.socket, size: int) -> bytes:
    """Return so many bytes."""
    data = b""
    while len(data) < size:
        data += _some(connection, size - len(data))
    return data


def until(connection: socket.socket, end: bytes) -> bytes:
    """Return what comes until an ending, byte by byte, so that nothing behind it is taken."""
    data = b""
    while not data.endswith(end):
        data += _some(connection, 1)
    return data


def _some(connection: socket.socket, size: int) -> bytes:
    data = connection.recv(size)
    if not data:
        raise SystemExit("a server closed the connection while it was greeted")
    return data


def _text(data: bytes) -> bytes:
    return struct.pack(">H", len(data)) + data


def _packet(kind: int, body: bytes) -> bytes:
    length, left = b"", len(body)
    while True:
        left, low = left >> 7, left & 0x7F
        length += bytes([low | (0x80 if left else 0)])
        if not left:
            return bytes([kind]) + length + body
