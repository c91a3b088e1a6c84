"""Outlet: streams take turns by bytes, and a block goes once to all lanes that stand at it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.block import HEADER_BYTES, Block
from heliograph.lane.entry import Entry
from heliograph.lane.outlet import LANES_MAX, QUANTUM_BYTES, Group, Outlet
from heliograph.policy import build
from heliograph.policy.builtin import NEWEST
from lane.lanes import (
    SCHEMA,
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
    shown,
    texts,
)
from strategies import PROPERTY

if TYPE_CHECKING:
    from heliograph.lane.lane import Lane


def group_of(*lanes: Lane) -> Group:
    group = Group("s")
    group.lanes = dict(enumerate(lanes))
    return group


def spread(lanes: list[Lane], *items: Block) -> None:
    for entry in map(Entry, items):
        for lane in lanes:
            lane.offer(entry, 0)


def sent(group: Group) -> list[tuple[list[object], int]]:
    """Send all that a group has; write down what went out, and to whom."""
    found = []
    while (head := group.next()) is not None:
        entry, mask = head
        assert entry.frame == b"", "it was sent before"
        entry.frame = b"sent"
        found.append((shown([entry.item]), mask))
        group.pop(mask)
    return found


def test_the_bit_of_a_new_lane_is_the_lowest_that_is_free() -> None:
    group = Group("s")
    assert group.free_bit() == 0
    group.lanes = {bit: lane_of() for bit in range(LANES_MAX)}
    assert group.free_bit() is None
    del group.lanes[9], group.lanes[5]
    assert group.free_bit() == 5


def test_what_stands_at_the_head_of_several_lanes_is_sent_once_to_all() -> None:
    lanes = [lane_of(), lane_of(NEWEST), lane_of(build.policy(None, build.every(2)))]
    spread(lanes, events(1, 3), events(4, 5))
    assert sent(group_of(*lanes)) == [([1, 2, 3], 0b111), ([4, 5], 0b111)]


def test_the_lane_whose_head_stands_earliest_is_drained_first() -> None:
    lanes = [lane_of(), lane_of(), lane_of()]
    spread(lanes[:1], events(1, 2))
    spread(lanes, events(3, 4))
    spread(lanes[2:], events(1, 1, epoch=2))
    spread(lanes[1:2], events(5, 9))
    assert sent(group_of(*lanes)) == [
        ([1, 2], 0b001),
        ([3, 4], 0b111),
        ([5, 6, 7, 8, 9], 0b010),
        ([1], 0b100),
    ]


def test_a_lane_that_was_packed_falls_behind_and_comes_back_into_step() -> None:
    wide, narrow = lane_of(WORST, 64), lane_of(WORST, 4)
    group = group_of(wide, narrow)
    spread([wide, narrow], events(1, 3), events(4, 6))
    assert sent(group) == [([1, 2, 3], 1), ([4, 5, 6], 1), ([(0, 4, 4, 0)], 2), ([5, 6], 2)]
    spread([wide, narrow], events(7, 8))
    assert sent(group) == [([7, 8], 3)]


def test_markers_at_the_head_are_passed_before_a_group_looks() -> None:
    one, other = lane_of(), lane_of()
    offer(one, events(1, 1))
    one.mark(1, 1)
    one.take()
    group = group_of(one, other)
    assert group.waiting
    assert group.next() is None
    assert not group.waiting
    assert group_of(one).next() is None


def test_a_block_larger_than_a_frame_may_be_is_cut_in_all_lanes_that_stand_at_it() -> None:
    lanes = [lane_of(schema=TEXT), lane_of(schema=TEXT), lane_of(schema=TEXT)]
    block = texts(100, 100, 100, 100)
    spread(lanes, block)
    group = group_of(*lanes)
    entry, mask = group.next() or (Entry(block), 0)
    first = group.cut(entry, mask & 0b011, 250, TEXT)
    assert isinstance(first.item, Block)
    assert (first.count, first.item.wire_bytes <= 250) == (2, True)
    assert [held(lane) for lane in lanes] == [[1, 2, 3, 4]] * 3
    assert [len(lane.entries) for lane in lanes] == [2, 2, 1]
    assert lanes[0].head() is lanes[1].head() is first
    for lane in lanes:
        check_lane(lane)


@pytest.mark.parametrize("size", [1, HEADER_BYTES, 10_000])
def test_a_cut_leaves_at_least_an_event_and_never_cuts_what_fits(size: int) -> None:
    for item in (texts(50), digest(0, 9, 9), texts(500, 500)):
        lane = lane_of(schema=TEXT)
        offer(lane, item)
        entry = lane.entries[0]
        found = group_of(lane).cut(entry, 1, size, TEXT)
        if isinstance(item, Block) and item.count > 1 and size < 10_000:
            assert found.count == 1
            assert len(lane.entries) == 2
        else:
            assert found is entry


@PROPERTY
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("offer"), st.integers(1, 9)),
            st.tuples(st.just("send"), st.integers(1, 6)),
            st.tuples(st.just("cut"), st.integers(20, 60)),
        ),
        max_size=50,
    ),
    st.lists(st.sampled_from([3, 8, 10_000]), min_size=1, max_size=5),
)
def test_each_lane_is_sent_what_it_would_be_if_it_were_alone(
    steps: list[tuple[str, int]], sizes: list[int]
) -> None:
    lanes = [lane_of(WORST, size) for size in sizes]
    group, number = group_of(*lanes), 0
    got: list[list[Block]] = [[] for _ in lanes]
    whole: list[tuple[int, int]] = []
    for what, count in steps:
        if what == "offer":
            spread(lanes, events(number + 1, number + count))
            number += count
            continue
        for _ in range(count if what == "send" else 1):
            head = group.next()
            if head is None:
                break
            entry, mask = head
            if what == "cut":
                entry = group.cut(entry, mask, count, SCHEMA)
            at = [bit for bit, lane in group.lanes.items() if lane.head() is entry]
            assert mask == sum(1 << bit for bit in at) > 0
            for bit in at:
                got[bit].append(entry.item)  # type: ignore[arg-type]
            whole.append((entry.first, mask))
            group.pop(mask)
    for lane, items in zip(lanes, got, strict=True):
        check_whole([*items, *drained(lane)], number)
    if set(sizes) == {10_000}:  # Nothing overflows: everything goes once, to all of them.
        assert all(mask == (1 << len(lanes)) - 1 for _, mask in whole)
        assert [first for first, _ in whole] == sorted({first for first, _ in whole})


class Turns:
    """The slow twin: deficit round robin over plain lists of frame sizes (Shreedhar, Varghese)."""

    def __init__(self, frames: list[list[int]]) -> None:
        self.frames = [deque(one) for one in frames]
        self.order = deque(range(len(frames)))
        self.deficit = [0] * len(frames)

    def send(self) -> int | None:
        """Return whose frame goes next."""
        while self.order:
            one = self.order[0]
            if not self.frames[one]:
                self.order.popleft()
            elif len(self.order) > 1 and self.deficit[one] <= 0:
                self.deficit[one] += QUANTUM_BYTES
                if self.deficit[one] <= 0:
                    self.order.rotate(-1)
            else:
                size = self.frames[one].popleft()
                self.deficit[one] = self.deficit[one] - size if len(self.order) > 1 else 0
                if len(self.order) > 1 and self.deficit[one] <= 0:
                    self.order.rotate(-1)
                return one
        return None


def outlet_of(frames: list[list[int]]) -> Outlet:
    """Return an outlet of a stream for each list of sizes of rows."""
    outlet = Outlet()
    for number, sizes in enumerate(frames):
        group = outlet.group(f"s{number}")
        group.lanes[0] = lane_of(WORST, 10_000, schema=TEXT)
        offer(group.lanes[0], *(texts(size, first=n) for n, size in enumerate(sizes, 1)))
        outlet.wake(group)
    return outlet


def send(outlet: Outlet) -> tuple[int, int] | None:
    """Send a frame; return of which stream it was, and its size."""
    found = outlet.peek()
    if found is None:
        return None
    group, entry, mask = found
    assert outlet.peek() == found, "to look changes nothing"
    assert isinstance(entry.item, Block)
    group.pop(mask)
    outlet.sent(group, entry.item.wire_bytes)
    return int(group.stream[1:]), entry.item.wire_bytes


sizes = st.integers(0, 200) | st.integers(1_000, 9_000)


@PROPERTY
@given(st.lists(st.lists(sizes, max_size=30), min_size=1, max_size=5))
def test_streams_take_turns_as_plain_deficit_round_robin_has_it(frames: list[list[int]]) -> None:
    outlet = outlet_of(frames)
    twin = Turns([[texts(size).wire_bytes for size in one] for one in frames])
    while (found := send(outlet)) is not None:
        assert found[0] == twin.send()
    assert twin.send() is None
    assert not outlet.turn
    assert not any(group.queued for group in outlet.groups.values())


@PROPERTY
@given(st.lists(sizes, min_size=2, max_size=5))
def test_streams_that_wait_get_the_same_bytes_whatever_the_size_of_their_frames(
    frames: list[int],
) -> None:
    outlet = outlet_of([[size] * 300 for size in frames])
    most = max(texts(size).wire_bytes for size in frames)
    bytes_of = [0] * len(frames)
    for _ in range(300):
        found = send(outlet)
        assert found is not None
        bytes_of[found[0]] += found[1]
        if min(len(group.lanes[0].entries) for group in outlet.groups.values()) == 0:
            break
        assert max(bytes_of) - min(bytes_of) <= 2 * QUANTUM_BYTES + most


def test_a_stream_that_comes_back_saves_nothing_up() -> None:
    outlet = outlet_of([[9_000] * 9, [10, 9_000], [10] * 9])
    group = outlet.group("s1")
    while group.queued:
        send(outlet)
    assert group.deficit == 0
    offer(group.lanes[0], texts(5, first=3))
    outlet.wake(group)
    outlet.wake(group)
    assert list(outlet.turn).count(group) == 1


def test_a_stream_that_is_alone_owes_nothing_to_those_that_come_later() -> None:
    outlet = outlet_of([[9_000] * 9])
    for _ in range(5):
        send(outlet)
    assert outlet.group("s0").deficit == 0


def test_a_stream_that_was_forgotten_is_not_sent() -> None:
    outlet = outlet_of([[10], [10]])
    outlet.remove("s0")
    outlet.remove("s0")
    outlet.remove("unknown")
    assert [one.stream for one in outlet.turn] == ["s1"]
    assert list(outlet.groups) == ["s1"]
    assert send(outlet) is not None
    assert send(outlet) is None
    assert outlet.peek() is None
