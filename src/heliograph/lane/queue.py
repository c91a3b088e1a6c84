"""Queue: one lane with a clock, drained at a rate; what `heliograph policy try` simulates.

It knows no clock: the events' own times drive it. A lane and the queues of common brokers have the
same surface here, so that they can stand side by side in one table.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from heliograph.event.block import Block
from heliograph.event.errors import UsageError
from heliograph.event.event import Position
from heliograph.lane.entry import Entry
from heliograph.lane.lane import Lane
from heliograph.policy.limits import Load
from heliograph.policy.pack import BEGINNING

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.event.digest import Digest
    from heliograph.event.schema import Schema
    from heliograph.policy.ladder import Controller
    from heliograph.policy.limits import Limits
    from heliograph.policy.model import Policy

NANOSECONDS: Final = 1_000_000_000
"""Of a second."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How fast a queue is drained: so many entries, or so many bits, a second."""

    amount: float
    bits: bool = False

    def __post_init__(self) -> None:
        """Refuse a rate at which nothing would ever leave."""
        if not self.amount > 0:
            raise UsageError(f"a rate is above 0, not {self.amount:g}")

    def duration(self, entry: Block | Digest) -> int:
        """Return how long one entry takes, in nanoseconds."""
        units = entry.wire_bytes * 8 if self.bits else 1
        return max(1, round(units * NANOSECONDS / self.amount))


class Watcher(Protocol):
    """Who is told what happens in a queue; all times are in nanoseconds."""

    def arrived(self, now: int) -> None:
        """Tell that an event was offered."""

    def delivered(self, now: int, since: int, entry: Block | Digest) -> None:
        """Tell that an entry reached the receiver; `since` is when its event was offered."""

    def dropped(self, now: int, since: int) -> None:
        """Tell that an event was dropped; `since` is when it was offered."""

    def packed(self, now: int, level: int, fraction: float) -> None:
        """Tell that a pack was done, at which level, and which fraction of the events it took."""


class Server:
    """The link or application behind a queue: takes one entry after the other, never idle."""

    def __init__(self, rate: Rate, watcher: Watcher) -> None:
        """Begin idle."""
        self.rate = rate
        self.watcher = watcher
        self.free_at = 0
        self.busy = 0

    def begins(self, ready: int) -> int:
        """Return when an entry that is ready at some time is taken."""
        return max(self.free_at, ready)

    def take(self, entry: Block | Digest, since: int, ready: int) -> None:
        """Take an entry and deliver it when it has passed."""
        duration = self.rate.duration(entry)
        self.free_at = self.begins(ready) + duration
        self.busy += duration
        self.watcher.delivered(self.free_at, since, entry)


class PolicyQueue:
    """A lane that a server drains; it remembers when each event was offered."""

    def __init__(
        self,
        policy: Policy,
        control: Callable[[int], Controller],
        limits: Limits,
        server: Server,
    ) -> None:
        """Begin empty; the lane is made when the schema is known."""
        self._policy, self._control = policy, control
        self._limits, self._server = limits, server
        self._lane: Lane | None = None
        self._schema: Schema | None = None
        self._since: dict[Position, int] = {}  # When each event in the lane was offered.
        self._placed = 0  # When the digests in the lane were put there.

    @property
    def load(self) -> Load:
        """How much waits in the lane."""
        lane = self._lane
        return Load(0, 0) if lane is None else Load(lane.held_entries, lane.held_bytes)

    def offer(self, now: int, event: Block, schema: Schema) -> None:
        """Let one event arrive."""
        lane = self._lane
        if lane is None:
            lane = self._lane = Lane(
                self._policy, schema, self._limits, begin=BEGINNING, control=self._control
            )
        elif self._schema is not schema:
            lane.rebind(schema)
        self._schema = schema
        self.drain(now)
        self._server.watcher.arrived(now)
        at = Position(event.epoch, event.first)
        packs, filtered = lane.packs, lane.filtered
        self._since[at] = now
        lane.offer(Entry(event), now)
        if lane.filtered > filtered:
            del self._since[at]
        if lane.packs > packs:
            self._forget(now, lane)

    def drain(self, now: int | None) -> None:
        """Let the server take what it can until `now` (None: everything that is left)."""
        lane, server = self._lane, self._server
        if lane is None:
            return
        if now is None:
            lane.owed.settle(lane)
        while (head := lane.head()) is not None:
            item = head.item
            since = self._placed
            if isinstance(item, Block):
                since = self._since[Position(item.epoch, item.first)]
            if now is not None and server.begins(since) > now:
                break
            lane.take()
            if isinstance(item, Block):
                del self._since[Position(item.epoch, item.first)]
            server.take(item, since, since)  # type: ignore[arg-type]

    def _forget(self, now: int, lane: Lane) -> None:
        """Drop the times of the events that a pack took, and tell how many they are."""
        self._placed = now
        kept = {
            Position(one.epoch, one.first) for one in lane.entries if isinstance(one.item, Block)
        }
        before = len(self._since)
        for at in [at for at in self._since if at not in kept]:
            self._server.watcher.dropped(now, self._since.pop(at))
        gone = before - len(self._since)
        self._server.watcher.packed(now, lane.level, gone / before if before else 0.0)


class BrokerQueue:
    """What brokers do with a full queue: keep the oldest, or the newest, one event at a time."""

    def __init__(self, limits: Limits, server: Server, *, newest: bool) -> None:
        """Begin empty."""
        self._limits, self._server, self._newest = limits, server, newest
        self._waiting: deque[tuple[Block, int]] = deque()
        self._bytes = 0

    def offer(self, now: int, event: Block, schema: Any) -> None:
        """Let one event arrive; a broker does not look into it."""
        del schema
        self.drain(now)
        self._server.watcher.arrived(now)
        while self._limits.full(Load(len(self._waiting), self._bytes), event.size):
            if not self._newest or not self._waiting:
                self._server.watcher.dropped(now, now)
                return
            gone, since = self._waiting.popleft()
            self._server.watcher.dropped(now, since)
            self._bytes -= gone.size
        self._waiting.append((event, now))
        self._bytes += event.size

    def drain(self, now: int | None) -> None:
        """Let the server take what it can until `now` (None: everything that is left)."""
        waiting, server = self._waiting, self._server
        while waiting and (now is None or server.begins(waiting[0][1]) <= now):
            event, since = waiting.popleft()
            self._bytes -= event.size
            server.take(event, since, since)
