"""Planet: an overlay node, a function from (state, input, now) to (state, effects).

It owns its links and hands what comes in to its services, as Solar's nodes do (Solar 4.1): mobility
keeps clients, multicast the streams, subscriptions the receivers, control answers questions. It
knows no socket and no clock; shells in `net` and `sim` drive it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heliograph.event.errors import EventError, HeliographError, WireError
from heliograph.lane.squeeze import pack_lane
from heliograph.planet.control import Control
from heliograph.planet.mobility import Mobility
from heliograph.planet.multicast import Multicast
from heliograph.planet.subscriptions import Subscriptions
from heliograph.wire.core import Close, Effect, Log
from heliograph.wire.frames import GREETING, message_frame
from heliograph.wire.messages import Attach, Bye, encode_message
from heliograph.wire.reader import BlockFrame, Cursor, DigestFrame, Reader, Run, To

if TYPE_CHECKING:
    from random import Random

    from heliograph.lane.lane import Lane
    from heliograph.planet.config import PlanetConfig
    from heliograph.planet.state import ClientState, Stream

Handler = Callable[[Any, Any, int], None]
# A greeting is short; who has not attached may send nothing longer.
GREETING_BYTES_MAX = 4_096


@dataclass(slots=True)
class Totals:
    """What lanes and clients counted that are gone, and what strangers did."""

    events: int = 0
    taken: int = 0
    filtered: int = 0
    packs: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)


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
        self.subscriptions = Subscriptions(self)
        self.control = Control(self)
        self._handlers: dict[type, Handler] = {
            **self.mobility.handles,
            **self.multicast.handles,
            **self.subscriptions.handles,
            **self.control.handles,
        }
        self._effects: list[Effect] = []
        self._ready: list[int] = []
        self._cursors: dict[int, ClientState] = {}  # Who is owed a cursor,
        self._cursor_at: int | None = None  # and when the first of them is.
        self._retired: list[tuple[ClientState, Stream, int, Lane]] = []
        self._watch_at = now + self._period
        self._close_at: int | None = None

    # The surface of a core.

    def connected(self, link: int, now: int) -> None:
        """Take a connection, if there is room for one."""
        one = self.links[link] = _Link(now, Reader(GREETING_BYTES_MAX))
        if len(self.links) > self.config.connections_max:
            self._refuse(link, one, "connections", "this planet has all the connections it takes")
        elif self.closing:
            self._refuse(link, one, "closing", "this planet is closing")

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
                self._owe_cursor(client)
            self._take(client, items, now)
        except WireError as error:
            self._refuse(link, one, "protocol", str(error))
        except EventError as error:
            self._refuse(link, one, "events", str(error))

    def _greeted(self, link: int, one: _Link, data: bytes, now: int) -> None:
        items = one.reader.feed(data)
        if not items:
            return
        if len(items) > 1 or not isinstance(items[0], Attach):
            raise WireError("a client attaches before it says anything else")
        one.client = self.mobility.attach(link, items[0], now)
        one.last_words = b""

    def _take(self, client: ClientState, items: list[Any], now: int) -> None:
        for item in items:
            kind = type(item)
            if kind is Cursor:
                client.session.passed(item.frames, now)
                self.mark(client)
            elif self.closing:
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

    def pull(self, link: int, max_bytes: int, now: int) -> bytes:
        """Return what is to be written to a link now."""
        one = self.links.get(link)
        if one is None:
            return b""
        client = one.client
        if client is None or client.link != link:
            words, one.last_words = one.last_words, b""
            return words
        client.ready = False
        return client.session.pull(max_bytes, now, client.next_frame) or self._farewell(one)

    @staticmethod
    def _farewell(one: _Link) -> bytes:
        words, one.last_words = one.last_words, b""
        return words

    def tick(self, now: int) -> None:
        """Send cursors that are due, and look after clients, streams and the end."""
        if self._cursor_at is not None and now >= self._cursor_at:
            self._send_cursors(now)
        if now >= self._watch_at:
            self._watch_at = now + self._period
            self._watch(now)
        if self._close_at is not None:
            self._drain(now)

    def _owe_cursor(self, client: ClientState) -> None:
        due = client.session.cursor_at
        if due is None:
            return
        if client.number not in self._cursors:
            self._cursors[client.number] = client
            if self._cursor_at is None:
                self._cursor_at = due
        elif client.session.cursor_urgent:
            self.mark(client)

    def _send_cursors(self, now: int) -> None:
        left: dict[int, ClientState] = {}
        self._cursor_at = None
        for number, client in self._cursors.items():
            due = client.session.cursor_at
            if due is None or client.link is None:
                continue
            if due <= now:
                self.mark(client)
            else:
                left[number] = client
                self._cursor_at = due if self._cursor_at is None else min(self._cursor_at, due)
        self._cursors = left

    def _watch(self, now: int) -> None:
        self.mobility.watch(now)
        self.multicast.beacon(now, self._period)
        self._sweep()
        patience = self.config.nanoseconds("greeting")
        for link, one in list(self.links.items()):
            if one.client is None and not one.closing and now - one.since >= patience:
                self._refuse(link, one, "greeting", "no client attached in time")

    def deadline(self) -> int | None:
        """Return when `tick` wants to be called next."""
        due = self._watch_at
        if self._cursor_at is not None and self._cursor_at < due:
            due = self._cursor_at
        if self._close_at is not None and self._close_at < due:
            due = self._close_at
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
    def _period(self) -> int:
        """How often clients and streams are looked at."""
        return self.config.beat // 2

    @property
    def closing(self) -> bool:
        """Whether this planet is shutting down."""
        return self._close_at is not None

    def mark(self, client: ClientState) -> None:
        """Let the shell pull from a client's link."""
        if not client.ready and client.link is not None:
            client.ready = True
            self._ready.append(client.link)

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
        if one.client is not None and one.client.link == link:
            self.mark(one.client)

    def _refuse(self, link: int, one: _Link, kind: str, reason: str) -> None:
        """Close a connection whose peer is at fault, and tell it why."""
        self.totals.refused[kind] += 1
        self.log("warning", "peer_refused", kind=kind, reason=reason)
        bye = Bye(kind, reason, again=kind in ("connections", "closing"))
        one.last_words = message_frame(GREETING, encode_message(bye))
        client, one.client = one.client, None
        if client is not None and client.link == link:
            self.mobility.gone(client, one.since)
            self.mobility.depart(client, None, one.since)
        self.hang_up(link, reason)
        self._ready.append(link)

    def blame(self, stream: Stream, error: EventError) -> None:
        """Close the client whose stream cannot be read; everyone else goes on."""
        self.totals.refused["unreadable"] += 1
        owner = stream.owner
        self.log("warning", "stream_unreadable", stream=stream.key, reason=str(error))
        if owner is not None and owner.link is not None:
            owner.session.greet(Bye("events", f"{stream.key}: {error}", again=False))
            self.hang_up(owner.link, str(error))

    def retire(self, client: ClientState, stream: Stream, bit: int, lane: Lane) -> None:
        """Drop a lane that gets nothing more as soon as its link has drained it."""
        self._retired.append((client, stream, bit, lane))
        self._sweep()

    def _sweep(self) -> None:
        left = []
        for one in self._retired:
            client, stream, bit, lane = one
            group = client.outlet.groups.get(stream.key)
            if group is None or group.lanes.get(bit) is not lane:
                continue
            if lane.head() is not None:
                left.append(one)
                continue
            self.count(lane)
            del group.lanes[bit]
        self._retired = left

    def count(self, lane: Lane) -> None:
        """Keep what a lane counted that is going."""
        totals = self.totals
        totals.taken += lane.taken
        totals.filtered += lane.filtered
        totals.packs += lane.packs
        totals.dropped.update(lane.dropped)

    def status(self, now: int) -> dict[str, Any]:
        """Return how this planet is, as JSON can hold it."""
        return self.control.status(now)

    # The end.

    def close(self, now: int) -> None:
        """Begin to shut down: send what waits for a while, and tell of the rest in digests."""
        if self._close_at is None:
            self._close_at = now + self.config.nanoseconds("drain")
            self.log("info", "planet_closing", name=self.config.name)
            self._drain(now)

    @property
    def closed(self) -> bool:
        """Whether everything is said."""
        return self.closing and not self.links

    def _drain(self, now: int) -> None:
        late = self._close_at is not None and now >= self._close_at
        for link, one in list(self.links.items()):
            client = one.client
            if one.closing:
                continue
            if client is None:
                self.hang_up(link, "the planet closes")
                continue
            if late:
                self._fold(client, now)
            if late or not self._waits(client):
                client.session.greet(Bye("closing", "the planet closes"))
                self.hang_up(link, "the planet closes")
            self.mark(client)
        if late and self._close_at is not None:
            self._close_at = now + self._period

    @staticmethod
    def _waits(client: ClientState) -> bool:
        lanes = (one for group in client.outlet.groups.values() for one in group.lanes.values())
        return bool(client.session.unacked) or any(lane.entries for lane in lanes)

    @staticmethod
    def _fold(client: ClientState, now: int) -> None:
        """Turn what can not be sent in time into digests."""
        client.budget.steps = 0
        for group in client.outlet.groups.values():
            for lane in group.lanes.values():
                try:
                    pack_lane(lane, now)
                except HeliographError:
                    lane.discard()


__all__ = ["Planet", "Totals"]
