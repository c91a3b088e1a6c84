"""Squeeze: a pack of all that waits, and of what stands between markers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from heliograph.event.block import Block
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.event.types import Type
from heliograph.lane.budget import Budget
from heliograph.lane.entry import Entry
from heliograph.lane.squeeze import PACK_STEPS, fold_lane, pack_lane
from heliograph.policy import build
from heliograph.policy.ladder import Ladder
from heliograph.policy.limits import Limits
from heliograph.policy.pack import Held, pack
from lane.lanes import (
    MARK,
    SCHEMA,
    START,
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
)

if TYPE_CHECKING:
    from heliograph.policy.model import Policy

EVERY = build.policy(None, build.every(2), build.every(4))


def test_a_pack_runs_the_level_of_the_controller_over_all_that_waits() -> None:
    lane = lane_of(EVERY, 100)
    offer(lane, events(1, 4), events(5, 8))
    pack_lane(lane, 7)
    assert held(lane) == [1, 3, 5, 7, (0, 8, 4, 0)]
    assert (lane.level, lane.packs, dict(lane.levels)) == (1, 1, {1: 1})
    assert dict(lane.dropped) == {"policy": 4}
    check_lane(lane)


def test_a_pack_that_does_not_free_enough_goes_on_to_the_next_level() -> None:
    lane = lane_of(EVERY, 4)
    offer(lane, events(1, 4))
    lane.full = Limits(4, None, 0.5)
    pack_lane(lane, 0)
    assert (lane.level, held(lane)) == (2, [1, (0, 4, 3, 0)])
    lane = lane_of(build.policy(None, build.latest(9)), 4)
    offer(lane, events(1, 4))
    pack_lane(lane, 0)
    assert (lane.level, held(lane)) == (2, [(0, 4, 4, 0)])
    assert dict(lane.dropped) == {"worst": 4}


def test_packs_of_one_lane_do_not_decide_alike() -> None:
    policy = build.policy(None, build.random(0.5))
    lane, found = lane_of(policy, 1_000), []
    for ordinal in range(2):
        lane.restart([Entry(events(1, 64))], START)
        pack_lane(lane, 0)
        held_then = Held([events(1, 64)], START, (), START)
        assert held(lane) == shown(pack(held_then, lane.bound, 1, ordinal=ordinal).entries)
        found.append(held(lane))
    assert found[0] != found[1]


def test_what_a_pack_leaves_whole_keeps_its_frame() -> None:
    lane = lane_of(build.policy("a", build.ge(5)), 100)
    offer(lane, events(1, 4), events(5, 8))
    entry = lane.entries[1]
    pack_lane(lane, 0)
    assert held(lane) == [5, 6, 7, 8, (0, 8, 4, 0)]
    assert lane.entries[0] is entry


@pytest.mark.parametrize(("coming", "left"), [(0, [1, 2, 3, 4, 5]), (1, [1, 3, (0, 5, 3, 0)])])
def test_room_is_made_for_what_comes(coming: int, left: list[object]) -> None:
    policy = build.policy(None, build.latest(9), [build.every(2), build.lt(5, attribute="a")])
    lane = lane_of(policy, Limits(100, 1_664))
    offer(lane, *(some(number) for number in range(1, 6)))
    pack_lane(lane, 0, coming=coming and 1_664 - lane.held_bytes)
    assert held(lane) == left


def test_past_its_budget_a_lane_is_folded_and_the_reason_is_told() -> None:
    cost = PACK_STEPS + 8 * 3
    lane = lane_of(EVERY, 100, budget=Budget(cost))
    offer(lane, events(1, 8))
    pack_lane(lane, 0)
    assert (held(lane)[:4], dict(lane.dropped)) == ([1, 3, 5, 7], {"policy": 4})
    offer(lane, events(9, 12))
    pack_lane(lane, 0)
    assert held(lane) == [(0, 12, 12, 0)]
    assert dict(lane.dropped) == {"policy": 4, "budget": 8}
    offer(lane, events(13, 16))
    pack_lane(lane, 1_000_000_000)
    assert lane.dropped["policy"] > 4
    check_whole(drained(lane), 16)


@pytest.mark.parametrize(
    ("policy", "count", "steps"),
    [
        (build.policy(None), 4, 4),
        (build.policy(None, build.every(2)), 4, 4 * 2),
        (build.policy("a", [build.every(2), build.ge(0)], always=build.ge(0)), 40, 40 * 4),
    ],
)
def test_the_more_events_and_filters_the_more_a_pack_costs(
    policy: Policy, count: int, steps: int
) -> None:
    for more in range(2):
        budget = Budget(PACK_STEPS + steps + more)
        lane = lane_of(policy, 100)
        offer(lane, events(1, count))
        lane.budget = budget
        pack_lane(lane, 0)
        assert budget.spent(0) == (more == 0)


def test_no_digest_reaches_across_a_marker() -> None:
    lane = lane_of(EVERY, 100)
    offer(lane, events(1, 4))
    lane.mark(1, 4)
    offer(lane, events(5, 9))
    lane.mark(1, 9)
    pack_lane(lane, 0)
    assert held(lane) == [1, 3, (0, 4, 2, 0), MARK, 5, 7, 9, (4, 9, 2, 0), MARK]
    assert lane.marks == 2
    pack_lane(lane, 0)
    check_lane(lane)
    assert held(lane).count(MARK) == 2
    check_whole(drained(lane), 9)


def test_the_parts_between_markers_are_packed_at_one_level() -> None:
    lane = lane_of(EVERY, Limits(10, None, 0.3))
    offer(lane, events(1, 2))
    lane.mark(1, 2)
    offer(lane, events(3, 9))
    pack_lane(lane, 0)
    assert held(lane) == [1, (0, 2, 1, 0), MARK, 3, (2, 9, 6, 0)]
    assert lane.level == 2


def test_the_worst_case_of_a_marked_lane_is_a_digest_in_each_part() -> None:
    lane = lane_of(build.policy(), 4)
    offer(lane, events(1, 2))
    lane.mark(1, 2)
    offer(lane, events(3, 9))
    assert held(lane)[:2] == [(0, 2, 2, 0), MARK]
    check_whole(drained(lane), 9)


def test_what_stands_before_a_marker_is_read_by_what_was_bound_then() -> None:
    lane = lane_of(build.policy("a", build.gt(2)), 100, schema=SCHEMA)
    offer(lane, events(1, 4))
    lane.turn(Schema.declare({"b": Type.STRING, "a": Type.INT64}), Position(1, 4))
    offer(lane, digest(0, 5, 5, epoch=2))
    pack_lane(lane, 0)
    assert held(lane) == [3, 4, (0, 4, 2, 0), MARK, (0, 5, 5, 0)]


def test_what_is_pending_belongs_to_the_part_behind_the_last_marker() -> None:
    lane = lane_of(build.policy(), 100)
    offer(lane, events(1, 4))
    lane.mark(1, 4)
    offer(lane, some(8, 9))
    for _ in range(2):
        fold_lane(lane)
        assert held(lane) == [(0, 4, 4, 0), MARK]
        assert [(one.after, one.upto, one.count) for one in lane.pending] == [(4, 9, 2)]
    offer(lane, digest(0, 9, 3))
    assert held(lane)[2:] == [(4, 9, 5, 0)]
    assert lane.pending == ()


def test_a_lane_is_folded_whatever_its_policy_would_keep() -> None:
    lane = lane_of(build.policy("a", build.ge(0), always=build.ge(3), rest="newest"), 100)
    offer(lane, events(1, 8))
    fold_lane(lane)
    assert held(lane) == [(0, 8, 6, 2)]
    assert dict(lane.dropped) == {"worst": 6}
    assert lane.filtered == 2


def test_a_lane_that_grows_as_it_is_cut_into_pieces_is_packed_once_more() -> None:
    policy = build.policy(None, build.every(3, action="drop"), each="run")
    lane = lane_of(policy, Limits(100, 1_664))
    offer(lane, events(1, 30))
    before = lane.held_bytes
    assert before < 512
    pack_lane(lane, 0)
    assert lane.held_bytes <= 1_024
    assert lane.packs == 2
    assert not any(isinstance(one.item, Block) and one.count > 2 for one in lane.entries)
    check_lane(lane)
    check_whole(drained(lane), 30)


def test_what_an_always_level_removed_is_told_by_a_pack() -> None:
    lane = lane_of(build.policy("a", build.every(2), always=build.ge(3)), 100)
    offer(lane, events(1, 6))
    pack_lane(lane, 0)
    assert held(lane) == [3, 5, (0, 6, 2, 2)]
    assert lane.owed.count == 0


def test_what_a_new_policy_filters_in_a_pack_is_not_counted_as_dropped() -> None:
    lane = lane_of(EVERY, 100)
    offer(lane, events(1, 6))
    lane.policy = build.policy("a", build.every(2), always=build.ge(4))
    lane.rebind(SCHEMA)
    pack_lane(lane, 0)
    assert held(lane) == [4, 6, (0, 6, 1, 3)]
    assert dict(lane.dropped) == {"policy": 1}


def test_packs_of_a_marked_lane_do_not_decide_alike() -> None:
    lane, found = lane_of(build.policy(None, build.random(0.5)), 1_000), []
    for _ in range(2):
        lane.restart([Entry(events(1, 64))], START)
        lane.mark(1, 64)
        pack_lane(lane, 0)
        found.append(held(lane))
    assert found[0] != found[1]


class Demanding(Ladder):
    """A controller that asks for half, and remembers what it was told."""

    def __init__(self, top: int) -> None:
        super().__init__(top)
        self.goal = 0.5
        self.told: list[tuple[int, int]] = []

    def packed(self, level: int, now: int) -> None:
        self.told.append((level, now))


def test_a_controller_says_what_to_free_and_is_told_the_level_that_did() -> None:
    lane = lane_of(EVERY, 8, control=Demanding)
    offer(lane, events(1, 8))
    pack_lane(lane, 7)
    assert held(lane) == [1, (0, 8, 7, 0)]
    assert isinstance(lane.controller, Demanding)
    assert lane.controller.told == [(2, 7)]


@pytest.mark.parametrize(("coming", "level"), [(0, 1), (1, 2)])
def test_room_is_made_in_a_marked_lane_for_what_comes(coming: int, level: int) -> None:
    lane = lane_of(build.policy(None, build.latest(9), build.every(2)), Limits(100, 1_740))
    offer(lane, *(some(number) for number in range(1, 6)))
    lane.mark(1, 5)
    pack_lane(lane, 0, coming=coming and 1_740 - lane.held_bytes)
    assert lane.level == level


def test_past_its_budget_each_part_of_a_marked_lane_is_folded() -> None:
    budget = Budget(1)
    budget.spend(9, 0)
    lane = lane_of(EVERY, 100, budget=budget)
    offer(lane, events(1, 4))
    lane.mark(1, 4)
    offer(lane, events(5, 9))
    pack_lane(lane, 0)
    assert held(lane) == [(0, 4, 4, 0), MARK, (4, 9, 5, 0)]
    assert dict(lane.dropped) == {"budget": 9}
