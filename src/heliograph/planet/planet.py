"""Planet: an overlay node, a function from (state, input, now) to (state, effects).

It owns its links and hands what comes in to its services, as Solar's nodes do (Solar 4.1): mobility
keeps clients, multicast the streams, subscriptions the receivers, control answers questions. It
knows no socket and no clock; shells in `net` and `sim` drive it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.errors import EventError, WireError
from heliograph.planet.advertisements import Advertisements
from heliograph.planet.blame import Blame
from heliograph.planet.closing import Closing
from heliograph.planet.control import Control
from heliograph.planet.cursors import Cursors
from heliograph.planet.demands import Demands
from heliograph.planet.mobility import Mobility
from heliograph.planet.multicast import Multicast
from heliograph.planet.owners import Owners
from heliograph.planet.state import Totals
from heliograph.planet.subscriptions import Subscriptions
from heliograph.wire.core import Close, Effect, Log
from heliograph.wire.frames import GREETING, message_frame
from heliograph.wire.messages import Attach, Bye, encode_message
from heliograph.wire.reader import BlockFrame, Cursor, DigestFrame, Reader, Run, To

if TYPE_CHECKING:
    from random import Random

    from heliograph.planet.config import PlanetConfig
    from heliograph.planet.state import ClientState
    from heliograph.wire.messages import Message

Handler = Callable[[Any, Any, int], None]
GREETING_BYTES_MAX: Final = 4_096  # Who has not attached may send nothing longer.
# Who was refused for these may come back: later, there may be room, or time.
AGAIN: Final = ("connections", "clients", "closing", "greeting", "messages", "mistake")


@dataclass(slots=True)
class _Link:
    """A connection, and the client behind it once that has attached."""

    since: int
    reader: Reader
    client: ClientState | None = None
    last_words: bytes = b""
    closing: bool = False


class Planet:
    """One overlay node."""

    def __init__(self, config: PlanetConfig, *, rng: Random, now: int) -> None:
        """Begin without a connection."""
        self.config = config
        self.rng = rng
        self.began = now
        self.links: dict[int, _Link] = {}
        self.totals = Totals()
        self.mobility = Mobility(self)
        self.multicast = Multicast(self)
        self.owners = Owners(self)
        self.advertisements = Advertisements(self)
        self.demands = Demands(self)
        self.subscriptions = Subscriptions(self)
        self.control = Control(self)
        self._handlers: dict[type, Handler] = {
            **self.mobility.handles,
            **self.advertisements.handles,
            **self.subscriptions.handles,
            **self.control.handles,
        }
        self._effects: list[Effect] = []
        self._ready: list[int] = []
        self._cursors = Cursors(self.mark)
        self._end = Closing(self)
        self.blame = Blame(self)
        self._watch_at = now + self.period

    # The surface of a core.

    def connected(self, link: int, now: int) -> None:
        """Take a connection, if there is room for one."""
        self.links[link] = _Link(now, Reader(GREETING_BYTES_MAX))
        if len(self.links) > self.config.connections_max:
            self.refuse(link, "connections", "this planet has all the connections it takes", now)
        elif self.closing:
            self.refuse(link, "closing", "this planet is closing", now)

    def disconnected(self, link: int, now: int) -> None:
        """Forget a connection; its client is detached."""
        one = self.links.pop(link, None)
        if one is not None and one.client is not None and one.client.link == link:
            self.mobility.gone(one.client, now)

    def feed(self, link: int, data: bytes, now: int) -> None:
        """Take what came in; a peer that breaks the protocol is closed, and no other."""
        one = self.links.get(link)
        if one is None or one.closing:
            return
        try:
            client = one.client
            if client is None:
                self._greeted(link, one, data, now)
                return
            items = client.session.feed(data, now)
            if client.session.cursor_at is not None:
                self._cursors.owe(client)
            self._take(client, items, now)
        except WireError as error:
            self.refuse(link, "protocol", str(error), now)
        except EventError as error:
            self.refuse(link, "events", str(error), now)
        except Exception:
            # What stood behind it in these bytes counts as received: a new session tells the gap.
            self.refuse(link, "mistake", "the planet made a mistake, which its log tells", now)
            raise
        if self.blame.guilty:
            self.blame.execute(now)

    def _greeted(self, link: int, one: _Link, data: bytes, now: int) -> None:
        items = one.reader.feed(data)
        if not items:
            return
        if len(items) > 1 or one.reader.partial or not isinstance(items[0], Attach):
            raise WireError("a client attaches, and waits for the answer, before it says more")
        if not self.mobility.room_for(items[0], now):
            reason = f"this planet has {self.config.clients_max} clients, its clients_max"
            self.refuse(link, "clients", reason, now)
            return
        one.client = self.mobility.attach(link, items[0], now)

    def _take(self, client: ClientState, items: list[Any], now: int) -> None:
        deaf = self.closing
        for item in items:
            kind = type(item)
            if kind is Cursor:
                self._cursors.passed(client, item.frames, now)
                if deaf and client.link is not None:
                    self._end.look(client.link)
            elif deaf:
                continue  # It is not acknowledged either, so the next planet gets it.
            elif kind is Run:
                self.multicast.run(client, item, now)
            elif kind is BlockFrame:
                self.multicast.block(client, item, now)
            elif kind is DigestFrame:
                self.multicast.digest(client, item, now)
            elif kind is not To:
                handler = self._handlers.get(kind)
                if handler is None:
                    raise WireError(f"a message that planets do not take: {kind.__name__}")
                handler(client, item, now)
                self.mark(client)
                # Who departs has nothing more to say. What stands behind a detach in the same bytes
                # has been counted as received, and is not sent again.
                deaf = client.number not in self.mobility.clients

    def pull(self, link: int, max_bytes: int, now: int) -> bytes:
        """Return what is to be written to a link now; its last words come last."""
        one = self.links.get(link)
        if one is None:
            return b""
        client = one.client
        if client is not None and client.link == link:
            client.ready = False
            data = client.session.pull(max_bytes, now, client.next_frame)
            if data:
                return data
        words, one.last_words = one.last_words, b""
        return words

    def tick(self, now: int) -> None:
        """Send cursors that are due, and look after clients, streams and the end."""
        if self._cursors.at is not None and now >= self._cursors.at:
            self._cursors.send(now)
        if now >= self._watch_at:
            self._watch_at = now + self.period
            self._watch(now)
        self._end.tick(now)
        if self.blame.guilty:
            self.blame.execute(now)

    def _watch(self, now: int) -> None:
        self.mobility.watch(now)
        self.multicast.watch(now)
        self.demands.watch(now)
        self.subscriptions.sweep()
        patience = self.config.nanoseconds("greeting")
        for link, one in list(self.links.items()):
            if one.client is None and not one.closing and now - one.since >= patience:
                self.refuse(link, "greeting", "no client attached in time", now)

    def deadline(self) -> int | None:
        """Return when `tick` wants to be called next."""
        due = self._watch_at
        if self._cursors.at is not None and self._cursors.at < due:
            due = self._cursors.at
        if self._end.at is not None and not self._end.late and self._end.at < due:
            due = self._end.at
        return due

    def take_effects(self) -> list[Effect]:
        """Return what the shell is to do."""
        if not self._effects:
            return []
        effects, self._effects = self._effects, []
        return effects

    def take_ready(self) -> list[int]:
        """Return the links that have something to pull."""
        ready, self._ready = self._ready, []
        return ready

    # What services ask for.

    @property
    def period(self) -> int:
        """How often clients and streams are looked at."""
        return self.config.beat // 2

    @property
    def closing(self) -> bool:
        """Whether this planet is shutting down."""
        return self._end.at is not None

    def mark(self, client: ClientState) -> None:
        """Let the shell pull from a client's link."""
        if not client.ready and client.link is not None:
            client.ready = True
            self._ready.append(client.link)

    def say(
        self, client: ClientState, message: Message, key: tuple[str, int] | None = None
    ) -> None:
        """Send a client a message; one that lets them pile up is at fault, and nobody else.

        Of unsent messages with one key only the last is sent.
        """
        try:
            client.session.say(message, key)
        except WireError as error:
            self.blame.put(client, "messages", str(error))
        self.mark(client)

    def log(self, level: str, event: str, **fields: Any) -> None:
        """Write to the log."""
        self._effects.append(Log(level, event, fields))

    def hang_up(self, link: int, reason: str) -> None:
        """Close a connection, after what its client still gets has been written."""
        one = self.links.get(link)
        if one is None or one.closing:
            return
        one.closing = True
        self._effects.append(Close(link, reason))
        self._ready.append(link)

    def dismiss(self, link: int, code: str, reason: str) -> None:
        """Close a connection, and tell its client at last why."""
        one = self.links.get(link)
        if one is not None and not one.closing:
            bye = Bye(code, reason, again=code in AGAIN)
            one.last_words = message_frame(GREETING, encode_message(bye))
            self.hang_up(link, reason)

    def note_refusal(self, kind: str, reason: str) -> None:
        """Count and log that a peer was at fault."""
        self.totals.refused[kind] += 1
        self.log("warning", "peer_refused", kind=kind, reason=reason)

    def refuse(self, link: int, kind: str, reason: str, now: int) -> None:
        """Close a connection whose peer is at fault; a client behind it has departed."""
        self.note_refusal(kind, reason)
        self.dismiss(link, kind, reason)
        one = self.links[link]
        client, one.client = one.client, None
        if client is not None and client.link == link:
            self.mobility.gone(client, now)
            self.mobility.depart(client, None, now)

    def status(self, now: int) -> dict[str, Any]:
        """Return how this planet is, as JSON can hold it."""
        return self.control.status(now)

    def close(self, now: int) -> None:
        """Begin to shut down: send what waits for a while, and tell of the rest in digests."""
        if not self.closing:
            self._end.begin(now)

    @property
    def closed(self) -> bool:
        """Whether everything is said."""
        return self.closing and not self.links
