from __future__ import annotations

import pytest

from heliograph.event.block import Block
from heliograph.event.digest import Digest, Part
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.policy.merge import absorb
from heliograph.policy.pack import Held, pack
from heliograph.policy.settlement import Packed, bare
from policy.runs import bound, events
from policy.strategies_policy import block

SCHEMA = Schema.declare({"a": "int64"})
WORST = bound(schema=SCHEMA)
LATEST = {"name": "LATEST", "window": 1}


def run(*numbers: int, epoch: int = 1) -> Block:
    return block([events(n, first=n, epoch=epoch)[0] for n in numbers], SCHEMA)


def shown(entries: list[Block | Digest]) -> list[object]:
    """Write entries down shortly: numbers of events, and what digests settle."""
    found: list[object] = []
    for one in entries:
        if isinstance(one, Block):
            found += one.numbers().tolist()
        else:
            found.append((one.after, one.upto, one.count))
    return found


@pytest.mark.parametrize("each", ["pack", "run"])
def test_what_is_dropped_behind_a_gap_waits_for_the_digest_that_settles_it(each: str) -> None:
    """The entries 15 to 17 have overtaken the digest of 11 to 14: it stands behind them."""
    one = bound(LATEST, schema=SCHEMA, summary={"each": each})
    first = pack(Held([run(9, 10, 15, 16, 17)], Position(1, 8)), one, 1)
    assert shown(first.entries) == [(8, 10, 2), 17]
    (held,) = first.pending
    assert (held.after, held.upto, held.count) == (10, 17, 2)
    pending, digest = absorb(first.pending, Digest("s", 1, 8, 17, 4), Position(1, 10))
    assert pending == ()
    assert (digest.after, digest.upto, digest.count) == (10, 17, 6)


@pytest.mark.parametrize("each", ["pack", "run"])
def test_what_is_pending_is_not_settled_by_a_digest_in_front_of_its_gap(each: str) -> None:
    one = bound(LATEST, schema=SCHEMA, summary={"each": each})
    before = Digest("s", 1, 0, 10, 10)
    found = pack(Held([before, run(15, 16, 17)]), one, 1)
    for _ in range(3):
        found = pack(Held(found.entries, pending=found.pending), one, 1)
        assert shown(found.entries) == [(0, 10, 10), 17]
        assert [(held.after, held.upto, held.count) for held in found.pending] == [(10, 17, 2)]


@pytest.mark.parametrize("each", ["pack", "run"])
def test_a_digest_in_the_lane_takes_up_what_was_pending_before_it(each: str) -> None:
    one = bound(LATEST, schema=SCHEMA, summary={"each": each})
    first = pack(Held([run(15, 16, 17)], Position(1, 10)), one, 1)
    entries: list[Block | Digest] = [*first.entries, Digest("s", 1, 10, 17, 4), run(18)]
    found = pack(Held(entries, Position(1, 10), first.pending), one, 0)
    assert shown(found.entries) == [17, (10, 17, 6), 18]
    assert found.pending == ()


def test_what_is_pending_in_one_epoch_is_left_alone_by_another() -> None:
    held = Digest("s", 1, 10, 17, 2)
    found = pack(Held([run(1, 2, epoch=2)], pending=(held,)), WORST, 1)
    assert found.pending == (held,)
    assert absorb((held,), Digest("s", 2, 0, 3, 1), Position(1, 10)) == (
        (held,),
        Digest("s", 2, 0, 3, 1),
    )


def test_a_digest_stands_behind_the_last_entry_that_it_covers() -> None:
    one = bound({"name": "EVERY", "n": 2}, schema=SCHEMA)
    entries: list[Block | Digest] = [run(1, 2, 3), run(7, 8, 9)]
    assert shown(pack(Held(entries), one, 1).entries) == [1, 3, (0, 3, 1), 8]
    closed: list[Block | Digest] = [*entries, Digest("s", 1, 0, 9, 3)]
    assert shown(pack(Held(closed), one, 1).entries) == [1, 3, 8, (0, 9, 6)]


def test_a_digest_that_settles_nothing_leaves_its_interval_to_the_next() -> None:
    entries: list[Block | Digest] = [run(1, 2), Digest("s", 1, 0, 2, 0), run(3, 4)]
    one = bound(LATEST, schema=SCHEMA, summary={"each": "run"})
    assert shown(pack(Held(entries), one, 0).entries) == [1, 2, 3, 4]
    assert shown(pack(Held(entries), one, 1).entries) == [(0, 3, 3), 4]


def test_bare_digests_say_only_how_many_and_when() -> None:
    told = Digest("s", 1, 0, 5, 2, 1, 10, 20, (Part("MAX", "a", 2, 7),))
    short = Digest("s", 1, 0, 5, 2, 1, 10, 20)
    found = bare(Packed([run(1), told], 2, (told,)))
    assert found == Packed([run(1), short], 2, (short,))
