"""Listener: accepts links, no more than a limit, and backs off where the system gives no more.

We accept ourselves, because asyncio's own server cannot refuse: it would hand over every link, and
a flood of them would cost the others their turn.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Callable

    from heliograph.net.journal import Journal

# How many are accepted in one turn of the loop, so that a flood leaves time for those who are in.
ACCEPTS_PER_TURN: Final = 32
# How long nothing is accepted after the system refused, or after a turn in which only refusals were
# made. Meanwhile who comes waits in the system's own queue, which is bounded by `backlog`.
BACK_OFF_SECONDS: Final = 0.1
HANDSHAKE_SECONDS: Final = 10.0


class Listener:
    """Accepts links on one listening socket."""

    def __init__(
        self,
        sock: socket.socket,
        factory: Callable[[], asyncio.Protocol],
        *,
        room: Callable[[], bool],
        journal: Journal,
        context: ssl.SSLContext | None = None,
    ) -> None:
        """Begin to accept; `room` says whether one more link may come."""
        self.port: int = sock.getsockname()[1]
        self.accepted = 0
        self.refused = 0
        self._sock = sock
        self._factory = factory
        self._room = room
        self._journal = journal
        self._context = context
        self._loop = asyncio.get_running_loop()
        # Those between accepting and, with TLS, the end of the handshake.
        self._opening: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._loop.add_reader(sock, self._accept)

    @property
    def opening(self) -> int:
        """How many links are being opened; they count against the limit."""
        return len(self._opening)

    def _accept(self) -> None:
        taken = 0
        for _ in range(ACCEPTS_PER_TURN):
            try:
                sock, peer = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                reason = error.strerror or str(error)
                self._journal.write("error", "accept_failed", {"reason": reason})
                self._back_off()
                return
            if not self._room():
                # At once, and not by letting it wait: so its client tries its next address.
                sock.close()
                self.refused += 1
                self._journal.write("warning", "link_refused", {"peer": peer, "why": "full"})
                continue
            taken += 1
            self.accepted += 1
            sock.setblocking(False)  # noqa: FBT003 - its only form
            opening = self._loop.create_task(self._open(sock), name=f"open {peer}")
            self._opening.add(opening)
            opening.add_done_callback(self._opening.discard)
        if not taken:
            self._back_off()

    async def _open(self, sock: socket.socket) -> None:
        seconds = None if self._context is None else HANDSHAKE_SECONDS
        try:
            await self._loop.connect_accepted_socket(
                self._factory, sock, ssl=self._context, ssl_handshake_timeout=seconds
            )
        except (OSError, asyncio.CancelledError) as error:
            # Whoever speaks no TLS, or too slowly, is no client; ssl.SSLError is an OSError.
            sock.close()
            self._journal.write("info", "handshake_failed", {"reason": str(error)[:200]})

    def _back_off(self) -> None:
        self._loop.remove_reader(self._sock)
        self._timer = self._loop.call_later(BACK_OFF_SECONDS, self._resume)

    def _resume(self) -> None:
        self._timer = None
        self._loop.add_reader(self._sock, self._accept)

    async def close(self) -> None:
        """Accept no more; links that are open stay open."""
        if self._timer is not None:
            self._timer.cancel()
        else:
            self._loop.remove_reader(self._sock)
        self._sock.close()
        if self._context is not None:  # Without TLS, they are open in no time.
            for opening in self._opening:
                opening.cancel()
        if self._opening:
            await asyncio.wait(list(self._opening))
