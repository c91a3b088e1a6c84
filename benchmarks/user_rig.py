"""Runs a sending program and a receiving one, each in its process, and gathers what they saw."""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import statistics
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pacing import Load, Pacer, Ready, Sink

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from pacing import User

WARM = 0.1  # The part of the latencies that is not counted.
SPAWN = multiprocessing.get_context("spawn")
START_SECONDS = 60.0
LEAVE_SECONDS = 20.0  # For all clients of a program to close their connections.
END_SECONDS = 120.0
_runs = itertools.count()


@dataclass(frozen=True)
class Seen:
    """What a run found."""

    arrived: int  # Over all receivers.
    wanted: int
    seconds: float  # From the first event sent to the last one received.
    late: float  # How much longer sending took than it should have, as a factor.
    p50: float
    p99: float

    @property
    def rate(self) -> float:
        """Return deliveries a second."""
        return self.arrived / self.seconds if self.seconds else 0.0

    @property
    def complete(self) -> bool:
        """Whether every event arrived at every receiver."""
        return self.arrived == self.wanted


def play(user: User, port: int, load: Load) -> Seen:
    """Run a load once."""
    load = replace(load, run=next(_runs))
    arrived = SPAWN.RawArray("q", load.receivers)
    ended = SPAWN.Event()
    near, far = SPAWN.Pipe()
    receiver = SPAWN.Process(target=receiving, args=(user, port, load, arrived, ended, far))
    receiver.start()
    sender = SPAWN.Process(target=sending, args=(user, port, load, arrived, far))
    try:
        _told(near, user, receiver, START_SECONDS)
        sender.start()
        took = _told(near, user, sender, END_SECONDS)
        ended.set()
        sinks = _told(near, user, receiver, END_SECONDS)
        for one in (sender, receiver):
            one.join(LEAVE_SECONDS)
    finally:
        for one in (sender, receiver):
            if one.is_alive():
                one.kill()
            if one.pid:
                one.join()
    return seen(load, took, sinks)


def sending(user: User, port: int, load: Load, arrived: Any, tell: Connection) -> None:
    """Be the sending program."""
    pacer = Pacer(load, arrived)
    asyncio.run(user.send(port, Told(pacer, tell)))


class Told(Pacer):
    """A pacer that tells when it has given out the last event."""

    def __init__(self, pacer: Pacer, tell: Connection) -> None:
        """Take the place of another."""
        super().__init__(pacer.load, pacer.arrived)
        self.tell = tell

    async def room(self) -> int:
        """Return how many may go now, and tell at the end how long it took."""
        count = await super().room()
        if not count:
            self.tell.send(asyncio.get_running_loop().time() - self.start)
        return count


def receiving(
    user: User, port: int, load: Load, arrived: Any, ended: Any, tell: Connection
) -> None:
    """Be the receiving program."""
    sinks = [Sink(place, load, arrived) for place in range(load.receivers)]
    ready = Ready(sinks, lambda: tell.send("ready"), ended.is_set)

    async def main() -> None:
        await user.receive(port, load, sinks, ready)

    asyncio.run(main())
    tell.send([(one.first, one.last, one.latencies) for one in sinks])


def seen(load: Load, took: float, sinks: list[tuple[int, int, list[int]]]) -> Seen:
    """Return what a run found, from what its receivers noted."""
    arrived = sum(len(latencies) for _, _, latencies in sinks)
    wanted = load.events * load.receivers
    late = took / (load.events / load.rate) if load.rate else 1.0
    counted = sorted(
        one for _, _, latencies in sinks for one in latencies[int(WARM * len(latencies)) :]
    )
    if len(counted) < 2:
        return Seen(arrived, wanted, 0.0, late, float("inf"), float("inf"))
    first, last = min(one[0] for one in sinks if one[0]), max(one[1] for one in sinks)
    p99 = counted[min(len(counted) - 1, int(0.99 * len(counted)))]
    return Seen(
        arrived, wanted, (last - first) / 1e9, late, statistics.median(counted) / 1e9, p99 / 1e9
    )


def _told(near: Connection, user: User, program: BaseProcess, seconds: float) -> Any:
    """Return what a program tells; a program that has failed has said why on its way."""
    deadline = time.monotonic() + seconds
    while not near.poll(0.05):
        if program.exitcode:
            raise SystemExit(f"{user.name}: a program failed")
        if time.monotonic() > deadline:
            raise SystemExit(f"{user.name}: a program said nothing for {seconds:g} s")
    return near.recv()
