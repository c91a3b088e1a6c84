"""What a sending and a receiving program share: how many may be sent now, and what has arrived.

Both run in processes of their own. The counts stand in shared memory; times are of the machine's
one monotonic clock.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WINDOW = 4_096  # Events under way; below what any library or broker drops by default.
TURN = 64  # Events between two looks at the window, and two turns of the event loop.
NAP_SECONDS = 0.001
STALL_SECONDS = 10.0


class User(Protocol):
    """One library, used as its documents tell."""

    name: str

    async def send(self, port: int, pacer: Pacer) -> None:
        """Publish what the pacer allows, each stream from a client of its own."""

    async def receive(self, port: int, load: Load, sinks: list[Sink], ready: Ready) -> None:
        """Give each sink all events, from a client of its own; say when all have subscribed."""


@dataclass(frozen=True)
class Load:
    """What is sent."""

    events: int
    streams: int = 1  # Each with a sender and a client of its own; they take turns.
    receivers: int = 1
    rate: float = 0.0  # Events a second; 0 is as fast as the window allows.
    run: int = 0  # No run uses a stream of another, where a stream belongs to its sender.


class Pacer:
    """Tells a sender how many events may go now, and makes them."""

    def __init__(self, load: Load, arrived: Any) -> None:
        """Begin; `arrived` are the shared counts of the receivers."""
        self.load = load
        self.arrived = arrived
        self.sent = 0
        self.start = 0.0

    async def room(self) -> int:
        """Return how many may go now, waiting for the first of them; 0 is the end."""
        await asyncio.sleep(0)
        now = time.monotonic()
        self.start = self.start or now
        until = now + STALL_SECONDS
        while self.sent < self.load.events and time.monotonic() < until:
            count = min(self._allowed(), self.load.events - self.sent, TURN)
            if count > 0:
                return count
            await asyncio.sleep(NAP_SECONDS)
        return 0

    def _allowed(self) -> int:
        if self.load.rate:
            due = int((time.monotonic() - self.start) * self.load.rate) + 1
            return due - self.sent
        slowest: int = min(self.arrived[: self.load.receivers])
        return slowest + WINDOW - self.sent

    def event(self) -> dict[str, Any]:
        """Return the next event, of five attributes, one of which says when it was sent."""
        number = self.sent
        self.sent += 1
        return {
            "patient": "p-017",
            "pulse": 60 + number % 40,
            "spo2": 97.5,
            "moving": number % 7 == 0,
            "at": time.monotonic_ns(),
        }


class Sink:
    """Takes the events of one receiver."""

    def __init__(self, place: int, load: Load, arrived: Any) -> None:
        """Begin; the count is told in one place of `arrived`."""
        self.place = place
        self.total = load.events
        self.arrived = arrived
        self.latencies: list[int] = []
        self.first = 0
        self.last = 0

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event."""
        now = time.monotonic_ns()
        at: int = event["at"]
        self.first = self.first or at
        self.last = now
        self.latencies.append(now - at)
        self.arrived[self.place] = len(self.latencies)

    @property
    def full(self) -> bool:
        """Whether all have come."""
        return len(self.latencies) >= self.total


class Ready:
    """Called by a receiver when all of its subscriptions stand; then waits until all is over."""

    def __init__(
        self, sinks: list[Sink], tell: Callable[[], None], ended: Callable[[], bool]
    ) -> None:
        """Remember whom to tell, and what says that the sender has ended."""
        self.sinks = sinks
        self.tell = tell
        self.ended = ended

    async def __call__(self) -> None:
        """Tell, and wait until all sinks are full, or nothing comes any more after the end."""
        self.tell()
        still = 0.0
        seen = -1
        while not all(sink.full for sink in self.sinks):
            await asyncio.sleep(0.01)
            count = sum(len(sink.latencies) for sink in self.sinks)
            now = time.monotonic()
            if count != seen or not self.ended():
                seen, still = count, now
            elif now - still > 1.0:
                return
