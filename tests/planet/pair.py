"""Planets and clients joined back to back: no sockets, virtual time, and whatever bytes we like.

A link is two pipes of a few kilobytes, as two kernels have them. It can be cut, slowed, and either
end can stop reading; then its pipe fills, nothing more is pulled, and the backlog stays in lanes.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

from heliograph.client.client import Client
from heliograph.client.config import ClientConfig
from heliograph.planet.config import PlanetConfig
from heliograph.planet.planet import Planet
from heliograph.wire.core import Answered, Close, Connect, Core, Effect, Log
from heliograph.wire.frames import CONTROL, GREETING, message_frame
from heliograph.wire.messages import FEATURES, VERSION, Attach, Message, encode_message
from heliograph.wire.reader import Reader
from planet.book import Book

if TYPE_CHECKING:
    from heliograph.event.schema import Schema
    from heliograph.policy.model import Policy

MS: Final = 1_000_000
SECOND: Final = 1_000 * MS
PIPE_BYTES: Final = 16_384
# Whoever does not take what is left on a link that is closed loses it after so long.
LINGER: Final = 3 * SECOND
TURNS_MAX: Final = 10_000


class End:
    """One end of a link: its core, and the pipe that it writes to."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.pipe = bytearray()
        self.reads = True
        self.ready = False
        self.crossed = 0  # Bytes that left this end.


class Link:
    """Two ends; `rate` is in bytes a millisecond and direction, None is as fast as it gets."""

    def __init__(self, number: int, client: Core, planet: Core) -> None:
        self.number = number
        self.client, self.planet = End(client), End(planet)
        self.rate: int | None = None
        self.budget = 0
        self.closing: int | None = None

    @property
    def ends(self) -> tuple[tuple[End, End], tuple[End, End]]:
        return (self.client, self.planet), (self.planet, self.client)

    def pump(self, now: int) -> bool:
        """Move what can be moved, and say whether anything was."""
        moved = False
        for end, peer in self.ends:
            while end.ready and (room := PIPE_BYTES - len(end.pipe)) > 0:
                data = end.core.pull(self.number, room, now)
                end.ready = bool(data)
                end.pipe += data
                moved = moved or bool(data)
            size = len(end.pipe) if self.rate is None else min(len(end.pipe), self.budget)
            if size and peer.reads:
                data = bytes(end.pipe[:size])
                del end.pipe[:size]
                self.budget -= size
                end.crossed += size
                peer.core.feed(self.number, data, now)
                moved = True
        return moved

    @property
    def drained(self) -> bool:
        return not any(end.pipe or end.ready for end, _ in self.ends)


class Stranger:
    """A peer that says whatever bytes it is told to, and keeps what it hears."""

    def __init__(self) -> None:
        self.link = 0
        self.open = False
        self.heard = b""
        self._out = b""

    def connected(self, link: int, now: int) -> None:
        del now
        self.link, self.open = link, True

    def disconnected(self, link: int, now: int) -> None:
        del link, now
        self.open = False

    def feed(self, link: int, data: bytes, now: int) -> None:
        del link, now
        self.heard += data

    def pull(self, link: int, max_bytes: int, now: int) -> bytes:
        del link, now
        data, self._out = self._out[:max_bytes], self._out[max_bytes:]
        return data

    def tick(self, now: int) -> None:
        """Strangers have no clock."""

    def deadline(self) -> int | None:
        return None

    def take_effects(self) -> list[Effect]:
        return []

    def take_ready(self) -> list[int]:
        return [self.link] if self._out else []

    def send(self, data: bytes) -> None:
        self._out += data

    def say(self, message: Message) -> None:
        self.send(message_frame(CONTROL, encode_message(message)))

    def attach(self, token: bytes | None = None, frames: int = 0, version: int = VERSION) -> None:
        message = Attach(version, list(FEATURES), token, frames, "stranger")
        self.send(message_frame(GREETING, encode_message(message)))

    def items(self, kind: type | None = None) -> list[Any]:
        """Return what it was told, or what of that is of one kind."""
        found = Reader(2**24).feed(self.heard)
        return [one for one in found if kind is None or isinstance(one, kind)]


