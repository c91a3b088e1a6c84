"""Small cores for tests of the network: they send numbered lines, and keep what they are fed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heliograph.sim.host import Host
from heliograph.sim.network import Network
from heliograph.sim.quality import FAST, Quality
from heliograph.sim.world import World
from heliograph.wire.core import Close, Connect

if TYPE_CHECKING:
    from heliograph.wire.core import Effect

LINE_BYTES = 50


class Toy:
    """A core that has lines to send and takes lines in; also the client of `Pair`."""

    def __init__(self) -> None:
        self.links: list[int] = []
        self.gone: list[int] = []
        self.lines = 0  # Still to be sent.
        self.sent = 0
        self.received: dict[int, bytearray] = {}
        self.effects: list[Effect] = []
        self.ticks: list[int] = []
        self.alarm: int | None = None
        self.pulled_bytes = 0

    def connected(self, link: int, now: int) -> None:
        del now
        self.links.append(link)
        self.received[link] = bytearray()

    def disconnected(self, link: int, now: int) -> None:
        del now
        self.links.remove(link)
        self.gone.append(link)

    def feed(self, link: int, data: bytes, now: int) -> None:
        del now
        self.received[link] += data

    def pull(self, link: int, max_bytes: int, now: int) -> bytes:
        del now
        if link not in self.links or not self.lines:
            return b""
        count = min(self.lines, max(1, max_bytes // LINE_BYTES))
        data = b"".join(line(self.sent + place) for place in range(count))
        self.lines -= count
        self.sent += count
        self.pulled_bytes += len(data)
        return data

    def tick(self, now: int) -> None:
        self.ticks.append(now)
        self.alarm = None

    def deadline(self) -> int | None:
        return self.alarm

    def take_effects(self) -> list[Effect]:
        effects, self.effects = self.effects, []
        return effects

    def take_ready(self) -> list[int]:
        return list(self.links) if self.lines else []


def line(number: int) -> bytes:
    return f"line {number}".ljust(LINE_BYTES - 1, ".").encode() + b"\n"


def lines(count: int) -> bytes:
    return b"".join(map(line, range(count)))


class ToyHost(Host[Toy]):
    """A host of a toy; `refusals` are the attempts to connect that failed."""

    def __init__(self, network: Network, name: str) -> None:
        super().__init__(network, name)
        self.refusals: list[str] = []

    def make(self) -> Toy:
        return Toy()

    def refused(self, why: str) -> None:
        super().refused(why)
        self.refusals.append(why)

    def perform(self, effect: Effect) -> None:
        if isinstance(effect, Connect):
            self.network.connect(self, effect.address)
        else:
            super().perform(effect)

    @property
    def toy(self) -> Toy:
        assert self.core is not None
        return self.core

    def say(self, *effects: Effect) -> None:
        self.toy.effects += effects
        self.settle()

    def send(self, count: int) -> None:
        self.toy.lines += count
        self.settle()

    def close(self, link: int) -> None:
        self.say(Close(link, "enough"))


class Pair:
    """Two toy hosts with a cable between them, connected unless asked otherwise."""

    def __init__(self, quality: Quality = FAST, seed: int = 1, *, connect: bool = True) -> None:
        self.world = World(seed)
        self.network = Network(self.world)
        self.left = ToyHost(self.network, "left")
        self.right = ToyHost(self.network, "right")
        self.cable = self.network.lay("left", "right", quality)
        self.left.start()
        self.right.start()
        if connect:
            self.connect()
            self.world.run(3 * (quality.latency + quality.jitter))

    def connect(self) -> None:
        self.left.say(Connect("right"))

    def heard(self, host: ToyHost, link: int = 1) -> bytes:
        return bytes(host.toy.received[link])
