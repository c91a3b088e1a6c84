"""Short words for the tests of lanes: make one, let entries arrive, write down what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heliograph.event import rows
from heliograph.event.block import Block, block_of
from heliograph.event.digest import Digest
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.lane.entry import Entry
from heliograph.lane.lane import Lane
from heliograph.policy.limits import Limits
from heliograph.policy.model import Policy

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from heliograph.lane.entry import Marker

STREAM: Final = "s"
SCHEMA: Final = Schema.declare({"a": "int64"})
START: Final = Position(1, 0)
WORST: Final = Policy()
MARK: Final = "mark"


def some(*numbers: int, epoch: int = 1) -> Block:
    """Return a block of events whose value is their number."""
    return block_of(STREAM, epoch, numbers, numbers, [[n] for n in numbers], SCHEMA)


def events(first: int, last: int, epoch: int = 1) -> Block:
    """Return a block of the events `first` to `last`."""
    return some(*range(first, last + 1), epoch=epoch)


def texts(*sizes: int, first: int = 1) -> Block:
    """Return a block of events of so many bytes each, for limits in bytes; see `TEXT`."""
    numbers = range(first, first + len(sizes))
    return block_of(STREAM, 1, numbers, [0] * len(sizes), [["x" * one] for one in sizes], TEXT)


def unreadable(first: int, last: int, epoch: int = 1) -> Block:
    """Return a block whose rows are bytes that say nothing, as only those find who look."""
    found = events(first, last, epoch)
    return found.with_body(np.arange(found.count), rows.assemble([b"\xc1"] * found.count))


TEXT: Final = Schema.declare({"a": "string"})


def digest(after: int, upto: int, count: int, epoch: int = 1, **more: Any) -> Digest:
    return Digest(STREAM, epoch, after, upto, count, **more)


def lane_of(
    policy: Policy = WORST, limits: Limits | int = 8, *, schema: Schema = SCHEMA, **more: Any
) -> Lane:
    """Return a lane that begins with the stream; limits are most often in entries."""
    limits = Limits(limits) if isinstance(limits, int) else limits
    return Lane(policy, schema, limits, **({"begin": START} | more))


def offer(lane: Lane, *items: Block | Digest, now: int = 0) -> None:
    for item in items:
        lane.offer(Entry(item), now)


def shown(items: Iterable[Block | Digest | Marker]) -> list[Any]:
    """Write items down shortly: numbers of events, what digests settle, and markers."""
    found: list[Any] = []
    for one in items:
        if isinstance(one, Block):
            found += one.numbers().tolist()
        elif isinstance(one, Digest):
            found.append((one.after, one.upto, one.count, one.filtered))
        else:
            found.append(MARK)
    return found


def held(lane: Lane) -> list[Any]:
    """Write down what a lane holds, from its head."""
    return shown(one.item for one in lane.entries)


def drained(lane: Lane) -> Iterator[Block | Digest]:
    """Take all that a lane holds."""
    while (entry := lane.take()) is not None:
        assert isinstance(entry.item, Block | Digest)
        yield entry.item


def check_lane(lane: Lane) -> None:
    """Check that a lane counts what it holds."""
    assert lane.held_entries == sum(one.count for one in lane.entries)
    assert lane.held_bytes == sum(one.size for one in lane.entries)
    assert lane.marks == held(lane).count(MARK)


def check_whole(items: Iterable[Block | Digest], last: int, marks: Container[int] = ()) -> None:
    """Check that each number up to `last` came as an event or is settled, once and in order.

    Behind a marker a digest goes on from there, for of what lies before it nothing is missing.
    """
    after = at = 0
    received: list[int] = []
    for one in items:
        if isinstance(one, Block):
            assert one.first > at, "an event comes too late"
            at = one.last
            received += one.numbers().tolist()
            continue
        if one.after in marks and one.after > after:
            before = [number for number in received if number <= one.after]
            assert before == [*range(after + 1, one.after + 1)], "missing before a marker"
            after, received = one.after, received[len(before) :]
        assert one.after == after, "digests settle consecutive intervals"
        assert one.upto >= at, "a digest stands before an event that it covers"
        assert one.upto - one.after == len(received) + one.settled, "a digest does not add up"
        after = at = one.upto
        received = []
    assert at == last
    assert received == [*range(after + 1, last + 1)], "missing behind the last digest"
