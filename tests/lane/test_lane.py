"""Lane: FIFO, its books, and what a pack leaves of it."""

from __future__ import annotations

from random import Random

import pytest

from heliograph.event.errors import EventError, PolicyError
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.event.types import Type
from heliograph.lane.entry import Entry
from heliograph.lane.squeeze import pack_lane
from heliograph.policy import build
from heliograph.policy.aim import Aim
from heliograph.policy.builtin import NEWEST
from heliograph.policy.ladder import Flow
from heliograph.policy.limits import Limits
from lane.lanes import (
    MARK,
    SCHEMA,
    START,
    WORST,
    check_lane,
    check_whole,
    digest,
    drained,
    events,
    held,
    lane_of,
    offer,
    shown,
    some,
    unreadable,
)

EVERY = build.policy(None, build.every(2))


def test_a_lane_is_fifo_and_shares_the_entries_that_it_holds() -> None:
    one, other = lane_of(), lane_of(EVERY)
    entries = [Entry(events(1, 2)), Entry(events(3, 4))]
    for lane in (one, other):
        for entry in entries:
            lane.offer(entry, 0)
        assert [lane.take(), lane.take(), lane.take()] == [*entries, None]


def test_a_lane_counts_what_it_holds_and_what_left() -> None:
    lane = lane_of(WORST, Limits(8, 1_000))
    assert (lane.fill, lane.held_entries) == (0, 0)
    offer(lane, events(1, 3), digest(0, 4, 1))
    check_lane(lane)
    assert lane.fill == max(4 / 8, lane.held_bytes / 1_000)
    list(drained(lane))
    check_lane(lane)
    assert (lane.taken, lane.fill) == (3, 0)


def test_a_head_stays_until_it_is_taken() -> None:
    lane = lane_of()
    assert lane.head() is None
    offer(lane, events(1, 2), events(3, 3))
    head = lane.head()
    assert head is lane.head() is lane.take()
    assert held(lane) == [3]


def test_a_lane_whose_policy_cannot_apply_is_refused() -> None:
    with pytest.raises(PolicyError, match="declares no attribute b"):
        lane_of(build.policy("b", build.uniq()))
    lane = lane_of(build.policy("a", build.gt(1)))
    with pytest.raises(PolicyError, match="1 cannot be compared with attribute a"):
        lane.rebind(Schema.declare({"a": "string"}))


def test_a_lane_goes_on_with_a_schema_that_has_grown() -> None:
    lane = lane_of(EVERY, 4)
    offer(lane, events(1, 2))
    lane.rebind(SCHEMA.evolve({"b": Type.STRING}))
    assert lane.bound.schema.version == 2
    offer(lane, events(3, 5))
    assert held(lane) == [1, 3, (0, 4, 2, 0), 5]


def test_how_far_nothing_is_missing_follows_what_was_taken() -> None:
    lane = lane_of()
    offer(lane, events(1, 2), some(3, 5), events(6, 6), digest(0, 6, 1), events(7, 7))
    found = []
    while lane.take() is not None:
        found.append((lane.reached, lane.begin))
    assert found == [
        ((1, 2), (1, 0)),
        ((1, 3), (1, 0)),
        ((1, 3), (1, 0)),
        ((1, 6), (1, 6)),
        ((1, 7), (1, 6)),
    ]


def test_what_was_taken_is_beyond_the_reach_of_a_pack() -> None:
    lane = lane_of(WORST, 4)
    offer(lane, events(1, 2), events(3, 4))
    lane.take()
    offer(lane, events(5, 9))
    assert held(lane) == [(0, 6, 4, 0), 7, 8, 9]
    check_whole([events(1, 2), *drained(lane)], 9)


def test_a_marker_in_an_empty_lane_is_passed_at_once() -> None:
    lane = lane_of()
    offer(lane, events(1, 3))
    lane.take()
    lane.mark(1, 3)
    assert (held(lane), lane.marks, lane.begin, lane.reached) == ([], 0, (1, 3), (1, 3))
    offer(lane, digest(0, 5, 2))
    assert held(lane) == [(3, 5, 2, 0)]
    lane = lane_of()
    lane.mark(1, 9)
    assert (lane.begin, lane.reached) == ((1, 9), (1, 9))


def test_a_marker_is_not_for_whoever_drains() -> None:
    for look in (True, False):
        lane = lane_of()
        offer(lane, events(1, 1))
        lane.mark(1, 1)
        lane.mark(1, 1)
        assert (held(lane), lane.marks) == ([1, MARK, MARK], 2)
        lane.take()
        if look:
            assert lane.head() is None
        assert lane.take() is None
        check_lane(lane)
        assert (lane.begin, lane.pool.bytes) == ((1, 1), 0)


def test_what_an_always_level_removed_is_told_before_a_marker() -> None:
    lane = lane_of(build.policy("a", always=build.ge(3)))
    offer(lane, events(1, 3))
    lane.mark(1, 3)
    offer(lane, digest(3, 5, 2))
    assert held(lane) == [3, (0, 3, 0, 2), MARK, (3, 5, 2, 0)]


def test_a_marker_ends_what_a_receiver_has_already() -> None:
    lane = lane_of(begin=Position(1, 5))
    lane.skip = Position(1, 5)
    lane.mark(1, 4)
    assert lane.skip is not None
    lane.mark(1, 5)
    assert lane.skip is None


def test_an_epoch_with_a_schema_of_its_own_begins_behind_a_marker() -> None:
    lane = lane_of(begin=Position(0, 0))
    lane.turn(SCHEMA, Position(0, 0))
    assert held(lane) == []
    offer(lane, events(1, 2))
    old = lane.bound
    lane.turn(Schema.declare({"b": "int64"}), Position(1, 2))
    marker = lane.entries[-1].item
    assert (marker.epoch, marker.number, marker.bound) == (1, 2, old)  # type: ignore[union-attr]
    assert lane.bound.schema.tags == ("b",)


