"""Owed: what an always level removed is told of in time, once, and in bounded space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.block import Block
from heliograph.event.digest import Part
from heliograph.lane.entry import Entry
from heliograph.lane.owed import OWED_MAX
from heliograph.policy import build
from heliograph.policy.limits import Limits
from lane.lanes import check_lane, check_whole, digest, drained, events, held, lane_of, offer, some
from strategies import PROPERTY

if TYPE_CHECKING:
    from heliograph.lane.lane import Lane

NOTHING = build.policy("a", always=build.lt(0))
HIGH = build.policy("a", always=build.ge(100))


def owing(limits: Limits | int = 8) -> Lane:
    """Return a lane of which an always level leaves the events from 100 on."""
    return lane_of(HIGH, limits)


def test_who_owes_nothing_tells_nothing() -> None:
    lane = owing()
    lane.owed.settle(lane)
    offer(lane, events(100, 102))
    lane.owed.settle(lane)
    assert held(lane) == [100, 101, 102]


def test_what_was_removed_costs_no_entry_until_it_is_told() -> None:
    lane = owing()
    offer(lane, events(1, 5), events(6, 9))
    assert held(lane) == []
    assert (lane.owed.count, lane.filtered) == (9, 9)
    lane.owed.settle(lane)
    lane.owed.settle(lane)
    assert held(lane) == [(0, 9, 0, 9)]
    assert (lane.owed.count, lane.filtered, lane.told) == (0, 9, (1, 9))


def test_what_was_removed_is_told_behind_the_events_among_which_it_stood() -> None:
    lane = owing()
    offer(lane, events(1, 101))
    lane.owed.settle(lane)
    assert held(lane) == [100, 101, (0, 101, 0, 99)]
    offer(lane, events(102, 103))
    lane.owed.settle(lane)
    assert held(lane)[-2:] == [102, 103]


def test_so_many_removed_events_are_told_though_the_stream_never_falls_silent() -> None:
    lane = lane_of(NOTHING, 8)
    offer(lane, events(1, OWED_MAX))
    assert held(lane) == []
    offer(lane, events(OWED_MAX + 1, 2 * OWED_MAX + 1))
    assert held(lane) == [(0, OWED_MAX, 0, OWED_MAX), (OWED_MAX, 2 * OWED_MAX, 0, OWED_MAX)]
    assert lane.owed.count == 1


def test_what_was_removed_is_told_in_its_own_epoch() -> None:
    lane = owing()
    offer(lane, events(1, 3), events(1, 2, epoch=2))
    lane.owed.settle(lane)
    assert held(lane) == [(0, 3, 0, 3), (0, 2, 0, 2)]
    assert [one.epoch for one in lane.entries] == [1, 2]


def test_what_was_removed_behind_a_gap_waits_for_the_digest_that_closes_it() -> None:
    lane = owing()
    offer(lane, events(1, 2), some(5, 6))
    lane.owed.settle(lane)
    assert held(lane) == []
    offer(lane, some(8))
    lane.owed.settle(lane)
    (waits,) = lane.pending
    assert (waits.after, waits.upto, waits.filtered) == (2, 8, 5)
    offer(lane, digest(0, 8, 3, parts=(Part("COUNT", "", 3, None),)))
    assert held(lane) == [(0, 8, 3, 5)]
    assert lane.pending == ()
    offer(lane, some(9))
    lane.owed.settle(lane)
    assert held(lane)[1:] == [(8, 9, 0, 1)]


def test_what_was_removed_behind_a_marker_begins_there() -> None:
    lane = owing()
    offer(lane, some(1))
    lane.mark(1, 9)
    offer(lane, some(10, 11))
    lane.owed.settle(lane)
    assert lane.pending == ()
    assert held(lane)[-1] == (9, 11, 0, 2)


def test_a_digest_at_the_tail_that_grows_is_counted() -> None:
    lane = owing()
    offer(lane, digest(0, 5, 5))
    lane.replace_tail(Entry(digest(0, 5, 5, parts=(Part("MAX", "a", 5, "x" * 40),))))
    check_lane(lane)
    assert lane.pool.bytes == lane.held_bytes == 200


def test_what_waits_in_another_epoch_is_left_alone() -> None:
    lane = owing()
    other = digest(0, 9, 1, epoch=7)
    lane.pending = (other,)
    offer(lane, some(2))
    lane.owed.settle(lane)
    untouched, waits = list(lane.pending)
    assert untouched is other
    assert waits.filtered == 1


def test_a_full_lane_is_told_in_the_digest_at_its_tail() -> None:
    for limits in (Limits(2), Limits(None, 512)):
        lane = lane_of(NOTHING, limits)
        for number in range(1, 50):
            offer(lane, some(number))
            lane.owed.settle(lane)
            check_lane(lane)
            assert lane.pool.bytes == lane.held_bytes
        assert len(lane.entries) in (2, 3)
        assert lane.entries[-1].last == 49
        check_whole(drained(lane), 49)
        assert lane.pool.bytes == 0


def test_a_tail_of_events_or_of_another_epoch_takes_nothing_up() -> None:
    lane = owing(2)
    offer(lane, some(100, 101), some(1, epoch=2))
    assert held(lane) == [100, 101]
    lane.owed.settle(lane)
    offer(lane, some(1, epoch=3))
    lane.owed.settle(lane)
    assert [(one.epoch, one.last) for one in lane.entries] == [(1, 101), (2, 1), (3, 1)]


def test_a_lane_of_which_nothing_passes_stays_within_its_limits_however_long_it_waits() -> None:
    lane = lane_of(NOTHING, 4)
    for turn in range(50):
        offer(lane, events(1 + turn * OWED_MAX, (turn + 1) * OWED_MAX))
    assert lane.held_entries <= 5
    lane.owed.settle(lane)
    check_whole(drained(lane), 50 * OWED_MAX)


@PROPERTY
@given(
    st.sampled_from([Limits(2), Limits(6), Limits(300), Limits(None, 700), Limits(9, 900)]),
    st.integers(0, 60),
    st.lists(
        st.one_of(
            st.tuples(st.just("offer"), st.integers(1, 40)),
            st.tuples(st.just("silence"), st.just(0)),
            st.tuples(st.just("take"), st.integers(1, 4)),
        ),
        max_size=40,
    ),
)
def test_each_number_passes_or_is_told_once_and_a_lane_stays_within_its_limits(
    limits: Limits, least: int, steps: list[tuple[str, int]]
) -> None:
    lane = lane_of(build.policy("a", always=build.ge(least)), limits)
    number, got = 0, []
    for what, count in steps:
        if what == "offer":
            offer(lane, events(number + 1, number + count))
            number += count
        elif what == "silence":
            lane.owed.settle(lane)
        else:
            taken = (lane.take() for _ in range(count))
            got += [entry.item for entry in taken if entry is not None]
        check_lane(lane)
        if limits.entries is not None:
            assert lane.held_entries <= limits.entries + 1
        if limits.bytes is not None:
            assert lane.held_bytes <= limits.bytes + 160
    lane.owed.settle(lane)
    got += drained(lane)
    check_whole(got, number)  # type: ignore[arg-type]
    assert all(one.numbers()[0] >= least for one in got if isinstance(one, Block))
    assert lane.filtered == min(number, max(0, least - 1))
