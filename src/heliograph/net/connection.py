"""Connection: one end of a link, between its socket and the shell.

It owns what flow there is: it pulls from the core only while its socket takes what it is given, so
that backlog waits in lanes, where policies reach it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, cast

from heliograph.net.sockets import tune

if TYPE_CHECKING:
    from heliograph.net.shell import Shell

# What asyncio reads at once. Its own 256 KiB, which it allocates for every read, are so large that
# they are mapped and unmapped each time: that costs more than all else of a read.
READ_BYTES: Final = 64 * 1_024
# How many chunks one link may have in its turn before all others have theirs.
CHUNKS_PER_TURN: Final = 4
# Chunks of about one event: not cursors, nor what was gathered (see `Shell`).
REST_CHUNK_BYTES: Final = range(64, 1_024)
# What is told of a chunk that a core stumbled over.
_STORY_BYTES: Final = 64


class Connection(asyncio.Protocol):
    """One end of a link."""

    def __init__(self, shell: Shell) -> None:
        """Wait for the socket; a core hears of the link when that is there."""
        self._shell = shell
        self._transport: asyncio.Transport = cast("asyncio.Transport", None)
        self._feed = shell.core.feed
        self._pull = shell.core.pull
        self._lock = shell.lock
        self._clock = shell.clock
        self._limits = shell.limits
        self._chunk = shell.limits.chunk_bytes_max
        self._abort: asyncio.TimerHandle | None = None
        self.link = 0
        self.peer = "?"
        self.began = 0
        self.bytes_in = 0
        self.bytes_out = 0
        self.paused = False  # The socket holds something that it could not send.
        self.ready = False  # The core has something to pull.
        self.closing = False

    # What the loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Tell the core of a link, now that its socket is open."""
        self._transport = cast("asyncio.Transport", transport)
        sock = transport.get_extra_info("socket")
        if sock is not None:
            tune(sock, self._limits)
        self.peer = _shown(transport.get_extra_info("peername"))
        if hasattr(transport, "max_size"):  # Of uvloop and TLS it is none, and they need it not.
            transport.max_size = READ_BYTES
        # Whatever the socket does not take at once pauses us: no second buffer behind the lanes.
        self._transport.set_write_buffer_limits(high=1, low=0)
        self._shell.made(self)

    def data_received(self, data: bytes) -> None:
        """Feed the core."""
        if self.closing:
            return
        self.bytes_in += len(data)
        shell = self._shell
        if len(data) in REST_CHUNK_BYTES:
            shell.small += 1
        try:
            with self._lock:
                self._feed(self.link, data, self._clock())
        except Exception as error:  # noqa: BLE001 - whatever it is, it costs this link only
            shell.failed("feed", error, self, {"chunk": data[:_STORY_BYTES].hex()})
        if not shell.scheduled:
            shell.schedule()

    def pause_writing(self) -> None:
        """Stop pulling: the socket is full. The next chunks are smaller: less waits out here."""
        self.paused = True
        self._chunk = max(self._chunk // 2, self._limits.chunk_bytes_min)

    def resume_writing(self) -> None:
        """Go on pulling, in the next turn of the shell."""
        self.paused = False
        if self.ready:
            self._shell.again(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the core that the link is gone, for whatever reason."""
        if self._abort is not None:
            self._abort.cancel()
        self.closing = True
        self._shell.lost(self, "" if exc is None else str(exc))

    # What the shell calls.

    def drain(self, now: int) -> None:
        """Give the socket what the core has for it, as long as it takes it."""
        self.ready = True
        if self.paused or self.closing:
            return
        try:
            for _ in range(CHUNKS_PER_TURN):
                data = self._pull(self.link, self._chunk, now)
                if not data:
                    self.ready = False
                    return
                self.bytes_out += len(data)
                self._transport.write(data)
                if self.paused:
                    return
                if len(data) < self._chunk:
                    # That was all, or all that may be under way: the core says when there is more.
                    self.ready = False
                    return
                self._chunk = min(self._chunk * 2, self._limits.chunk_bytes_max)
        except Exception as error:  # noqa: BLE001 - as in data_received
            self._shell.failed("pull", error, self, {})
            return
        self._shell.again(self)

    def finish(self, now: int, seconds: float) -> None:
        """Write what the core still has for the link, then close it; abort it after a while."""
        if self.closing:
            return
        try:
            left = self._limits.chunk_bytes_max
            while left > 0 and (data := self._pull(self.link, left, now)):
                self.bytes_out += len(data)
                left -= len(data)
                self._transport.write(data)
        except Exception as error:  # noqa: BLE001 - as in data_received
            self._shell.failed("pull", error, self, {})
            return
        self.closing = True
        self._transport.close()
        # A peer that does not read would keep a closed link open for ever.
        self._abort = self._shell.loop.call_later(seconds, self._transport.abort)

    def abort(self) -> None:
        """Close at once; what was not sent is lost with the link, and sent again on the next."""
        self.closing = True
        if self._transport is not None:
            self._transport.abort()

    def story(self, now: int) -> dict[str, Any]:
        """Return what is worth knowing of the link when something goes wrong with it."""
        return {
            "link": self.link,
            "peer": self.peer,
            "age_ms": (now - self.began) // 1_000_000,
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
        }


def _shown(address: Any) -> str:
    """Return an address as people write it."""
    if isinstance(address, tuple) and len(address) > 1:
        host, port = address[:2]
        return f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}"
    return str(address or "?")
