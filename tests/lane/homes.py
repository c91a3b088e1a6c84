"""A home of a chain: its books and lanes, and one link to one client with some receivers.

It is a planet without a session: what stands between the lanes is as little as will do - books,
names, and who joined where. What travels is bytes, as on a link.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from heliograph.client.receiver import Receiver
from heliograph.event.block import Block
from heliograph.event.digest import Digest
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.lane.account import Account
from heliograph.lane.entry import Entry
from heliograph.lane.lane import Lane
from heliograph.lane.outlet import Group
from heliograph.lane.pool import Pool
from heliograph.policy.aim import Aim
from heliograph.policy.ladder import Ladder
from heliograph.wire import forms
from heliograph.wire.frames import to_frame
from heliograph.wire.reader import BlockFrame, DigestFrame, Reader, Run, To
from lane.ends import STREAM, End, Member, some_limits, some_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heliograph.policy.ladder import Controller

# So many markers may stand in a lane; whoever needs one more has a lane of its own, or waits.
MARKS_MAX: Final = 8
MEMBERS_MAX: Final = 6


class Home:
    """One planet, and one link to one client whose receivers come and go."""

    def __init__(self, seed: int) -> None:
        """Begin knowing neither a sender nor a receiver."""
        self.random = Random(seed)
        self.now = 0
        controls: list[Callable[[int], Controller]] = [Ladder, Aim]
        self.control = self.random.choice(controls)
        self.schema = Schema()
        self.names: dict[int, tuple[int, int, Schema]] = {}  # By epoch: alias, base, schema.
        self.ends: dict[int, End] = {}
        self.done: list[End] = []
        self.joined = 0
        self.restart_planet()

    def restart_planet(self) -> None:
        """Forget everything, as a planet does that crashed."""
        self.account = Account(STREAM, Position(0, 0))
        self.group = Group(STREAM)
        self.lanes: list[Lane] = []
        self.retired: list[tuple[int, Lane]] = []
        self.members: dict[int, Member] = {}
        self.pool = Pool()
        self.down = b""
        self.mask = 0
        self.down_reader = Reader(1 << 20)

    def item(self, item: object) -> Block | Digest | None:
        """Return what a frame holds; its alias says of which epoch it is."""
        if not isinstance(item, Run | BlockFrame | DigestFrame):
            return None
        epoch = next(one for one, named in self.names.items() if named[0] == item.alias)
        _, base, schema = self.names[epoch]
        if isinstance(item, Run):
            return forms.run_block(item, STREAM, epoch, schema.version, base)
        if isinstance(item, BlockFrame):
            return forms.framed_block(item, STREAM, epoch)
        return forms.framed_digest(item, STREAM, epoch)

    def arrive(self, item: object) -> None:
        """Enter into the planet's books what came, and spread it."""
        found = self.item(item)
        new: Block | Digest | None = None
        if isinstance(found, Block):
            new = self.account.take(found, self.schema)
        elif isinstance(found, Digest):
            new = self.account.settle(found)
        if new is not None:
            self.spread([new])
        if not self.account.missing:
            for member in self.members.values():
                if member.lane is None:
                    self.open(member, Position(0, 0))

    def spread(self, items: Sequence[Block | Digest]) -> None:
        """Offer what is new to every lane."""
        for entry in map(Entry, items):
            for lane in self.lanes:
                lane.offer(entry, self.now)

    def join(self) -> None:
        """Let a receiver come, perhaps with a policy that another has."""
        if len(self.members) >= MEMBERS_MAX:
            return
        self.joined += 1
        known = [one.policy for one in self.members.values()]
        limits = [one.limits for one in self.members.values()]
        policy, limit = some_policy(self.random), some_limits(self.random)
        if known and self.random.random() < 0.5:
            policy, limit = self.random.choice(known), limits[0]
        receiver = Receiver(
            self.joined, STREAM, policy, some_limits(self.random), self.control, (0, 0)
        )
        self.ends[self.joined] = End(receiver)
        member = self.members[self.joined] = Member(self.joined, policy, limit)
        self.open(member, Position(0, 0))

    def open(self, member: Member, since: Position) -> None:
        """Give a receiver its lane, where no gap is open."""
        if self.account.missing or not self.account.epoch:
            return
        epoch, number = self.account.position
        skip = since.number if since.epoch == epoch else 0
        begin = Position(epoch, max(number, skip))
        for bit, lane in self.group.lanes.items():
            wanted = (member.policy.identity, member.limits)
            equal = lane.members and (lane.policy.identity, lane.limits) == wanted
            if equal and skip <= number and (not lane.skip or lane.skip <= (epoch, number)):
                if lane.marks >= MARKS_MAX:
                    return
                lane.mark(epoch, number)
                member.lane, member.bit = lane, bit
                break
        else:
            bit_free = self.group.free_bit()
            assert bit_free is not None
            lane = Lane(
                member.policy, self.schema, member.limits, begin=begin, control=self.control,
                pool=self.pool,
            )  # fmt: skip
            lane.skip = begin if skip > number else None
            self.group.lanes[bit_free] = lane
            self.lanes.append(lane)
            member.lane, member.bit = lane, bit_free
        member.lane.members.append(member.number)
        self.tell(member, begin.number)

    def tell(self, member: Member, after: int) -> None:
        """Tell a client where its receiver begins; messages overtake the data in lanes."""
        end = self.ends[member.number]
        begin = Position(self.account.epoch, after)
        fresh = end.receiver.account is None
        alias, _, _ = self.names[self.account.epoch]
        self.read_down()
        end.receiver.open(alias, member.bit, begin, self.schema, self.now)
        if fresh:
            end.begin(begin)

    def repolicy(self) -> None:
        """Let a receiver change its policy: its old lane ends at a marker."""
        member = self.random.choice([*self.members.values()])
        old, bit = member.lane, member.bit
        if old is None or self.account.missing or old.marks >= MARKS_MAX:
            return
        policy = some_policy(self.random)
        if policy.identity == member.policy.identity:
            return
        member.policy, member.lane = policy, None
        self.ends[member.number].receiver.repolicy(policy)
        self.open(member, Position(0, 0))
        assert member.lane is not None
        old.mark(*self.account.position)
        old.members.remove(member.number)
        if not old.members:
            self.lanes.remove(old)
            self.retired.append((bit, old))

    def leave(self) -> None:
        """Let a receiver go."""
        if len(self.members) < 2:
            return
        number = self.random.choice([*self.members])
        member = self.members.pop(number)
        end = self.ends.pop(number)
        self.done.append(end)
        if member.lane is not None:
            member.lane.members.remove(number)
            if not member.lane.members:
                # One that changed its policy may still wait for what lies before its marker.
                self.lanes.remove(member.lane)
                self.retired.append((member.bit, member.lane))

    def sweep(self) -> None:
        """Drop the lanes that have ended."""
        for bit, lane in list(self.retired):
            if lane.head() is None and self.group.lanes.get(bit) is lane:
                del self.group.lanes[bit]
                self.retired.remove((bit, lane))

    # The client.

    def send_down(self, count: int) -> None:
        """Let the link take some frames out of the planet's lanes."""
        for _ in range(count):
            found = self.group.next()
            if found is None:
                break
            entry, mask = found
            alias, base, _ = self.names[entry.epoch]
            if mask != self.group.mask:
                self.group.mask = mask
                self.down += to_frame(alias, mask)
            size = self.random.choice([64, 300, 100_000])
            if entry.size > size:
                entry = self.group.cut(entry, mask, size, self.schema)
            self.down += forms.entry_frame(entry, alias, base)
            self.group.pop(mask)
        if self.random.random() < 0.7:
            self.read_down()
        self.sweep()

    def read_down(self) -> None:
        """Let the client read what the link took."""
        data, self.down = self.down, b""
        for item in self.down_reader.feed(data):
            if isinstance(item, To):
                self.mask = item.mask
                continue
            assert isinstance(item, Run | BlockFrame | DigestFrame)
            found = self.item(item)
            assert found is not None
            entry = Entry(found)
            for end in self.ends.values():
                end.receiver.arrive(item.alias, self.mask, entry, self.now)
