"""Sockets: the options of a link's socket, chosen so that what waits, waits in lanes.

What lies in a kernel's buffer is beyond every policy's reach. So the kernel is given little: a
small buffer, and a mark for unsent bytes under which it asks for more; what has been sent and
awaits its acknowledgement by TCP does not count against that mark, so a long link still fills.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from heliograph.event.errors import UsageError

_BYTES_MIN: Final = 1_024


@dataclass(frozen=True, slots=True)
class SocketLimits:
    """How much of a link may lie outside the lanes.

    All of these together bound the stale bytes that a receiver gets after it stopped reading and
    began again: `receive_bytes` of it, and `send_bytes` plus `chunk_bytes_max` of its planet.
    """

    # SO_SNDBUF, which Linux doubles for its own bookkeeping. It bounds what is on its way, so a
    # link carries at most send_bytes in a round trip: 256 KiB over 100 ms are 2.6 MB/s.
    send_bytes: int = 256 * 1_024
    # SO_RCVBUF. Left to itself, Linux lets it grow to megabytes: seconds of a thin link.
    receive_bytes: int = 256 * 1_024
    # TCP_NOTSENT_LOWAT: the kernel asks for more when it holds fewer unsent bytes than that.
    # Smaller keeps backlog in the lanes; below 16 KiB a fast link wakes us too often.
    unsent_bytes: int = 32 * 1_024
    # What one pull asks a core for. It halves whenever a socket does not take it at once, down to
    # the smaller number, so that a thin link has little waiting here, and doubles when it does.
    chunk_bytes_max: int = 64 * 1_024
    chunk_bytes_min: int = 2 * 1_024

    def __post_init__(self) -> None:
        """Refuse limits that contradict each other."""
        for name in ("send_bytes", "receive_bytes", "unsent_bytes", "chunk_bytes_min"):
            if getattr(self, name) < _BYTES_MIN:
                raise UsageError(f"{name} is at least {_BYTES_MIN}, not {getattr(self, name)}")
        if self.chunk_bytes_min > self.chunk_bytes_max:
            raise UsageError(
                f"chunk_bytes_min {self.chunk_bytes_min} is above "
                f"chunk_bytes_max {self.chunk_bytes_max}: lower the one or raise the other"
            )


def tune(sock: socket.socket, limits: SocketLimits) -> None:
    """Set the options of a link's socket; those that a system does not know are left alone."""
    if sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    wanted = [
        (socket.SOL_SOCKET, socket.SO_SNDBUF, limits.send_bytes),
        (socket.SOL_SOCKET, socket.SO_RCVBUF, limits.receive_bytes),
        (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    ]
    unsent = getattr(socket, "TCP_NOTSENT_LOWAT", None)
    if unsent is not None:
        wanted.append((socket.IPPROTO_TCP, unsent, limits.unsent_bytes))
    for level, option, value in wanted:
        # Only speed and staleness depend on them: a link without is still a link.
        with suppress(OSError):
            sock.setsockopt(level, option, value)


def listening(host: str, port: int, limits: SocketLimits, backlog: int) -> socket.socket:
    """Return a socket that listens; the links that it accepts inherit its buffers.

    Raises:
        UsageError: The address cannot be listened on; the message says what to change.
    """
    place = f"{host or '*'}:{port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, protocol)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {place}: {error.strerror or error}; name an address of this host"
        ) from None
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Before listen(): the window that TCP offers is fixed when a link is accepted.
        tune(sock, limits)
        sock.bind(address)
        sock.listen(backlog)
        sock.setblocking(False)  # noqa: FBT003 - its only form
    except OSError as error:
        sock.close()
        raise UsageError(
            f"cannot listen on {place}: {error.strerror or error}; "
            "stop what listens there, or choose another port (0 takes any)"
        ) from None
    return sock
