"""A stream on its way through lanes: sender, planet, client, application, one step at a time.

Everything random comes from one seed; the home of the receivers is in `homes`, and what they look
at in `ends`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from heliograph.client.sender import Sender
from heliograph.event.block import Block
from heliograph.event.digest import Digest
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.lane.account import Account
from heliograph.lane.entry import MARKER_BYTES, Marker
from heliograph.lane.outlet import Group
from heliograph.lane.squeeze import pack_lane
from heliograph.policy.limits import BYTES_MIN, Limits
from heliograph.wire import forms
from heliograph.wire.reader import Reader
from lane.ends import STREAM, Member
from lane.homes import Home

if TYPE_CHECKING:
    from heliograph.lane.lane import Lane


class Chain(Home):
    """One sender, one planet, one link to one client with some receivers."""

    def __init__(self, seed: int) -> None:
        """Begin with a sender that has published nothing, and one receiver."""
        super().__init__(seed)
        self.values: dict[Position, int] = {}
        self.schemas: dict[int, Schema] = {}
        self.alias = 0
        self.epoch = 0
        self.losses = 0  # How often something went that nobody else held.
        self.returned = 0  # What the sender's lane held when a crash put back what had left it.
        self.marked: dict[Lane, int] = {}  # The markers beside which a lane was last filled.
        self.sender = self._sender()
        self.join()

    def _sender(self) -> Sender:
        self.epoch += self.random.randint(1, 3)
        limits = Limits(self.random.choice([16, 64, 1_024]), None)
        sender = Sender(1, STREAM, Schema(), self.epoch, limits, self.control)
        self.uplink = Group(STREAM)
        self.uplink.lanes = {0: sender.lane}
        self.unacked: list[bytes] = []
        self.up = b""
        self.alias += 1
        self.schema = self.schemas[self.epoch] = sender.schema
        self.names[self.epoch] = (self.alias, sender.base, sender.schema)
        at, begin = self.account.position, Position(self.epoch, 0)
        gaps = self.account.rejoin(begin) if at.epoch else []
        self.losses += bool(gaps)
        if not at.epoch:
            self.account = Account(STREAM, begin)
        self.spread([one for one in gaps if one.epoch == at.epoch])
        for lane in self.lanes:
            lane.turn(sender.schema, at)
        self.spread([one for one in gaps if one.epoch != at.epoch])
        self.up_reader = Reader(1 << 20)
        self.returned = 0
        for member in self.members.values():
            if member.lane is not None:
                self.tell(member, 0)
        return sender

    def publish(self) -> None:
        """Let the sender publish some events, gathered or as a block."""
        random, sender = self.random, self.sender
        for _ in range(random.choice([1, 1, 2, 5, 12])):
            value = random.randint(0, 9)
            values: dict[str, Any] = {"a": value}
            if random.random() < 0.02:
                values["b" + str(random.randint(0, 2))] = "x" * random.randint(0, 9)
            number = sender.publish(values, sender.base + random.randint(0, 99), self.now)
            self.values[Position(sender.epoch, number)] = value
            if random.random() < 0.3:
                sender.flush(self.now)
        if sender.grown:
            sender.grown = False
            self.grow(sender.schema)

    def grow(self, schema: Schema) -> None:
        """Let everyone read what comes by a larger schema."""
        epoch = self.sender.epoch
        self.schema = self.schemas[epoch] = schema
        self.names[epoch] = (*self.names[epoch][:2], schema)
        for lane in self.lanes:
            lane.rebind(schema)
        for end in self.ends.values():
            if end.receiver.account is not None:
                end.receiver.grow(epoch, schema)

    def send_up(self, count: int) -> None:
        """Let the planet read some frames of the sender's."""
        self.sender.flush(self.now)
        alias, base, _ = self.names[self.sender.epoch]
        for _ in range(count):
            found = self.uplink.next()
            if found is None:
                break
            entry, mask = found
            size = self.random.choice([64, 300, 100_000])
            if entry.size > size:
                entry = self.uplink.cut(entry, mask, size, self.sender.schema)
            self.up += forms.entry_frame(entry, alias, base)
            self.uplink.pop(mask)
        if self.random.random() < 0.8:
            self.unacked.append(self.up)
            for item in self.up_reader.feed(self.up):
                self.arrive(item)
            self.up = b""

    def crash(self) -> None:
        """Lose the planet: the sender sends again, and receivers tell how far they are."""
        while self.unacked and self.random.random() < 0.6:
            self.unacked.pop(0)
        lost = []
        reader = Reader(1 << 20)
        for data in [*self.unacked, self.up]:
            lost += [self.item(one) for one in reader.feed(data)]
        known = dict(self.members)
        self.losses += 1
        self.restart_planet()
        self.names.clear()
        self.alias += 1
        self.names[self.sender.epoch] = (self.alias, self.sender.base, self.sender.schema)
        for entry in self.sender.lane.entries:
            entry.frame = b""
        number = self.sender.restart([one for one in lost if isinstance(one, Block | Digest)])
        self.returned = self.sender.lane.held_entries
        self.unacked, self.up, self.up_reader = [], b"", Reader(1 << 20)
        self.account = Account(STREAM, Position(self.sender.epoch, number - 1))
        for one in known.values():
            end = self.ends[one.number]
            end.receiver.rejoins = True
            member = Member(one.number, end.receiver.policy, one.limits)
            self.members[one.number] = member
            self.open(member, end.receiver.since)

    # One step, and the end.

    def step(self) -> None:
        """Do one thing at random."""
        self.now += self.random.choice([1, 1_000, 1_000_000])
        dice = self.random.random()
        if dice < 0.35:
            self.publish()
        elif dice < 0.55:
            self.send_up(self.random.randint(1, 6))
        elif dice < 0.75:
            self.send_down(self.random.randint(1, 6))
        elif dice < 0.87:
            end = self.random.choice([*self.ends.values()])
            end.take(self.random.randint(1, 8), self.values, self.schemas)
        else:
            self.rarely()
        self.check()

    def rarely(self) -> None:
        """Do what happens seldom."""
        seldom = {
            self.pack_early: 25,
            self.settle_owed: 15,
            self.join: 20,
            self.repolicy: 10,
            self.leave: 5,
            self.demand: 8,
            self.restart_sender: 4,
            self.crash: 4,
        }
        (one,) = self.random.choices([*seldom], [*seldom.values()])
        one()

    def pack_early(self) -> None:
        """Pack a lane that need not be full, as for the planet's memory."""
        lane = self.random.choice([*self.group.lanes.values(), self.sender.lane])
        if lane.entries:
            held = max(BYTES_MIN, lane.held_bytes)
            lane.full = Limits(lane.limits.entries, held, lane.limits.least)
            pack_lane(lane, self.now)

    def settle_owed(self) -> None:
        """Tell what was filtered, as when a stream falls silent."""
        for lane in self.lanes:
            lane.owed.settle(lane)

    def demand(self) -> None:
        """Tell the sender what its receivers would give up."""
        policies = {one.policy.identity: one.policy for one in self.members.values()}
        self.sender.demand([*policies.values()], len(self.members))

    def restart_sender(self) -> None:
        """Begin a new epoch, without what the old sender still held."""
        self.sender = self._sender()

    def check(self) -> None:
        """Check what is always true."""
        lanes = [*self.group.lanes.values()]
        assert self.pool.bytes == sum(lane.held_bytes for lane in lanes)
        for lane in [*lanes, self.sender.lane]:
            self.check_lane(lane, self.returned if lane is self.sender.lane else 0)
        for end in self.ends.values():
            if end.receiver.lane is not None:
                self.check_lane(end.receiver.lane)
        if not self.losses:
            assert not any(end.counted["gap"] for end in self.ends.values())

    def check_lane(self, lane: Lane, returned: int = 0) -> None:
        """Check that a lane counts what it holds, and holds what it may."""
        assert lane.held_bytes == sum(one.size for one in lane.entries)
        assert lane.held_entries == sum(one.count for one in lane.entries)
        assert lane.marks == sum(isinstance(one.item, Marker) for one in lane.entries)
        capacity = max(lane.limits.entries or 0, returned)
        # What was let in beside markers may still be there when those have been passed.
        marks = self.marked[lane] = max(
            lane.marks, self.marked.get(lane, 0) if lane.held_entries > capacity else 0
        )
        # The digest that always levels owe; markers, and a digest on each side of one.
        beside = 1 + (2 * marks + 1 if marks else 0)
        assert lane.held_entries <= capacity + beside
        if lane.limits.bytes is not None:
            assert lane.held_bytes <= lane.limits.bytes + beside * MARKER_BYTES * 2

    def finish(self) -> None:
        """Let everything arrive, and check that nothing is missing anywhere."""
        while self.uplink.next() is not None or self.sender.gathering or self.up:
            self.send_up(1_000)
        assert not self.account.missing
        assert self.account.position == (self.sender.epoch, self.sender.last)
        self.settle_owed()
        while self.group.next() is not None or self.down:
            self.send_down(1_000)
        for end in self.ends.values():
            position = end.finish(self.values, self.schemas)
            if position is not None and self.account.position.number:
                assert position == self.account.position
        self.check()
        assert self.pool.bytes == 0


def run_chain(seed: int, steps: int) -> Counter[str]:
    """Run a chain; return what its receivers got."""
    chain = Chain(seed)
    for _ in range(steps):
        chain.step()
    chain.finish()
    counted: Counter[str] = Counter()
    for end in [*chain.done, *chain.ends.values()]:
        counted += end.counted
    return counted
