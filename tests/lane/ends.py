"""Both ends of a chain: what its receivers ask for, and applications that look closely."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.columns import Columns
from heliograph.event.digest import Digest, check_digest
from heliograph.event.event import Position
from heliograph.policy.document import loads
from heliograph.policy.limits import Limits

if TYPE_CHECKING:
    from random import Random

    from heliograph.client.receiver import Receiver
    from heliograph.event.schema import Schema
    from heliograph.lane.lane import Lane
    from heliograph.policy.model import Policy

STREAM: Final = "s"
FILTERS: Final[list[dict[str, Any]]] = [
    {"name": "EVERY", "n": 2},
    {"name": "EVERY", "n": 3, "action": "drop"},
    {"name": "RANDOM", "fraction": 0.4},
    {"name": "LATEST", "window": 3},
    {"name": "LT", "attribute": "a", "value": 6},
    {"name": "UNIQ", "attribute": "a"},
]
ALWAYS: Final[list[dict[str, Any]]] = [
    {"name": "LT", "attribute": "a", "value": 6},
    {"name": "GE", "attribute": "a", "value": 9},
    {"name": "NE", "attribute": "a", "value": 0},
]


def some_policy(random: Random) -> Policy:
    """Return a policy that drops much whenever it may."""
    levels: list[dict[str, Any]] = [
        {"filters": [random.choice(FILTERS)]} for _ in range(random.randint(0, 2))
    ]
    if random.random() < 0.4:
        levels.insert(0, {"always": True, "filters": [random.choice(ALWAYS)]})
    document: dict[str, Any] = {
        "levels": levels,
        "summary": {"each": random.choice(["pack", "run"]), "digesters": [{"name": "COUNT"}]},
    }
    if random.random() < 0.3:
        document["rest"] = random.choice(["newest", "oldest"])
    return loads(json.dumps(document))


def some_limits(random: Random) -> Limits:
    """Return limits that are soon reached."""
    entries = random.choice([2, 4, 8, 16, 32])
    size = random.choice([None, None, 1_024, 4_096])
    return Limits(entries, size)


class Member:
    """A receiver as the planet knows it."""

    def __init__(self, number: int, policy: Policy, limits: Limits) -> None:
        """Begin without a lane."""
        self.number = number
        self.policy = policy
        self.limits = limits
        self.lane: Lane | None = None
        self.bit = 0


class End:
    """An application: what it has been given, checked number by number with a plain set."""

    def __init__(self, receiver: Receiver) -> None:
        """Begin with the books of a receiver that has not begun."""
        self.receiver = receiver
        self.counted: Counter[str] = Counter()
        self.begin(Position(0, 0))

    def begin(self, begin: Position) -> None:
        """Begin where the receiver was told that it begins."""
        self.epoch, self.base = begin
        self.last = self.base
        self.got: set[int] = set()  # Behind `base`, up to where all is settled.

    @property
    def missing(self) -> list[int]:
        """The numbers up to the last that have neither come nor been settled."""
        return [number for number in range(self.base + 1, self.last + 1) if number not in self.got]

    def take(self, count: int, values: dict[Position, int], schemas: dict[int, Schema]) -> None:
        """Take what waits, and look at it closely."""
        for item in self.receiver.take(count):
            if item.epoch != self.epoch:
                assert item.epoch > self.epoch
                assert not self.missing, "numbers of an epoch are open when it ends"
                self.begin(Position(item.epoch, 0))
            if isinstance(item, Digest):
                self._digest(item)
                continue
            column = Columns([item], schemas[item.epoch]).column("a").tolist()
            for number, value in zip(item.numbers().tolist(), column, strict=True):
                assert number > self.last, "it came twice, or out of order"
                assert value == values[Position(item.epoch, number)]
                self.last = number
                self.got.add(number)
            self.counted["events"] += item.count

    def _digest(self, digest: Digest) -> None:
        check_digest(digest)
        # Behind a marker a digest goes on from there, for nothing is missing before it.
        assert self.base <= digest.after <= digest.upto >= self.last
        assert self.got.issuperset(range(self.base + 1, digest.after + 1))
        came = sum(number > digest.after for number in self.got)
        assert came + digest.settled == digest.upto - digest.after
        assert digest.upto > self.base, "it goes no further than what is settled"
        assert sum(part.known for part in digest.parts) <= digest.count
        self.begin(Position(digest.epoch, digest.upto))
        self.counted["dropped"] += digest.count - digest.gap
        self.counted["gap"] += digest.gap
        self.counted["filtered"] += digest.filtered
        self.counted["digests"] += 1

    def finish(self, values: dict[Position, int], schemas: dict[int, Schema]) -> Position | None:
        """Take all that waits; return how far this receiver has come, if it has begun."""
        receiver = self.receiver
        lane, account = receiver.lane, receiver.account
        if lane is None or account is None:
            return None
        lane.owed.settle(lane)
        while lane.head() is not None:
            self.take(1_000, values, schemas)
        assert not lane.pending
        assert not self.missing
        # Of an epoch in which nothing has come yet an application has seen nothing.
        reached = Position(self.epoch, self.last)
        assert account.position == reached or (account.last == 0 and account.epoch > self.epoch)
        return account.position