def test_a_head_may_be_cut_in_two() -> None:
    lane = lane_of()
    offer(lane, events(1, 5), events(6, 7))
    lane.split_head(*map(Entry, events(1, 5).split(2, SCHEMA)))
    check_lane(lane)
    assert [one.count for one in lane.entries] == [2, 3, 2]
    assert lane.pool.bytes == lane.held_bytes
    assert held(lane) == list(range(1, 8))


def test_a_lane_may_begin_again_with_what_was_taken() -> None:
    lane = lane_of(WORST, 4)
    offer(lane, events(1, 3), digest(0, 5, 2))
    entries = [lane.take(), lane.take()]
    offer(lane, some(9))
    lane.mark(1, 9)
    lane.pending = (digest(5, 9, 1),)
    lane.restart([one for one in entries if one is not None], START)
    assert (held(lane), lane.marks, len(lane.pending)) == ([1, 2, 3, (0, 5, 2, 0)], 0, 0)
    assert (lane.begin, lane.reached, lane.told) == ((1, 0), (1, 0), (1, 5))
    check_lane(lane)
    offer(lane, events(6, 8))
    check_whole(drained(lane), 8)


def test_packs_are_counted_by_level_and_what_they_dropped_by_reason() -> None:
    policy = build.policy("a", build.latest(2), build.le(2), always=build.ne(4))
    lane = lane_of(policy, 4)
    offer(lane, events(1, 6))
    assert (held(lane), lane.packs) == ([3, 5, (0, 5, 2, 1), 6], 1)
    lane.controller = None
    lane.policy = WORST
    lane.rebind(SCHEMA)
    offer(lane, events(7, 8))
    assert held(lane) == [(0, 6, 5, 1), 7, 8]
    assert (lane.packs, dict(lane.levels)) == (2, {1: 2})
    assert dict(lane.dropped) == {"policy": 2, "worst": 3}
    assert lane.filtered == 1


def test_a_level_that_was_needed_stays_the_lanes() -> None:
    lane = lane_of(build.policy(None, build.latest(50), build.every(2)), 4)
    offer(lane, events(1, 5))
    assert (lane.level, lane.controller is not None) == (2, True)
    assert lane.choose(1).level == 2


def test_a_controller_is_told_what_passed_since_the_pack_before() -> None:
    lane = lane_of(WORST, Limits(4, 4_000))
    offer(lane, events(1, 3))
    assert lane.flow() == Flow(lane.held_bytes, 0, lane.held_bytes, emptied=True)
    offer(lane, events(4, 4))
    assert lane.flow() == Flow(4, 0, 4, emptied=True)
    pack_lane(lane, 0)
    offer(lane, events(5, 6), some(7))
    lane.take()
    lane.take()
    offer(lane, some(8), events(9, 10))
    assert lane.flow() == Flow(6, 3, 4, emptied=False)
    list(drained(lane))
    offer(lane, events(11, 14))
    assert lane.flow().emptied


class Half(Aim):
    """A controller that has half of a lane count as full."""

    def choose(self, now: int, flow: Flow) -> int:
        level = super().choose(now, flow)
        self.fill = 0.5
        return level


def test_a_controller_may_have_a_lane_count_as_full_before_it_is() -> None:
    lane = lane_of(WORST, 8, control=Half)
    offer(lane, events(1, 9))
    assert (lane.entries_max, lane.limits.entries) == (4, 8)
    offer(lane, events(10, 12))
    assert held(lane) == [(0, 11, 11, 0), 12]


def test_members_are_whatever_their_owner_calls_them() -> None:
    lane = lane_of()
    lane.members.append(7)
    assert (lane.members, lane_of().members) == ([7], [])


def test_a_lane_whose_rows_cannot_be_read_says_so_and_may_be_given_up() -> None:
    lane = lane_of(build.policy("a", build.gt(2)), 4)
    offer(lane, unreadable(1, 3))
    with pytest.raises(EventError):
        offer(lane, events(4, 6))
    lane.discard(Entry(events(4, 6)))
    assert held(lane) == [(0, 6, 6, 0)]
    assert dict(lane.dropped) == {"unreadable": 6}
    offer(lane, events(7, 8))
    check_whole(drained(lane), 8)


@pytest.mark.parametrize("seed", range(30))
def test_through_two_lanes_in_a_row_every_number_comes_once(seed: int) -> None:
    random = Random(seed)
    policies = [WORST, NEWEST, EVERY, build.policy("a", build.latest(3), always=build.ge(9))]
    each_run = build.policy(None, build.every(3, action="drop"), each="run")
    first = lane_of(random.choice([WORST, NEWEST, EVERY, each_run]), random.choice([3, 9]))
    second = lane_of(random.choice([*policies, each_run]), random.choice([2, 5, 40]))
    number, got, marks = 0, [], set()
    for _ in range(150):
        match random.choice(["publish", "pass", "take", "mark"]):
            case "publish":
                count = random.choice([1, 2, 7])
                offer(first, events(number + 1, number + count))
                number += count
            case "pass" if (entry := first.take()) is not None:
                second.offer(entry, 0)
            case "take" if (entry := second.take()) is not None:
                got.append(entry.item)
            case "mark" if not first.entries:
                second.mark(*first.reached)
                marks.add(first.reached.number)
        check_lane(first)
        check_lane(second)
    while (entry := first.take()) is not None:
        second.offer(entry, 0)
    second.owed.settle(second)
    assert second.pending == ()
    check_whole([*got, *drained(second)], number, marks)  # type: ignore[list-item]
    assert len(shown(got)) > 10
