"""Queue: one lane with a clock, drained at a rate; what `heliograph policy try` simulates.

It knows no clock: the events' own times drive it. `Packed` lanes and the queues of common brokers
have the same surface, so that they can stand side by side in one table.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from heliograph.event.block import Block
from heliograph.event.digest import Digest
from heliograph.event.errors import UsageError
from heliograph.event.event import Position
from heliograph.policy.ladder import Flow
from heliograph.policy.limits import Load
from heliograph.policy.pack import BEGINNING, Held, load_of, pack_to_fit
from heliograph.policy.stretch import reach

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.event.schema import Schema
    from heliograph.policy.binding import BoundPolicy
    from heliograph.policy.ladder import Controller
    from heliograph.policy.limits import Limits

NANOSECONDS: Final = 1_000_000_000
"""Of a second."""
# So often a receiver is told of what its always level removed, though nothing overflows.
OWED_MAX: Final = 256


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
    """A lane under a policy: packed when it is full and one more event comes."""

    def __init__(
        self,
        bind: Callable[[Schema], BoundPolicy],
        control: Callable[[int], Controller],
        limits: Limits,
        server: Server,
    ) -> None:
        """Begin empty; the policy is bound, and its controller made, when the schema is known."""
        self._bind, self._control = bind, control
        self._limits, self._server = limits, server
        self._policy: BoundPolicy | None = None
        self._controller: Controller | None = None
        self._entries: deque[Block | Digest] = deque()
        self._since: dict[Position, int] = {}  # When each event in the lane was offered.
        self.load = Load(0, 0)
        self._settled = self._reached = BEGINNING
        self._pending: tuple[Digest, ...] = ()
        self._placed = 0  # When the digests in the lane were put there.
        self._ordinal = 0
        self._arrived = self._departed = Load(0, 0)
        self._emptied = True
        self._full = limits  # Where it counts as full, which the controller may lower.
        self._owed: Digest | None = None  # Filtered on arrival and not yet in a digest.

    def offer(self, now: int, event: Block, schema: Schema, *, filtered: bool = False) -> None:
        """Let one event arrive; `filtered` says that an always level has removed it."""
        if self._policy is None or self._policy.schema is not schema:
            self._policy = self._bind(schema)
        self.drain(now)
        self._server.watcher.arrived(now)
        if filtered:
            self._owe(event)
            return
        if self._full.full(self.load, event.size):
            self._pack(now, event.size)
        self._since[Position(event.epoch, event.first)] = now
        self._entries.append(event)
        self.load = _plus(self.load, 1, event.size)
        self._arrived = _plus(self._arrived, 1, event.size)
        if self._limits.over(self.load):
            self._pack(now, 0)  # It is larger than the lane can be: it is settled at once.

    def drain(self, now: int | None) -> None:
        """Let the server take what it can until `now` (None: everything that is left)."""
        entries, server = self._entries, self._server
        if now is None:
            self._settle_owed()
        while entries:
            head = entries[0]
            since = self._placed
            if isinstance(head, Block):
                since = self._since[Position(head.epoch, head.first)]
            if now is not None and server.begins(since) > now:
                break
            entries.popleft()
            self.load = _plus(self.load, -1, -head.size)
            self._departed = _plus(self._departed, 1, head.size)
            if isinstance(head, Block):
                del self._since[Position(head.epoch, head.first)]
            else:
                self._settled = Position(head.epoch, head.upto)
            self._reached = reach(self._reached, head)
            server.take(head, since, since)
        self._emptied = self._emptied or not entries

    def _pack(self, now: int, coming: int) -> None:
        policy = self._policy
        if policy is None:
            raise UsageError("a queue is packed after its first event")
        if self._controller is None:
            self._controller = self._control(policy.top)
        self._settle_owed()
        before, limits = self.load, self._full
        entries_full = limits.entries is not None and before.entries >= limits.entries
        unit = 0 if entries_full else 1
        flow = Flow(self._arrived[unit], self._departed[unit], before[unit], self._emptied)
        level = self._controller.choose(now, flow)
        lane = Held(list(self._entries), self._settled, self._pending, self._reached)
        goal, ordinal = self._controller.goal, self._ordinal
        packed = pack_to_fit(lane, policy, level, limits, ordinal=ordinal, goal=goal, coming=coming)
        self._ordinal += 1
        self._pending = packed.pending
        self._entries = deque()
        for entry in packed.entries:
            self._entries.extend(
                entry.singles(policy.schema) if isinstance(entry, Block) else [entry]
            )
        self.load = load_of(packed.entries)
        self._placed = now
        self._arrived = self._departed = Load(0, 0)
        self._emptied = False
        self._controller.packed(packed.level, now)
        self._full = self._limits.filled(self._controller.fill)
        self._forget(now, packed.level)

    def _forget(self, now: int, level: int) -> None:
        """Drop the times of the events that are gone, and tell how many they are."""
        kept = {
            Position(entry.epoch, entry.first)
            for entry in self._entries
            if isinstance(entry, Block)
        }
        before = len(self._since)
        for at in [at for at in self._since if at not in kept]:
            self._server.watcher.dropped(now, self._since.pop(at))
        gone = before - len(self._since)
        self._server.watcher.packed(now, level, gone / before if before else 0.0)

    def _owe(self, event: Block) -> None:
        """Count an event that an always level removed; a digest settles it later."""
        owed = self._owed
        if owed is not None and owed.epoch != event.epoch:
            self._settle_owed()
            owed = None
        filtered = 1 + (owed.filtered if owed is not None else 0)
        self._owed = Digest(event.stream, event.epoch, 0, event.first, 0, filtered)
        if filtered >= OWED_MAX:
            self._settle_owed()

    def _settle_owed(self) -> None:
        """Put what was filtered into the lane as a digest behind everything that it covers."""
        owed, self._owed = self._owed, None
        if owed is None:
            return
        after = self._settled.number if self._settled.epoch == owed.epoch else 0
        upto = owed.upto
        for entry in self._entries:
            if entry.epoch == owed.epoch:
                after = entry.upto if isinstance(entry, Digest) else after
                upto = max(upto, entry.upto if isinstance(entry, Digest) else entry.last)
        digest = Digest(owed.stream, owed.epoch, after, upto, 0, owed.filtered)
        self._entries.append(digest)
        self.load = _plus(self.load, 1, digest.size)


def _plus(load: Load, entries: int, size: int) -> Load:
    return Load(load.entries + entries, load.bytes + size)


class BrokerQueue:
    """What brokers do with a full queue: keep the oldest, or the newest, one event at a time."""

    def __init__(self, limits: Limits, server: Server, *, newest: bool) -> None:
        """Begin empty."""
        self._limits, self._server, self._newest = limits, server, newest
        self._waiting: deque[tuple[Block, int]] = deque()
        self._bytes = 0

    def offer(self, now: int, event: Block, schema: Any, *, filtered: bool = False) -> None:
        """Let one event arrive; a broker looks neither at its schema nor at an always level."""
        del schema, filtered
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
