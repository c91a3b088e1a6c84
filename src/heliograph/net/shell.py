"""Shell: drives one core over real sockets; all it knows of the core is `wire.core.Core`.

Bytes that come are fed at once. What comes of them - frames to send, effects, a new deadline - is
seen to once per turn of the event loop, however many chunks came in it: that is all the batching
that there is, and an idle link waits for nothing.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any, Final

from heliograph.net.journal import Journal
from heliograph.net.sockets import SocketLimits
from heliograph.wire.core import Close, Log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from heliograph.net.connection import Connection
    from heliograph.wire.core import Core

_SECOND: Final = 1_000_000_000
# A core whose deadline has always passed already must not take the whole processor.
TICK_NS_MIN: Final = 1_000_000
# A timer that fires so late finds a loop that was blocked: what was received meanwhile goes first.
LATE_NS: Final = 50_000_000
# A turn in which so many chunks came, each of about one event, is followed by a rest, where the
# loop is the core's alone. A millisecond later there is more in each socket, to be read, handed on
# and written at once: with a hundred senders that takes a third of the work from the planet.
REST_SECONDS: Final = 0.001
REST_CHUNKS_MIN: Final = 16
# How long a link that is being closed may take to send what is left.
CLOSE_SECONDS: Final = 3.0
GONE_SECONDS: Final = 1.0


class Shell:
    """Drives one core; `handlers` perform the effects that are not a shell's own."""

    def __init__(
        self,
        core: Core,
        *,
        handlers: Mapping[type, Callable[[Any], None]] | None = None,
        limits: SocketLimits | None = None,
        journal: Journal | None = None,
        clock: Callable[[], int] = time.monotonic_ns,
        ask: Callable[[Callable[[], None]], Any] | None = None,
        rest: Callable[[float], None] | None = None,
    ) -> None:
        """Take a core into the running event loop.

        `ask` is told when it wants a turn there; `rest` may stop the loop for a moment.
        """
        self.core = core
        self.limits = limits or SocketLimits()
        self.journal = journal or Journal()
        self.clock = clock
        self.loop = asyncio.get_running_loop()
        self._ask = ask or self.loop.call_soon
        self._rest = rest
        self.small = 0  # Chunks of about one event that came since the last turn.
        # Held while the core is called. Only the sync form calls it from another thread; for all
        # others this costs some 50 ns a chunk.
        self.lock = threading.RLock()
        self.scheduled = False
        self.after_flush: Callable[[], None] | None = None
        self._handlers = dict(handlers or {})
        self._handlers.setdefault(Close, self._close)
        self._handlers.setdefault(Log, self._log)
        self._connections: dict[int, Connection] = {}
        self._links = 0
        self._again: list[Connection] = []
        self._finishing: list[Connection] = []
        self._timer: asyncio.TimerHandle | None = None
        self._armed = 0
        self._late = False
        self._stopped = False
        self._empty: asyncio.Future[None] | None = None

    @property
    def connections(self) -> int:
        """How many links are open."""
        return len(self._connections)

    # What connections report.

    def made(self, connection: Connection) -> None:
        """Tell the core of a new link."""
        if self._stopped:
            connection.abort()
            return
        self._links += 1
        connection.link = self._links
        connection.began = self.clock()
        self._connections[connection.link] = connection
        try:
            with self.lock:
                self.core.connected(connection.link, connection.began)
        except Exception as error:  # noqa: BLE001 - it costs this link only
            self.failed("connected", error, connection, {})
        self.schedule()

    def lost(self, connection: Connection, reason: str) -> None:
        """Tell the core that a link is gone."""
        if self._connections.pop(connection.link, None) is None:
            return
        if self._empty is not None and not self._connections and not self._empty.done():
            self._empty.set_result(None)
        if self._stopped:
            return
        now = self.clock()
        self.journal.write("debug", "link_lost", connection.story(now) | {"reason": reason})
        try:
            with self.lock:
                self.core.disconnected(connection.link, now)
        except Exception as error:  # noqa: BLE001 - there is no link left that it could cost
            self.failed("disconnected", error, connection, {})
        self.schedule()

    def again(self, connection: Connection) -> None:
        """Give a link another turn."""
        self._again.append(connection)
        self.schedule()

    def failed(
        self, call: str, error: Exception, connection: Connection | None, more: dict[str, Any]
    ) -> None:
        """Log an exception that a core let out, with its story, and give up the link it was for."""
        story = {} if connection is None else connection.story(self.clock())
        self.journal.write("error", "core_failed", {"call": call} | story | more, error)
        if connection is not None:
            connection.abort()

    # Turns.

    def schedule(self) -> None:
        """Ask for a turn, of which there is one at a time."""
        if not self.scheduled and not self._stopped:
            self.scheduled = True
            self._ask(self.flush)

    def schedule_from_outside(self) -> None:
        """Ask for a turn from another thread than the loop's."""
        if not self.scheduled and not self._stopped:
            self.scheduled = True
            self.loop.call_soon_threadsafe(self.flush)

    def flush(self) -> None:
        """See to everything that came of the calls since the last turn."""
        self.scheduled = False
        if self._stopped:
            return
        with self.lock:
            now = self.clock()
            core = self.core
            self._perform(core.take_effects())
            if self._again:
                again, self._again = self._again, []
                for one in again:
                    one.drain(now)
            connections = self._connections
            ready = core.take_ready()
            for link in ready:
                connection = connections.get(link)
                if connection is not None:
                    connection.drain(now)
            if ready:
                # A pull may find more to say, on its own link or on another.
                self._late_ready(core.take_ready())
            self._perform(core.take_effects())
            if self._finishing:
                finishing, self._finishing = self._finishing, []
                for one in finishing:
                    one.finish(now, CLOSE_SECONDS)
            self._arm(now)
        if self.after_flush is not None:
            self.after_flush()
        self._pause()

    def _pause(self) -> None:
        """Let what many links send one by one gather in their sockets."""
        small, self.small = self.small, 0
        if small >= REST_CHUNKS_MIN and self._rest:
            self._rest(REST_SECONDS)

    def _late_ready(self, links: list[int]) -> None:
        for link in links:
            connection = self._connections.get(link)
            if connection is not None and not connection.ready:
                connection.ready = True
                self.again(connection)

    def _perform(self, effects: Iterable[Any]) -> None:
        for effect in effects:
            try:
                self._handlers[type(effect)](effect)
            except Exception as error:  # noqa: BLE001 - the other effects are not to blame
                self.failed("take_effects", error, None, {"effect": repr(effect)[:200]})

    def _close(self, effect: Close) -> None:
        connection = self._connections.get(effect.link)
        if connection is not None:
            fields = connection.story(self.clock()) | {"reason": effect.reason}
            self.journal.write("debug", "link_closed", fields)
            self._finishing.append(connection)

    def _log(self, effect: Log) -> None:
        self.journal.write(effect.level, effect.event, effect.fields)

    # The one timer.

    def _arm(self, now: int) -> None:
        """Set the timer to the core's deadline; firing too early costs less than a new timer."""
        deadline = self.core.deadline()
        if deadline is None:
            return
        if self._timer is not None:
            if deadline >= self._armed:
                return
            self._timer.cancel()
        self._set(max(deadline, now + TICK_NS_MIN), now)

    def _set(self, at: int, now: int) -> None:
        self._armed = at
        self._timer = self.loop.call_later((at - now) / _SECOND, self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = self.clock()
        with self.lock:
            deadline = self.core.deadline()
            if deadline is None or now < deadline:
                self._arm(now)
                return
            if now - self._armed > LATE_NS and not self._late:
                # User code blocked the loop. Whoever sent us something meanwhile is alive, which
                # the core must hear before it counts who was silent.
                self._late = True
                self._set(now + TICK_NS_MIN, now)
                return
            self._late = False
            try:
                self.core.tick(now)
            except Exception as error:  # noqa: BLE001 - no link is to blame; the others go on
                self.failed("tick", error, None, {"deadline": deadline, "now": now})
                self._set(now + _SECOND, now)
        self.flush()

    # The end.

    async def stop(self, seconds: float = CLOSE_SECONDS) -> None:
        """Close all links, each when what was written to it has left, and call the core no more."""
        if self._stopped:
            return
        self.flush()
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        now = self.clock()
        self._empty = self.loop.create_future()
        for connection in list(self._connections.values()):
            if seconds > 0:
                connection.finish(now, seconds)
            else:
                connection.abort()
        if self._connections:
            # A loop that forgets to tell us of a link's end must not keep the program from its own.
            await asyncio.wait([self._empty], timeout=seconds + GONE_SECONDS)
