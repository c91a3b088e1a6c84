"""Arrival: the same events get into a lane however they are cut, and it stays within its limits."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.digest import Part
from heliograph.event.event import Position
from heliograph.lane.budget import Budget
from heliograph.lane.entry import Marker
from heliograph.lane.squeeze import PACK_STEPS
from heliograph.policy import build
from heliograph.policy.aim import Aim
from heliograph.policy.builtin import NEWEST, OLDEST
from heliograph.policy.ladder import Ladder
from heliograph.policy.limits import Limits
from lane.lanes import (
    MARK,
    TEXT,
    WORST,
    check_lane,
    check_whole,
    digest,
    drained,
    events,
    held,
    lane_of,
    offer,
    some,
    texts,
)
from strategies import PROPERTY

if TYPE_CHECKING:
    from heliograph.event.block import Block
    from heliograph.event.digest import Digest
    from heliograph.policy.model import Policy

POLICIES = [
    WORST,
    NEWEST,
    OLDEST,
    build.policy(None, build.every(2), build.every(5)),
    build.policy("a", build.every(3, action="drop"), each="run"),
    build.policy(None, build.random(0.3), build.random(0.6)),
    build.policy("a", build.latest(2), always=build.ge(20)),
    build.policy("a", build.every(2), always=build.random(0.4), each="run"),
    build.policy("a", always=[build.ge(10), build.le(60)], rest="newest"),
]


def cut(last: int, edges: list[int]) -> list[Block]:
    """Return the events 1 to `last` as blocks that end at the edges."""
    ends = [*sorted({edge for edge in edges if 0 < edge < last}), last]
    return [events(a + 1, b) for a, b in zip([0, *ends], ends, strict=False)]


@PROPERTY
@given(
    st.sampled_from(POLICIES),
    st.sampled_from([Ladder, Aim]),
    st.sampled_from([2, 3, 8, 40]),
    st.integers(1, 120),
    st.lists(st.integers(1, 119), max_size=20),
    st.lists(st.integers(1, 119), max_size=20),
)
def test_a_lane_holds_the_same_however_its_events_were_cut(
    policy: Policy,
    control: type,
    entries: int,
    last: int,
    one: list[int],
    other: list[int],
) -> None:
    lanes = [lane_of(policy, entries, control=control) for _ in range(2)]
    for lane, edges in zip(lanes, (one, other), strict=True):
        offer(lane, *cut(last, edges))
        lane.owed.settle(lane)
        check_lane(lane)
    assert held(lanes[0]) == held(lanes[1])
    assert lanes[0].dropped == lanes[1].dropped
    assert lanes[0].levels == lanes[1].levels
    check_whole(drained(lanes[0]), last)


class Upstream:
    """What a lane is offered by a host that packs: blocks with gaps, and digests that fit."""

    def __init__(self) -> None:
        self.last = self.told = self.came = 0

    def block(self, kept: list[bool]) -> Block | None:
        """Return the next events, of which those that are not kept were dropped upstream."""
        numbers = [number for number, keep in enumerate(kept, self.last + 1) if keep]
        self.last += len(kept)
        self.came += len(numbers)
        return some(*numbers) if numbers else None

    def digest(self) -> Digest:
        """Return what settles all that has not come."""
        after, self.told = self.told, self.last
        came, self.came = self.came, 0
        return digest(after, self.last, self.last - after - came)


steps = st.lists(
    st.one_of(
        st.lists(st.booleans(), min_size=1, max_size=30),
        st.lists(st.just(True), min_size=1, max_size=30),  # noqa: FBT003 - all of them.
        st.just("digest"),
        st.integers(1, 5),
    ),
    max_size=40,
)


@PROPERTY
@given(
    st.sampled_from(POLICIES),
    st.sampled_from([Limits(2), Limits(5), Limits(30), Limits(None, 600), Limits(8, 1_024)]),
    steps,
)
def test_whatever_comes_a_lane_stays_within_its_limits_and_counts_every_number(
    policy: Policy, limits: Limits, steps: list[list[bool] | str | int]
) -> None:
    lane, host = lane_of(policy, limits), Upstream()
    got: list[Block | Digest] = []
    for step in [*steps, "digest"]:
        if isinstance(step, int):
            taken = [entry for entry in (lane.take() for _ in range(step)) if entry is not None]
            got += [entry.item for entry in taken if not isinstance(entry.item, Marker)]
        else:
            item = host.digest() if isinstance(step, str) else host.block(step)
            if item is not None:
                offer(lane, item)
        check_lane(lane)
        owed = 1 if policy.always else 0
        assert lane.held_entries <= (limits.entries or 10**9) + owed
        assert lane.held_bytes <= (limits.bytes or 10**9) + 160 * owed
    lane.owed.settle(lane)
    assert lane.pending == ()
    check_whole([*got, *drained(lane)], host.last)


def test_a_block_that_fits_is_let_in_whole_beside_others() -> None:
    lane = lane_of(WORST, 8)
    offer(lane, events(1, 3), events(4, 8))
    assert [one.count for one in lane.entries] == [3, 5]
    assert lane.packs == 0


def test_a_lane_is_filled_before_it_is_packed() -> None:
    lane = lane_of(WORST, 8)
    offer(lane, events(1, 5), events(6, 9))
    assert held(lane) == [(0, 8, 8, 0), 9]


def test_a_block_larger_than_a_lane_comes_in_pieces() -> None:
    lane = lane_of(NEWEST, 8)
    offer(lane, events(1, 100))
    assert held(lane)[0][0] == 0
    assert held(lane)[-1] == 100
    assert lane.held_entries <= 8
    assert lane.packs > 10


def test_a_lane_full_of_bytes_makes_room_for_an_event_that_stands_alone() -> None:
    """Cut off from its block an event costs its bookkeeping too, which the pack has to free."""
    lane = lane_of(NEWEST, Limits(8, 1_024))
    for first in range(1, 400, 7):
        offer(lane, events(first, first + 6))
        assert lane.held_entries <= 8
        assert lane.held_bytes <= 1_024


@pytest.mark.parametrize("seed", range(8))
def test_room_is_made_for_what_an_always_level_leaves_of_a_block(seed: int) -> None:
    """Fewer events share the bookkeeping of what is left than shared that of the block."""
    random, always = Random(seed), build.random(0.5, seed=4)
    policy = build.policy("a", build.random(0.3), always=always, each="run", rest="newest")
    lane, number = lane_of(policy, Limits(6, 1_024)), 0
    for _ in range(60):
        count = random.randint(1, 14)
        offer(lane, events(number + 1, number + count))
        number += count
        assert lane.held_entries <= 6 + 1
        assert lane.held_bytes <= 1_024 + 160
        if random.random() < 0.3:
            lane.take()


def test_an_event_larger_than_the_lane_becomes_a_digest() -> None:
    lane = lane_of(WORST, Limits(None, 600), schema=TEXT)
    offer(lane, texts(10, 1_000, 10), texts(900, first=4))
    assert held(lane) == [(0, 4, 4, 0)]
    offer(lane, texts(5, first=5))
    assert held(lane) == [(0, 4, 4, 0), 5]


def test_room_is_made_before_a_digest_comes_which_goes_on_from_there() -> None:
    lane = lane_of(WORST, 4)
    offer(lane, events(1, 4), digest(0, 6, 2))
    assert held(lane) == [(0, 4, 4, 0), (4, 6, 2, 0)]


def test_a_digest_that_is_larger_than_the_room_is_folded_in() -> None:
    lane = lane_of(WORST, Limits(None, 512))
    offer(lane, *(digest(n, n + 1, 1) for n in range(10)))
    assert lane.held_bytes <= 512
    check_whole(drained(lane), 10)


def test_digests_whose_parts_leave_no_room_lose_some_and_no_count() -> None:
    lane = lane_of(WORST, Limits(None, 512), schema=TEXT)
    for number, name in enumerate(("MAX", "MIN")):
        parts = (Part(name, "a", 1, "x" * 250),)
        offer(lane, digest(number, number + 1, 1, parts=parts, first_time=number))
        assert lane.held_bytes <= 512
    assert held(lane) == [(0, 2, 2, 0)]


def test_a_digest_from_upstream_says_what_was_filtered_before_it_too() -> None:
    lane = lane_of(build.policy("a", always=build.ge(5)), 8)
    offer(lane, events(1, 3), some(6), digest(0, 6, 2))
    lane.owed.settle(lane)
    assert held(lane) == [6, (0, 6, 2, 3)]
    check_whole(drained(lane), 6)


def test_what_a_receiver_has_already_is_not_let_in_again() -> None:
    lane = lane_of(begin=Position(1, 6))
    lane.skip = Position(1, 6)
    offer(lane, events(1, 4), digest(0, 5, 1))
    assert held(lane) == []
    offer(lane, events(6, 8), digest(5, 9, 1))
    assert held(lane) == [7, 8, (6, 9, 1, 0)]
    assert lane.skip is None


def test_a_digest_on_both_sides_of_what_a_receiver_has_tells_a_gap_of_the_rest() -> None:
    lane = lane_of(begin=Position(1, 6))
    lane.skip = Position(1, 6)
    offer(lane, some(3, 8, 10), digest(0, 12, 9, filtered=3))
    assert held(lane) == [8, 10, (6, 12, 4, 0)]
    (told,) = [one.item for one in lane.entries if one.count == 1 and one.last == 12]
    assert told == digest(6, 12, 4, gap=4)
    assert lane.skip is None


def test_a_new_epoch_is_not_skipped() -> None:
    lane = lane_of(begin=Position(1, 6))
    lane.skip = Position(1, 6)
    offer(lane, events(1, 3, epoch=2))
    assert held(lane) == [1, 2, 3]
    assert lane.skip is None


def test_past_its_budget_a_block_is_folded_at_once() -> None:
    lane = lane_of(build.policy(None, build.every(2)), 8, budget=Budget(2 * PACK_STEPS))
    offer(lane, events(1, 200))
    assert lane.packs <= 4
    assert lane.held_entries <= 8
    assert dict(lane.dropped).keys() == {"policy", "budget"}
    check_whole(drained(lane), 200)


@pytest.mark.parametrize(("filters", "steps"), [(1, 500), (3, 900)])
def test_an_always_level_costs_whether_or_not_anything_is_full(filters: int, steps: int) -> None:
    for more in range(2):
        budget = Budget(steps + filters + more)
        always = [build.ge(0) for _ in range(filters)]
        offer(lane_of(build.policy("a", always=always), 64, budget=budget), events(1, 1))
        assert budget.spent(0) == (more == 0)


def test_past_its_budget_a_lane_lets_pass_what_its_always_level_would_remove() -> None:
    budget = Budget(1_000)
    lane = lane_of(build.policy("a", always=build.ge(190)), 64, budget=budget)
    offer(lane, events(1, 2), events(3, 4), events(5, 7))
    assert (lane.filtered, held(lane)) == (4, [5, 6, 7])
    lane.owed.settle(lane)
    assert held(lane) == [5, 6, 7, (0, 7, 0, 4)]
    check_whole(drained(lane), 7)


def test_past_its_budget_a_lane_that_overflows_is_folded_without_a_filter() -> None:
    budget = Budget(1)
    budget.spend(10, 0)
    lane = lane_of(build.policy("a", always=build.ge(190)), 64, budget=budget)
    offer(lane, events(1, 200))
    assert (lane.filtered, dict(lane.dropped)) == (0, {"budget": 200})
    check_whole(drained(lane), 200)


def test_beside_markers_that_fill_a_lane_a_block_is_let_in() -> None:
    lane = lane_of(WORST, 2)
    offer(lane, events(1, 1))
    for number in range(1, 5):
        lane.mark(1, number)
        offer(lane, events(number + 1, number + 1))
    assert held(lane).count(MARK) == 4
    offer(lane, events(6, 7))
    assert held(lane)[-2:] == [6, 7]
    check_whole(drained(lane), 7)
