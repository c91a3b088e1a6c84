"""A path of hosts in a few lines: each packs its lane, sends what it holds, and is checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from heliograph.event.block import Block
from heliograph.event.digest import Digest, check_digest, settles
from heliograph.event.event import Position
from heliograph.policy.merge import absorb
from heliograph.policy.pack import BEGINNING, Held, pack
from heliograph.policy.stretch import reach

if TYPE_CHECKING:
    from heliograph.policy.binding import BoundPolicy


@dataclass
class Host:
    """One lane with its policy, and what it has to remember between packs."""

    bound: BoundPolicy
    entries: list[Block | Digest] = field(default_factory=list)
    settled: Position = BEGINNING
    reached: Position = BEGINNING
    pending: tuple[Digest, ...] = ()
    packs: int = 0
    waited: bool = False  # Whether anything was ever pending here.

    def take(self, entry: Block | Digest) -> None:
        """Let an entry arrive; a digest takes up what waited for it."""
        if isinstance(entry, Digest):
            self.pending, entry = absorb(self.pending, entry, self.last_settled())
            check_digest(entry)
        self.entries.append(entry)

    def last_settled(self) -> Position:
        digests = [entry for entry in self.entries if isinstance(entry, Digest)]
        return Position(digests[-1].epoch, digests[-1].upto) if digests else self.settled

    def pack(self, level: int) -> None:
        lane = Held(self.entries, self.settled, self.pending, self.reached)
        packed = pack(lane, self.bound, level, ordinal=self.packs)
        for one in packed.pending:
            check_digest(one)
        self.entries, self.pending = packed.entries, packed.pending
        self.packs += 1
        self.waited = self.waited or bool(self.pending)

    def send(self, count: int) -> list[Block | Digest]:
        """Send at most so many entries from the head, events one by one."""
        sent: list[Block | Digest] = []
        while self.entries and len(sent) < count:
            head = self.entries[0]
            if isinstance(head, Block) and head.count > 1:
                self.entries[:1] = head.singles(self.bound.schema)
                continue
            sent.append(self.entries.pop(0))
            self.reached = reach(self.reached, head)
            if isinstance(head, Digest):
                self.settled = Position(head.epoch, head.upto)
        return sent


def check_received(entries: list[Block | Digest], start: int) -> tuple[int, int, int]:
    """Check all that a receiver can check; return how many events, dropped and filtered it got.

    Positions rise, digests settle consecutive intervals, each stands behind the last entry that it
    covers, and of its interval every number has arrived or is counted.
    """
    events: list[Position] = []
    after = Position(1, start)
    dropped = filtered = 0
    for entry in entries:
        if isinstance(entry, Block):
            events += [Position(entry.epoch, number) for number in entry.numbers().tolist()]
            assert (entry.epoch, entry.first) > after
            continue
        check_digest(entry)
        known = after.number if after.epoch == entry.epoch else 0
        assert entry.after == known
        last = events[-1] if events else Position(0, 0)
        assert last <= (entry.epoch, entry.upto)
        inside = sum(
            one.epoch == entry.epoch and entry.after < one.number <= entry.upto for one in events
        )
        assert settles(inside, entry)
        after = Position(entry.epoch, entry.upto)
        dropped, filtered = dropped + entry.count, filtered + entry.filtered
    assert all(one < other for one, other in pairwise(events))
    return len(events), dropped, filtered
