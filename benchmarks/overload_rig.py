"""A sender that offers more than a receiver takes, each in a process of its own.

python benchmarks/overload_rig.py SIDE PLAN runs one side, and prints what its receiver saw as JSON.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from peers import Peer

SPAWN = multiprocessing.get_context("spawn")
QUIET_SECONDS = 1.5  # After the sender has ended and so long without an event, all is over.
NAP_SECONDS = 0.001
ALARM_EVERY = 100


@dataclass(frozen=True)
class Plan:
    """What is offered and taken, and what may wait in between."""

    offered: float = 10_000.0  # Events a second.
    taken: float = 5_000.0
    seconds: float = 8.0
    event_bytes: int = 200
    queue_bytes: int = 512 * 1024

    @property
    def events(self) -> int:
        """Return how many events are offered."""
        return int(self.offered * self.seconds)


@dataclass
class Tally:
    """What a receiver took: how old each event was, alarms apart."""

    routine: list[float] = field(default_factory=list)  # Seconds from publish to here.
    alarms: list[float] = field(default_factory=list)
    counted: int = 0  # Events that the side has told to be dropped.
    reconnects: int = 0
    sending: float = 0.0  # Seconds that publishing took; more than planned, if it was held up.


class Overloaded(Protocol):
    """A broker and its library, with a queue of so many bytes."""

    name: str

    def start(self, plan: Plan) -> AbstractContextManager[Peer]:
        """Start the broker."""

    async def send(self, port: int, pace: Pace) -> None:
        """Publish what the pace gives."""

    async def receive(self, port: int, plan: Plan, taker: Taker) -> None:
        """Give each event to the taker, which takes its time; never return."""


class Pace:
    """Makes events at a steady rate; one that a library keeps from being published grows old."""

    def __init__(self, plan: Plan, took: Any) -> None:
        """Begin with the first call of `due`; `took` is told how long publishing took."""
        self.plan = plan
        self.took = took
        self.made = 0
        self.start = 0.0

    async def due(self) -> list[dict[str, Any]]:
        """Return the events that are to be published now; none is the end."""
        await asyncio.sleep(NAP_SECONDS)
        now = time.monotonic()
        self.start = self.start or now
        upto = min(int((now - self.start) * self.plan.offered) + 1, self.plan.events)
        events = [self._event(number) for number in range(self.made, upto)]
        self.made = upto
        self.took.value = now - self.start
        return events

    def _event(self, number: int) -> dict[str, Any]:
        alarm = number % ALARM_EVERY == 0
        at = int((self.start + number / self.plan.offered) * 1e9)
        event = {"n": number, "at": at, "alarm": alarm, "pad": ""}
        missing = self.plan.event_bytes - len(json.dumps(event))
        return {**event, "pad": "x" * missing}


class Taker:
    """An application that takes as long for each event as it takes."""

    def __init__(self, plan: Plan) -> None:
        """Begin."""
        self.tally = Tally()
        self.step = 1 / plan.taken
        self.next = 0.0

    async def take(self, event: dict[str, Any]) -> None:
        """Take an event, then work on it."""
        now = time.monotonic()
        age = now - event["at"] / 1e9
        (self.tally.alarms if event["alarm"] else self.tally.routine).append(age)
        # Sleep is coarse: what was overslept is made up for, what was idle is not.
        self.next = max(self.next, now - 5 * NAP_SECONDS) + self.step
        if self.next - now > NAP_SECONDS:
            await asyncio.sleep(self.next - now)

    @property
    def count(self) -> int:
        """Return how many were taken."""
        return len(self.tally.alarms) + len(self.tally.routine)


def sending(side: Overloaded, port: int, plan: Plan, took: Any) -> None:
    """Be the sending program."""
    asyncio.run(side.send(port, Pace(plan, took)))


def play(side: Overloaded, plan: Plan) -> Tally:
    """Run one side; the receiver is this process."""
    with side.start(plan) as peer:
        took = SPAWN.Value("d")
        sender = SPAWN.Process(target=sending, args=(side, peer.port, plan, took))
        try:
            tally = asyncio.run(_receive(side, peer.port, plan, sender))
            tally.sending = took.value
            return tally
        finally:
            if sender.is_alive():
                sender.kill()
            sender.join()


async def _receive(side: Overloaded, port: int, plan: Plan, sender: Any) -> Tally:
    taker = Taker(plan)
    task = asyncio.create_task(side.receive(port, plan, taker))
    await asyncio.sleep(0.5)  # It has subscribed by then.
    await asyncio.to_thread(sender.start)
    seen, since = -1, time.monotonic()
    while not task.done():
        await asyncio.sleep(0.1)
        if taker.count != seen or sender.is_alive():
            seen, since = taker.count, time.monotonic()
        elif time.monotonic() - since > QUIET_SECONDS:
            task.cancel()
            break
    result = (await asyncio.gather(task, return_exceptions=True))[0]
    if isinstance(result, Exception):
        raise result
    return taker.tally


def main() -> None:
    """Run the side that is named."""
    from overload_sides import SIDES  # noqa: PLC0415 - it imports the brokers' libraries, and this

    plan = Plan(**json.loads(sys.argv[2]))
    side = next(one for one in SIDES if one.name == sys.argv[1])
    print(json.dumps(asdict(play(side, plan))))


if __name__ == "__main__":
    main()