class Rig:
    """Planets by their addresses, clients, strangers, the links between them, and the time."""

    def __init__(self, **settings: Any) -> None:
        """Begin with one planet at the address `p`."""
        self.now = 0
        self.planets: dict[str, Planet] = {}
        self.clients: list[Client] = []
        self.strangers: list[Stranger] = []
        self.links: dict[int, Link] = {}
        self.logs: list[Log] = []
        self.tries: list[tuple[int, str]] = []
        self.answers: dict[tuple[int, int], str | None] = {}
        self.books: dict[tuple[int, int], Book] = {}
        self.names: dict[int, str] = {}
        self._links = self._planets = 0
        self.planet = self.begin("p", **settings)

    # Who is there.

    def begin(self, address: str = "p", **settings: Any) -> Planet:
        """Start a planet, or start it again without its memory."""
        config = PlanetConfig(name=address, **settings)
        self._planets += 1
        planet = Planet(config, rng=Random(self._planets), now=self.now)
        self.planets[address] = self.planet = planet
        return planet

    def kill(self, address: str = "p") -> None:
        """Let a planet vanish with all that it knew."""
        gone = self.planets.pop(address)
        for link in [one for one in self.links.values() if one.planet.core is gone]:
            del self.links[link.number]
            link.client.core.disconnected(link.number, self.now)

    def client(self, name: str = "", address: str = "p", **settings: Any) -> Client:
        config = ClientConfig(name=name, **settings)
        client = Client(config, rng=Random(len(self.clients)), now=self.now)
        self.clients.append(client)
        client.start(address, self.now)
        return client

    def lose(self, client: Client) -> None:
        """Let a client vanish with all that it knew."""
        self.cut(client)
        self.clients.remove(client)

    def stranger(self, *, attached: bool = False) -> Stranger:
        stranger = Stranger()
        self.strangers.append(stranger)
        self._join(stranger, self.planet)
        if attached:
            stranger.attach()
            self.settle()
        return stranger

    def _join(self, client: Core, planet: Planet) -> None:
        self._links += 1
        self.links[self._links] = Link(self._links, client, planet)
        client.connected(self._links, self.now)
        planet.connected(self._links, self.now)

    def link(self, client: Core) -> Link:
        return next(one for one in self.links.values() if one.client.core is client)

    def cut(self, client: Core) -> None:
        """Let a link vanish, with all that is on its way; both ends hear of it."""
        for link in [one for one in self.links.values() if one.client.core is client]:
            self._drop(link)

    def _drop(self, link: Link) -> None:
        if self.links.pop(link.number, None) is not None:
            link.client.core.disconnected(link.number, self.now)
            link.planet.core.disconnected(link.number, self.now)

    # What applications do.

    def subscribe(self, client: Client, stream: str, policy: Policy | None = None) -> int:
        receiver = client.subscribe(stream, policy, self.now)
        self.settle()
        return receiver

    def advertise(
        self, client: Client, stream: str, schema: Schema | None = None, epoch: int = 1
    ) -> int:
        sender = client.advertise(stream, schema, self.now, epoch)
        self.settle()
        return sender

    def publish(self, client: Client, sender: int, count: int, **values: Any) -> None:
        """Publish so many events, each by itself; without values they count."""
        for _ in range(count):
            number = client.senders[sender].last + 1
            client.publish(sender, values or {"n": number}, number, self.now)
            self.settle()

    def take(self, client: Client, receiver: int) -> Book:
        """Let an application take all that waits for it; return its books, which add up."""
        book = self.books.setdefault((id(client), receiver), Book())
        while items := client.take(receiver, 10_000, self.now):
            for item in items:
                book.enter(item, client.schema(receiver))
        self.settle()
        return book

    def error(self, client: Client, request: int) -> str | None:
        """Return what a request that was answered was refused with."""
        return self.answers[id(client), request]

    # Time.

    def cores(self) -> list[Core]:
        return [*self.planets.values(), *self.clients, *self.strangers]

    def settle(self) -> None:
        """Do all that can be done without letting time pass."""
        for _ in range(TURNS_MAX):
            moved = False
            for core in self.cores():
                for effect in core.take_effects():
                    self._perform(core, effect)
                    moved = True
                for number in core.take_ready():
                    self._mark(core, number)
            for link in list(self.links.values()):
                if link.number in self.links:
                    moved = link.pump(self.now) or moved
                    if link.closing is not None and (link.drained or self.now >= link.closing):
                        self._drop(link)
                        moved = True
            if not moved:
                return
        raise AssertionError("the cores never come to rest")

    def _mark(self, core: Core, number: int) -> None:
        link = self.links.get(number)
        if link is not None:
            for end, _ in link.ends:
                end.ready = end.ready or end.core is core

    def _perform(self, core: Core, effect: Effect) -> None:
        match effect:
            case Connect():
                self.tries.append((self.now, effect.address))
                assert isinstance(core, Client)
                if effect.address in self.planets:
                    self._join(core, self.planets[effect.address])
                else:
                    core.refused(self.now)
            case Close():
                link = self.links.get(effect.link)
                if link is not None and link.closing is None:
                    link.closing = self.now + LINGER
                    self._mark(core, effect.link)
            case Log():
                self.logs.append(effect)
            case Answered():
                self.answers[id(core), effect.request] = effect.error

    def run(self, seconds: float) -> None:
        """Let time pass, from one thing that happens to the next."""
        end = self.now + int(seconds * SECOND)
        self.settle()
        while True:
            due = [one for core in self.cores() if (one := core.deadline()) is not None]
            due += [one.closing for one in self.links.values() if one.closing is not None]
            if any(one.rate is not None and not one.drained for one in self.links.values()):
                due.append(self.now + MS)
            then = max(min(due, default=end), self.now + MS)
            if then > end:
                break
            for link in self.links.values():
                link.budget = min((link.rate or 0) * ((then - self.now) // MS), 65_536)
            self.now = then
            for core in self.cores():
                deadline = core.deadline()
                if deadline is not None and deadline <= self.now:
                    core.tick(self.now)
            self.settle()
        self.now = end
        self.settle()
