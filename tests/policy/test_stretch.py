from __future__ import annotations

from typing import TYPE_CHECKING

from heliograph.event.digest import Digest
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.policy.pack import Held
from heliograph.policy.stretch import epochs_of, reach
from policy.runs import events
from policy.strategies_policy import block

if TYPE_CHECKING:
    from heliograph.event.block import Block

SCHEMA = Schema.declare({"a": "int64"})


def run(*numbers: int, epoch: int = 1) -> Block:
    return block([events(n, first=n, epoch=epoch)[0] for n in numbers], SCHEMA)


def test_nothing_is_missing_behind_what_was_sent_on_without_a_gap() -> None:
    here = Position(1, 10)
    assert reach(here, run(11, 12)) == (1, 12)
    assert reach(here, run(11, 13)) == (1, 11)
    assert reach(here, run(12)) == (1, 10)
    assert reach(here, Digest("s", 1, 5, 14, 4)) == (1, 14)
    assert reach(here, Digest("s", 1, 5, 9, 4)) == (1, 10)
    assert reach(here, run(1, 2, epoch=2)) == (2, 2)
    assert reach(here, run(2, epoch=2)) == (2, 0)


def test_a_stretch_lies_between_two_digests() -> None:
    told = Digest("s", 1, 0, 4, 1)
    lane = Held([run(1, 2, 4), told, run(5, 6), run(8), run(1, epoch=2)])
    (first, (one, two)), (second, (three,)) = epochs_of(lane)
    assert (first, second) == (1, 2)
    assert (one.start, one.end, one.reach, one.broken, one.closing) == (0, 3, 2, True, told)
    assert (two.start, two.end, two.reach, two.broken, two.closing) == (3, 6, 6, True, None)
    assert (three.start, three.end, three.reach, three.broken) == (6, 7, 1, False)


def test_a_lane_of_nothing_has_no_stretch() -> None:
    assert list(epochs_of(Held([]))) == []
