"""Lane: the one kind of queue, FIFO of entries for (stream, link, policy).

It costs an append and two additions until it is full; then the receiver's policy is run on all of
it (PACK 2). Whoever drains it takes its head; what has been taken is beyond the policy's reach.

We depart from the papers, which split a shared queue into one for each receiver when it overflows:
a lane belongs to a distinct policy, and receivers with equal policies are its members (DESIGN.md,
Lanes).
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Final

from heliograph.event.block import Block
from heliograph.event.digest import Digest
from heliograph.event.event import Position
from heliograph.lane.arrival import arrive
from heliograph.lane.discard import discard
from heliograph.lane.entry import Entry, Marker
from heliograph.lane.owed import Owed
from heliograph.lane.pool import Pool
from heliograph.policy.binding import BoundPolicy, bind
from heliograph.policy.ladder import Flow, Ladder
from heliograph.policy.limits import Limits, Load
from heliograph.policy.pack import Held
from heliograph.policy.stretch import reach

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.event.schema import Schema
    from heliograph.lane.budget import Budget
    from heliograph.policy.ladder import Controller
    from heliograph.policy.model import Policy

_NO_LIMIT: Final = 2**62


class Lane:
    """Entries of one stream that wait for a link or an application, under one policy."""

    def __init__(
        self,
        policy: Policy,
        schema: Schema,
        limits: Limits,
        *,
        begin: Position,
        control: Callable[[int], Controller] = Ladder,
        budget: Budget | None = None,
        pool: Pool | None = None,
    ) -> None:
        """Begin empty behind the position `begin`.

        Raises:
            PolicyError: The policy cannot apply to the schema.
        """
        self.policy = policy
        self.bound: BoundPolicy = bind(policy, schema)
        self.limits = limits
        self.entries: deque[Entry] = deque()
        self.held_entries = 0
        self.held_bytes = 0
        self.members: list[int] = []  # The receivers, by what their owner calls them.
        self.level = 1
        self.packs = 0
        self.levels: Counter[int] = Counter()
        self.dropped: Counter[str] = Counter()  # Events, by reason.
        self.filtered = 0
        self.taken = 0  # Events that left at the head.
        self.begin = begin  # Up to where digests before the entries have settled the stream.
        # How far nothing is missing behind what was taken: plain numbers, for each take moves them.
        self._epoch, self._number = begin
        self.told = begin  # As `begin`, with the digests and markers that wait here.
        self.pending: tuple[Digest, ...] = ()
        self.owed = Owed()
        self.budget = budget
        self.pool = pool if pool is not None else Pool()
        self._control = control
        self.controller: Controller | None = None
        self._arrived = Load(0, 0)
        self._departed_entries = self._departed_bytes = 0
        self.marks = 0  # Markers that wait among the entries.
        self.skip: Position | None = None  # Up to here the receivers have everything already.
        self.behind = 0  # Events that came behind it, as long as it is of use.
        self._emptied = True
        self._fill(limits)

    def _fill(self, limits: Limits) -> None:
        """Set where the lane counts as full, which a controller may lower."""
        self.full = limits
        self.entries_max = _NO_LIMIT if limits.entries is None else limits.entries
        self.bytes_max = _NO_LIMIT if limits.bytes is None else limits.bytes

    @property
    def reached(self) -> Position:
        """How far nothing is missing behind what was taken."""
        return Position(self._epoch, self._number)

    @reached.setter
    def reached(self, at: Position) -> None:
        self._epoch, self._number = at

    @property
    def fill(self) -> float:
        """How full the lane is, from 0 to 1."""
        parts = (self.held_entries / self.entries_max, self.held_bytes / self.bytes_max)
        return min(1.0, max(parts))

    def rebind(self, schema: Schema) -> None:
        """Go on with a schema that has grown.

        Raises:
            PolicyError: The policy cannot apply to it.
        """
        self.bound = bind(self.policy, schema)

    def turn(self, schema: Schema, at: Position) -> None:
        """Begin an epoch that has a schema of its own; everything up to `at` has arrived.

        Raises:
            PolicyError: The policy cannot apply to it.
        """
        bound = self.bound
        self.rebind(schema)
        if at.epoch:
            self.mark(*at, bound)

    def offer(self, entry: Entry, now: int) -> None:
        """Let an entry arrive; a lane that has no room for it is packed."""
        if (
            self.held_entries + entry.count <= self.entries_max
            and self.held_bytes + entry.size <= self.bytes_max
            and self.skip is None
            and not self.bound.always
            and isinstance(entry.item, Block)
        ):
            self.append(entry)
        else:
            arrive(self, entry, now)

    def append(self, entry: Entry) -> None:
        """Put an entry at the tail, for which there is room."""
        self.entries.append(entry)
        self.held_entries += entry.count
        self.held_bytes += entry.size
        self.pool.bytes += entry.size

    def replace_tail(self, entry: Entry) -> None:
        """Put a digest where the tail stood, which was one too."""
        more = entry.size - self.entries[-1].size
        self.entries[-1] = entry
        self.held_bytes += more
        self.pool.bytes += more

    def mark(self, epoch: int, number: int, bound: BoundPolicy | None = None) -> None:
        """Let no later digest reach back across a number; everything up to it has arrived."""
        self.owed.settle(self)
        marker = Marker(epoch, number, bound)
        self.told = Position(epoch, number)
        self.owed.reached = None  # All up to here has come: begin from `told`.
        if self.skip is not None and self.skip <= self.told:
            self.skip = None
        if self.entries:
            self.append(Entry(marker))
            self.marks += 1
        else:
            self._pass(marker)

    def take(self) -> Entry | None:
        """Take the head; markers are passed on the way."""
        entries = self.entries
        while entries:
            entry = entries.popleft()
            self.held_entries -= entry.count
            self.held_bytes -= entry.size
            self.pool.bytes -= entry.size
            if self._leave(entry):
                return entry
        return None

    def _leave(self, entry: Entry) -> bool:
        """Keep the books of an entry that was taken; a marker is not for whoever drains."""
        item = entry.item
        if isinstance(item, Block):
            self.taken += item.count
            if self._epoch == item.epoch and entry.first == self._number + 1 and not item.presence:
                self._number = entry.last
            else:
                self.reached = reach(self.reached, item)
        elif isinstance(item, Digest):
            self.begin = Position(item.epoch, item.upto)
            self.reached = reach(self.reached, item)
        else:
            self.marks -= 1
            self._pass(item)
            return False
        self._departed_entries += entry.count
        self._departed_bytes += entry.size
        if not self.entries:
            self._emptied = True
        return True

    def _pass(self, marker: Marker) -> None:
        self.begin = Position(marker.epoch, marker.number)
        self.reached = max(self.reached, self.begin)

    def head(self) -> Entry | None:
        """Return the head without taking it; markers are passed."""
        entries = self.entries
        while entries:
            entry = entries[0]
            if not isinstance(entry.item, Marker):
                return entry
            entries.popleft()
            self.held_entries -= 1
            self.held_bytes -= entry.size
            self.pool.bytes -= entry.size
            self._leave(entry)
        return None

    def split_head(self, one: Entry, other: Entry) -> None:
        """Put two entries where the head stood, of which they are the parts."""
        whole = self.entries.popleft()
        self.entries.appendleft(other)
        self.entries.appendleft(one)
        more = one.size + other.size - whole.size
        self.held_bytes += more
        self.pool.bytes += more

    def restart(self, entries: list[Entry], begin: Position) -> None:
        """Hold these entries behind `begin`, as if nothing had been taken since."""
        self.begin = self.reached = self.told = begin
        self.pending = ()
        self.marks = 0
        self.pool.bytes -= self.held_bytes
        self.entries.clear()
        self.held_entries = self.held_bytes = 0
        for entry in entries:
            self.append(entry)
            if isinstance(entry.item, Digest):
                self.told = Position(entry.epoch, entry.last)

    def discard(self, coming: Entry | None = None) -> None:
        """Give up what waits here without looking into it; see `discard`."""
        discard(self, coming)

    def flow(self) -> Flow:
        """Return what passed since the previous pack, in whatever is full (for controllers)."""
        unit = 0 if self.held_entries >= self.entries_max else 1
        held = (self.held_entries, self.held_bytes)[unit]
        departed = (self._departed_entries, self._departed_bytes)[unit]
        arrived = departed + held - self._arrived[unit]
        return Flow(max(0, arrived), departed, held, self._emptied)

    def held(self) -> Held:
        """Return what is to be packed, where no marker stands in between."""
        items = [one.item for one in self.entries if not isinstance(one.item, Marker)]
        return Held(items, self.begin, self.pending, self.reached)

    def packed(self, entries: list[Entry], level: int, reason: str) -> None:
        """Go on with what a pack has left, and remember what it did."""
        events = _events(self.entries)
        filtered = sum(one.item.filtered for one in self.entries if isinstance(one.item, Digest))
        self.entries = deque(entries)
        self.held_entries = sum(one.count for one in entries)
        held_bytes = sum(one.size for one in entries)
        self.pool.bytes += held_bytes - self.held_bytes
        self.held_bytes = held_bytes
        after = sum(one.item.filtered for one in entries if isinstance(one.item, Digest))
        self.dropped[reason] += events - _events(self.entries) - max(0, after - filtered)
        self.packs += 1
        self.level = level
        self.levels[level] += 1
        self._arrived = Load(self.held_entries, self.held_bytes)
        self._departed_entries = self._departed_bytes = 0
        self._emptied = False
        for one in reversed(entries):
            if not isinstance(one.item, Block):
                self.told = max(self.told, Position(one.epoch, one.last))
                break
        if self.controller is not None:
            self._fill(self.limits.filled(self.controller.fill))

    def choose(self, now: int) -> Controller:
        """Return the controller, which has chosen a level for a pack at `now`."""
        if self.controller is None:
            self.controller = self._control(self.bound.top)
        self.level = self.controller.choose(now, self.flow())
        return self.controller


def _events(entries: deque[Entry]) -> int:
    return sum(one.count for one in entries if isinstance(one.item, Block))
