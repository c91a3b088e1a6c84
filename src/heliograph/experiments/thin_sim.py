"""Thin link, simulated: the shipped cores over a cable of 50 Kbit/s, in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heliograph.experiments.load import STREAM, THIN_RATE
from heliograph.experiments.rig import Framed, Rig
from heliograph.experiments.thin_table import Prompt
from heliograph.experiments.transit import SECOND, PackWatch, Transit
from heliograph.planet.config import PlanetConfig
from heliograph.sim.cable import DOWN, Cable
from heliograph.sim.link import Link
from heliograph.sim.story import MILLISECOND
from heliograph.sim.world import World

if TYPE_CHECKING:
    from heliograph.experiments.thin_link import Queue
    from heliograph.sim.link import End

# The kernel takes as much as the socket shell lets it; only the session's window holds back.
QUALITY: Final = Framed(5 * MILLISECOND, THIN_RATE, THIN_RATE, buffer=65_536)


class _Bulk:
    """One end of a bulk transfer: writes as much as there is room for, or reads it all."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.up = True
        self.got = 0
        self.last = 0

    def readable(self, end: End) -> None:
        """Read all."""
        self.got += len(end.read(1 << 20))
        self.last = end.link.cable.world.now

    def writable(self, end: End) -> None:
        """Write what there is room for."""
        end.write(bytes(end.room()))


def bulk(seed: int, seconds: float) -> float:
    """Return the goodput of a bulk transfer over the same cable, in bits a second."""
    world = World(seed)
    sender, receiver = _Bulk("sender"), _Bulk("receiver")
    link = Link(Cable(world, "bulk", QUALITY), receiver, sender)
    sender.writable(link.ends[DOWN])
    world.run(int(seconds * SECOND))
    return receiver.got * 8 * SECOND / receiver.last


def simulate(queue: Queue, size: int, seconds: float, seed: int) -> Transit:
    """Run one queue of `size` bytes for so many seconds."""
    config = PlanetConfig(
        name="sol", lane_bytes=size, lane_entries=1 << 20, controller=queue.controller
    )
    rig = Rig(seed, config)
    receiver = rig.client("receiver", QUALITY)
    found = Transit(queue.name, seed, rig.published)
    rig.world.run(SECOND)
    inbox = receiver.subscribe(queue.policy(seed))
    rig.world.run(SECOND)
    watch = PackWatch(found.packs)

    def look() -> None:
        client, now = receiver.core, rig.world.now
        if client is None:
            return
        lane, _, state = rig.planet.multicast.streams[STREAM].lanes[0]
        watch.look(lane, now)
        found.under_way.append((now, state.session.window.under_way))
        found.received.append((now, client.session.received_bytes))

    rig.watch = look
    rig.publish()
    rig.world.run(int(seconds * SECOND))
    rig.publishing = False
    rig.world.run(2 * size * 8 * SECOND // THIN_RATE + 10 * SECOND)
    found.missing = inbox.missing()
    found.events, found.digests = inbox.events, inbox.weights()
    found.settle()
    return found


def probe(queue: Queue, size: int, seconds: float, seed: int, stop: float) -> Prompt:
    """Ask for something each second beside the stream; then stop reading, as a busy host does."""
    config = PlanetConfig(name="sol", lane_bytes=size, lane_entries=1 << 20)
    rig = Rig(seed, config)
    receiver = rig.client("receiver", QUALITY)
    rig.world.run(SECOND)
    receiver.subscribe(queue.policy(seed))
    asked: dict[int, int] = {}
    silent = [0]

    def look() -> None:
        client = receiver.core
        if client is None or receiver.frozen:
            return
        state = rig.planet.multicast.streams[STREAM].lanes[0][2]
        silent[0] = max(silent[0], rig.world.now - client.session.heard)
        silent[0] = max(silent[0], rig.world.now - state.session.heard)

    def ask() -> None:
        client = receiver.core
        if client is None or rig.world.now >= last:
            return
        asked[client.subscribe(f"quiet/{len(asked)}", None, rig.world.now)] = rig.world.now
        receiver.settle()
        rig.world.after(SECOND, ask)

    rig.publish()
    rig.world.run(SECOND)
    rig.watch = look
    last = rig.world.now + int((seconds - 2) * SECOND)
    ask()
    rig.world.run(int(seconds * SECOND))
    receiver.freeze()
    rig.world.run(int(stop * SECOND))
    beyond = rig.planet.multicast.streams[STREAM].lanes[0][2].session.window.under_way
    answers = [(receiver.told[one] - at) / SECOND for one, at in asked.items()
               if one in receiver.told]  # fmt: skip
    return Prompt(answers, silent[0] / SECOND, beyond, len(asked) - len(answers))
