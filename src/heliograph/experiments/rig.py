"""Rig: the hosts of a simulated experiment: one planet, one sender, and clients that receive."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from heliograph.client.client import Client
from heliograph.client.config import ClientConfig
from heliograph.event.block import Block
from heliograph.event.convert import events_of
from heliograph.experiments.forwarder import Forwarder
from heliograph.experiments.load import EVENT_INTERVAL, HEAD_BYTES, SCHEMA, STREAM, padding, values
from heliograph.planet.planet import Planet
from heliograph.sim.host import CoreT, Host
from heliograph.sim.network import Network
from heliograph.sim.planet_host import PlanetHost
from heliograph.sim.quality import FAST, Quality
from heliograph.sim.truth import Truth
from heliograph.sim.world import World
from heliograph.wire.core import Answered, Arrived, Connect
from heliograph.wire.frames import digest_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.event.digest import Digest
    from heliograph.planet.config import PlanetConfig
    from heliograph.policy.model import Policy
    from heliograph.sim.cable import Cable
    from heliograph.sim.link import End
    from heliograph.wire.core import Effect

PLANET: Final = "sol"
_EPOCH: Final = 1


def wire_bytes(digest: Digest) -> int:
    """Return how long the frame of a digest is."""
    return len(digest_frame(digest, 1))


@dataclass(frozen=True, slots=True)
class Framed(Quality):
    """A cable that charges for the heads of packets too, as a token bucket does."""

    head: int = HEAD_BYTES

    def duration(self, direction: int, size: int) -> int:
        """Return how long so many bytes take to leave with their head, in nanoseconds."""
        # `super()` does not know a class that dataclass has made anew for its slots.
        return Quality.duration(self, direction, size + self.head)


@dataclass(slots=True)
class Inbox:
    """What one receiver got: events as (arrived, sent, number), and digests as they came."""

    events: list[tuple[int, int, int]] = field(default_factory=list)
    digests: list[tuple[int, Digest]] = field(default_factory=list)

    def weights(self) -> list[tuple[int, int]]:
        """Return when each digest came, and how many bytes it was on the wire."""
        return [(at, wire_bytes(one)) for at, one in self.digests]

    def take(self, now: int, items: list[Block | Digest]) -> None:
        """Enter what was taken at a time."""
        for item in items:
            if isinstance(item, Block):
                self.events += [
                    (now, one.values["sent"], one.number) for one in events_of(item, SCHEMA)
                ]
            else:
                self.digests.append((now, item))

    def missing(self) -> int:
        """Return how many numbers neither came nor were counted, up to the last digest.

        Raises:
            ValueError: One came twice, or out of its order.
        """
        numbers = [number for _, _, number in self.events]
        if any(after <= before for before, after in pairwise(numbers)):
            raise ValueError("an event came twice, or out of its order")
        counted = sum(one.count + one.filtered for _, one in self.digests)
        first = min([*numbers[:1], *(one.after + 1 for _, one in self.digests[:1])], default=1)
        last = max([*numbers[-1:], *(one.upto for _, one in self.digests[-1:])], default=0)
        return last - first + 1 - len(numbers) - counted


class _Prompt(Host[CoreT]):
    """A host that reads what arrives at once: here nobody wants to find mistakes of reading."""

    def readable(self, end: End) -> None:
        """Read all."""
        self._read(end)


class _Planet(_Prompt[Planet], PlanetHost):
    """A planet that reads at once."""


class _Forwarder(_Prompt[Forwarder]):
    """Plain forwarding in a planet's place."""

    def make(self) -> Forwarder:
        """Return a fresh one."""
        return Forwarder()


class Caller(_Prompt[Client]):
    """A simulated client whose program is an experiment's: it takes whatever arrives."""

    def __init__(self, network: Network, name: str) -> None:
        """Set up a client that has not started."""
        super().__init__(network, name)
        self.inboxes: dict[int, Inbox] = {}
        self.told: dict[int, int] = {}  # When each request was answered.
        self.program: Callable[[Client], None] = lambda _: None
        self.reads = True

    def make(self) -> Client:
        """Return a fresh client."""
        return Client(ClientConfig(name=self.name), rng=self.random, now=self.world.now)

    def started(self) -> None:
        """Attach, and begin."""
        if self.core is not None:
            self.core.start(PLANET, self.world.now)
            self.program(self.core)

    def refused(self, why: str) -> None:
        """Hear that a link did not come about."""
        super().refused(why)
        if self.core is not None:
            self.core.refused(self.world.now)
            self.settle()

    def perform(self, effect: Effect) -> None:
        """Do what the client asks for."""
        if isinstance(effect, Connect):
            self.network.connect(self, effect.address)
        elif isinstance(effect, Answered):
            self.told[effect.request] = self.world.now
        elif isinstance(effect, Arrived):
            self.world.after(0, partial(self._take, effect.receiver))
        else:
            super().perform(effect)

    def _take(self, receiver: int) -> None:
        inbox = self.inboxes.get(receiver)
        if self.core is None or inbox is None:
            return
        while items := self.core.take(receiver, 1_000_000, self.world.now):
            inbox.take(self.world.now, items)
        self.settle()

    def subscribe(self, policy: Policy | None, entries: int = 0, size: int = 0) -> Inbox:
        """Want the stream from now on, with a lane of some capacity at the planet."""
        if self.core is None:
            raise RuntimeError("a client that has not started subscribes to nothing")
        number = self.core.subscribe(STREAM, policy, self.world.now, entries=entries, size=size)
        inbox = self.inboxes[number] = Inbox()
        self.settle()
        return inbox


class Rig:
    """A planet, a sender beside it on a fast cable, and receiving clients behind their cables."""

    def __init__(self, seed: int, config: PlanetConfig | None, local: Quality = FAST) -> None:
        """Start the planet and the sender; without a configuration it is plain forwarding."""
        self.world = World(seed)
        self.network = Network(self.world)
        self.host: Host[Any] = (
            _Forwarder(self.network, PLANET)
            if config is None
            else _Planet(self.network, config, Truth())
        )
        self.host.start()
        self.network.lay("sender", PLANET, local)
        self.sender = Caller(self.network, "sender")
        self.sender.program = self._advertise
        self.published: list[int] = []  # When.
        self.publishing = True
        self.watch: Callable[[], None] = lambda: None  # Called after each event.
        self._stream = 0
        self._pad = padding()
        self.sender.start()

    @property
    def planet(self) -> Planet:
        """The planet."""
        if not isinstance(self.host.core, Planet):
            raise TypeError("no planet runs here")
        return self.host.core

    def _advertise(self, client: Client) -> None:
        self._stream = client.advertise(STREAM, SCHEMA, self.world.now, _EPOCH)

    def client(self, name: str, cable: Cable | Quality) -> Caller:
        """Start a client that receives, behind a cable of its own or one that it shares."""
        if isinstance(cable, Quality):
            self.network.lay(name, PLANET, cable)
        else:
            self.network.cables[name, PLANET] = cable
        caller = Caller(self.network, name)
        caller.start()
        return caller

    def publish(self, interval: int = EVENT_INTERVAL) -> None:
        """Publish an event now and after each interval, until `publishing` ends."""
        client = self.sender.core
        if client is None or not self.publishing:
            return
        now = self.world.now
        client.publish(self._stream, values(now, self._pad), now // 1_000, now)
        self.published.append(now)
        self.sender.settle()
        self.watch()
        self.world.after(interval, partial(self.publish, interval))
