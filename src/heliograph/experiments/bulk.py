"""Bulk TCP over a link: what a plain connection gets through it, which nothing above it can beat.

`goodput(near, far, seconds)` runs a process at each end. As a program, it is one of those ends:

    python -m heliograph.experiments.bulk receive ADDRESS      prints its port, then the outcome
    python -m heliograph.experiments.bulk send ADDRESS PORT SECONDS
"""

from __future__ import annotations

import json
import socket
import sys
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heliograph.experiments.namespaces import Namespace

SEND_BUFFER = 16_384  # Bytes that stand in the sender's socket: few, or they drain for long.
SLACK_SECONDS = 60.0  # How long the tail of a transfer may take on a thin link.
_PIECE = bytes(4_096)


@dataclass(frozen=True)
class Goodput:
    """What arrived of a bulk transfer, headers not counted."""

    payload: int
    seconds: float

    @property
    def bits_per_second(self) -> float:
        """Return the payload that a second carried."""
        return self.payload * 8 / self.seconds if self.seconds else 0.0


def goodput(near: Namespace, far: Namespace, seconds: float) -> Goodput:
    """Measure bulk TCP from `near` to `far`."""
    program = [sys.executable, "-m", "heliograph.experiments.bulk"]
    receiver = far.start([*program, "receive", far.address])
    if receiver.stdout is None:
        raise RuntimeError("the receiver was started without a pipe")
    port = receiver.stdout.readline().strip()
    near.run([*program, "send", far.address, port, str(seconds)], timeout=seconds + SLACK_SECONDS)
    said, _ = receiver.communicate(timeout=SLACK_SECONDS)
    return Goodput(**json.loads(said))


def send(address: str, port: int, seconds: float) -> None:
    """Send as much as the link takes for some seconds."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        connection.connect((address, port))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            connection.sendall(_PIECE)


def receive(listener: socket.socket) -> Goodput:
    """Take one transfer to its end.

    All of it counts, from the connection to the last byte: what arrives out of order is handed up
    late, so that any cut in between would count bytes whose time it does not.
    """
    connection, _ = listener.accept()
    start = last = time.monotonic()
    payload = 0
    with connection:
        while data := connection.recv(65_536):
            payload += len(data)
            last = time.monotonic()
    return Goodput(payload, last - start)


def main(words: list[str]) -> None:
    """Be one end."""
    if words[0] == "send":
        send(words[1], int(words[2]), float(words[3]))
        return
    with socket.create_server((words[1], 0)) as listener:
        print(listener.getsockname()[1], flush=True)  # noqa: T201 - tells the other end the port
        print(json.dumps(asdict(receive(listener))))  # noqa: T201 - tells the outcome


if __name__ == "__main__":
    main(sys.argv[1:])
