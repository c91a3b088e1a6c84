"""Discard: what cannot be read is counted, and told as a gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.digest import Part
from heliograph.event.errors import EventError
from heliograph.event.event import Position
from heliograph.lane.discard import discard
from heliograph.lane.entry import Entry
from heliograph.policy import build
from lane.lanes import (
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
from strategies import PROPERTY

if TYPE_CHECKING:
    from heliograph.event.block import Block
    from heliograph.event.digest import Digest

LOW = build.policy("a", build.lt(5))


def test_what_waits_becomes_one_gap_without_being_read() -> None:
    lane = lane_of(LOW, 8)
    offer(lane, unreadable(1, 4), events(5, 6))
    discard(lane)
    (entry,) = lane.entries
    assert entry.item == digest(0, 6, 6, gap=6)
    assert dict(lane.dropped) == {"unreadable": 6}
    check_lane(lane)
    offer(lane, events(7, 9))
    check_whole(drained(lane), 9)


def test_a_lane_of_nothing_tells_nothing() -> None:
    lane = lane_of()
    discard(lane)
    assert held(lane) == []
    offer(lane, events(1, 2))
    lane.take()
    discard(lane)
    assert held(lane) == []


def test_what_was_taken_is_not_told_again() -> None:
    lane = lane_of(LOW, 8)
    offer(lane, events(1, 2), unreadable(3, 5))
    lane.take()
    discard(lane)
    assert held(lane) == [(0, 5, 3, 0)]
    check_whole([events(1, 2), *drained(lane)], 5)


def test_what_digests_said_is_kept() -> None:
    lane = lane_of(LOW, 8)
    parts = (Part("MAX", "a", 2, 7),)
    offer(lane, unreadable(1, 2), digest(0, 5, 2, filtered=1, parts=parts, first_time=1))
    offer(lane, unreadable(6, 7))
    discard(lane)
    (entry,) = lane.entries
    assert entry.item == digest(0, 7, 6, filtered=1, parts=parts, first_time=1, gap=4)


@pytest.mark.parametrize("kept", [1, 3])
def test_what_did_not_get_in_is_counted_with_what_did(kept: int) -> None:
    """A pack that fails half way has let in some of the events of the block that came."""
    lane = lane_of(LOW, 8)
    offer(lane, events(1, kept))
    discard(lane, Entry(unreadable(1, 6)))
    assert held(lane) == [(0, 6, 6, 0)]
    assert lane.dropped["unreadable"] == 6


def test_a_block_that_cannot_be_let_in_is_given_up_where_it_failed() -> None:
    lane = lane_of(LOW, 4)
    coming = Entry(unreadable(1, 9))
    with pytest.raises(EventError):
        lane.offer(coming, 0)
    discard(lane, coming)
    check_lane(lane)
    assert shown(drained(lane)) == [(0, 9, 9, 0)]


def test_an_always_level_that_cannot_read_a_block_has_it_given_up() -> None:
    lane = lane_of(build.policy("a", always=build.ge(3)), 8)
    offer(lane, events(1, 4))
    coming = Entry(unreadable(5, 7))
    with pytest.raises(EventError):
        lane.offer(coming, 0)
    discard(lane, coming)
    (entry,) = lane.entries
    assert entry.item == digest(0, 7, 5, filtered=2, gap=5)
    assert lane.filtered == 2


def test_a_digest_that_could_not_be_let_in_is_told() -> None:
    lane = lane_of(LOW, 8)
    offer(lane, unreadable(1, 3))
    discard(lane, Entry(digest(0, 5, 2)))
    assert held(lane) == [(0, 5, 5, 0)]
    discard(lane, Entry(digest(0, 5, 2)))
    assert held(lane) == [(0, 5, 5, 0)]


def test_what_lies_behind_an_open_gap_waits_for_its_end() -> None:
    lane = lane_of(LOW, 8)
    offer(lane, events(1, 2), some(6))
    discard(lane, Entry(unreadable(7, 9)))
    assert held(lane) == [(0, 2, 2, 0)]
    (waits,) = lane.pending
    assert (waits.after, waits.upto, waits.count, waits.gap) == (2, 9, 4, 4)
    offer(lane, some(11))
    discard(lane)
    (waits,) = lane.pending
    assert (waits.upto, waits.count) == (11, 5)
    offer(lane, digest(0, 11, 4))
    assert lane.pending == ()
    check_whole(drained(lane), 11)


def test_each_epoch_has_a_gap_of_its_own_and_markers_go() -> None:
    lane = lane_of(LOW, 8)
    offer(lane, events(1, 2))
    lane.mark(1, 2)
    offer(lane, unreadable(3, 4), unreadable(1, 3, epoch=2))
    lane.pending = (digest(7, 9, 1, epoch=5),)
    discard(lane)
    told = [one.item for one in lane.entries]
    assert told == [digest(0, 4, 4, gap=4), digest(0, 3, 3, 2, gap=3)]
    assert (lane.marks, lane.pending) == (0, (digest(7, 9, 1, epoch=5),))


def test_what_comes_is_counted_behind_a_digest_and_in_an_epoch_of_its_own() -> None:
    lane = lane_of(LOW, 8)
    offer(lane, digest(0, 5, 5))
    discard(lane, Entry(digest(5, 8, 3)))
    assert held(lane) == [(0, 8, 8, 0)]
    discard(lane, Entry(unreadable(1, 3, epoch=2)))
    assert held(lane) == [(0, 8, 8, 0), (0, 3, 3, 0)]


def test_what_waits_in_several_epochs_is_kept_apart() -> None:
    lane = lane_of(LOW, 8)
    other = digest(7, 9, 1, epoch=5)
    lane.pending = (other,)
    offer(lane, some(4))
    discard(lane)
    assert list(lane.pending) == [other, digest(0, 4, 1, gap=1)]


def test_a_lane_that_began_in_the_middle_tells_only_what_is_its_own() -> None:
    lane = lane_of(LOW, 8, begin=Position(1, 40))
    offer(lane, unreadable(41, 44))
    discard(lane)
    assert held(lane) == [(40, 44, 4, 0)]


@PROPERTY
@given(
    st.lists(
        st.one_of(
            st.lists(st.booleans(), min_size=1, max_size=9),
            st.sampled_from(["digest", "take", "discard", "coming"]),
        ),
        max_size=30,
    )
)
def test_whenever_a_lane_is_given_up_each_number_comes_or_is_told_once(
    steps: list[list[bool] | str],
) -> None:
    lane = lane_of(WORST, 6)
    last = told = came = 0
    got: list[Block | Digest] = []
    for step in [*steps, "digest"]:
        if step == "digest":
            offer(lane, digest(told, last, last - told - came))
            told, came = last, 0
        elif step == "take":
            entry = lane.take()
            got += [entry.item] if entry is not None else []  # type: ignore[list-item]
        elif step == "discard":
            discard(lane)
        elif step == "coming":
            last, came = last + 1, came + 1
            discard(lane, Entry(unreadable(last, last)))
        else:
            numbers = [number for number, there in enumerate(step, last + 1) if there]
            last, came = last + len(step), came + len(numbers)
            if numbers:
                offer(lane, some(*numbers))
        check_lane(lane)
    assert lane.pending == ()
    check_whole([*got, *drained(lane)], last)
