"""A receiver takes each number once and in order, whatever lanes of a planet it comes by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.played import NUMBERS
from heliograph.client.receiver import EPOCHS_MAX, Receiver
from heliograph.event.block import Block, block_of
from heliograph.event.digest import Digest
from heliograph.event.errors import EventError, PolicyError
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.lane.entry import Entry
from heliograph.policy.ladder import Ladder
from heliograph.policy.limits import Limits
from planet.book import Book
from planet.policies import NEWEST, TEXT, above
from strategies import PROPERTY

if TYPE_CHECKING:
    from heliograph.policy.model import Policy


def receiver(policy: Policy = NEWEST, entries: int = 1_000, *, after: int = 0) -> Receiver:
    """Return a receiver of a stream that is open behind a number, by the alias 1 and the bit 0."""
    one = Receiver(1, "s", policy, Limits(entries), Ladder, (0, 0))
    one.open(1, 0, Position(1, after), NUMBERS, 0)
    return one


def block(*numbers: int, epoch: int = 1) -> Block:
    return block_of("s", epoch, numbers, [0] * len(numbers), [[n] for n in numbers], NUMBERS)


def arrive(one: Receiver, item: Block | Digest, alias: int = 1, mask: int = 1) -> bool:
    return one.arrive(alias, mask, Entry(item), 0)


def took(one: Receiver) -> Book:
    """Take all that waits; return the books, which add up."""
    book = Book()
    while items := one.take(10):
        for item in items:
            assert one.schema is not None
            book.enter(item, one.schema)
    return book


def test_a_receiver_begins_as_a_wish() -> None:
    one = Receiver(1, "s", NEWEST, Limits(9), Ladder, (0, 0))
    assert one.since == Position(0, 0)
    assert one.schema is None
    assert one.take(9) == []
    assert not arrive(one, block(1))
    one.check(TEXT)  # Of the stream nothing is known yet.
    one.repolicy(TEXT)
    assert one.policy == TEXT


def test_what_comes_twice_is_taken_once() -> None:
    one = receiver()
    assert [arrive(one, block(*numbers)) for numbers in ((1, 2), (2,), (1, 2), (2, 3), (3,))] == [
        True, False, False, True, False,
    ]  # fmt: skip
    assert took(one).numbers == [1, 2, 3]


@PROPERTY
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 9)), max_size=20), st.integers(0, 9))
def test_of_any_blocks_each_number_is_taken_once_and_rising(
    pieces: list[tuple[int, int]], after: int
) -> None:
    one = receiver(after=after)
    twin: list[int] = []
    for first, count in pieces:
        numbers = range(first, first + count)
        fresh = [n for n in numbers if n > (twin[-1] if twin else after)]
        assert arrive(one, block(*numbers)) == bool(fresh)
        twin += fresh
    found = [n for item in one.take(1_000) if isinstance(item, Block) for n in item.numbers()]
    assert found == twin


@pytest.mark.parametrize(("alias", "mask"), [(2, 1), (1, 0), (1, 2), (1, 2**64 - 2)])
def test_what_is_for_others_is_not_taken(alias: int, mask: int) -> None:
    one = receiver()
    assert not arrive(one, block(1), alias, mask)
    assert one.take(9) == []


def test_what_lies_before_its_first_number_is_not_taken() -> None:
    one = receiver(after=5)
    assert not arrive(one, block(4, 5))
    assert arrive(one, block(4, 5, 6))
    assert took(one).numbers == [6]


def test_a_new_lane_goes_on_where_the_old_one_ends() -> None:
    one = receiver()
    one.open(1, 3, Position(1, 4), NUMBERS, 0)
    assert arrive(one, block(3, 4), mask=0b0001)
    assert not arrive(one, block(3, 4), mask=0b1000)
    assert arrive(one, block(3, 4, 5), mask=0b1010)
    assert not arrive(one, block(6), mask=0b0011)
    assert [item.count for item in one.take(9)] == [2, 1]
    assert len(one.spans) == 1  # The old one is over.


def test_a_block_across_a_change_of_lanes_is_taken_in_two_parts() -> None:
    one = receiver()
    one.open(1, 3, Position(1, 4), NUMBERS, 0)
    assert arrive(one, block(3, 4, 5), mask=0b0001)
    assert arrive(one, block(5, 6), mask=0b1000)
    assert not arrive(one, block(7), mask=0b0001)
    assert [n for item in one.take(9) if isinstance(item, Block) for n in item.numbers()] == [
        3, 4, 5, 6,
    ]  # fmt: skip


def test_a_digest_that_does_not_add_up_is_the_fault_of_its_planet() -> None:
    one = receiver()
    arrive(one, block(1, 4))
    with pytest.raises(EventError, match="but 2 are open"):
        arrive(one, Digest("s", 1, 0, 4, 3))
    assert arrive(one, Digest("s", 1, 0, 4, 2))
    book = took(one)
    assert book.whole(4)
    assert book.dropped == 2


def test_a_slow_application_has_its_lane_packed_by_its_own_policy() -> None:
    one = receiver(above(90), entries=16)
    for number in range(1, 101):
        arrive(one, block(number))
        assert one.lane is not None
        assert one.lane.held_entries <= 16
    book = took(one)
    assert book.whole(100)
    assert set(range(90, 101)) <= set(book.numbers)
    assert book.dropped > 50


def test_an_application_takes_as_many_events_as_it_wants() -> None:
    one = receiver()
    arrive(one, block(1, 2, 3, 4, 5))
    arrive(one, Digest("s", 1, 0, 7, 2))
    counts = [[item.count for item in one.take(2)] for _ in range(4)]
    assert counts == [[2], [2], [1, 2], []]


def test_an_application_takes_events_of_one_epoch_at_a_time_and_reads_each_by_its_schema() -> None:
    one = receiver()
    arrive(one, block(1, 2))
    wide = Schema.declare({"n": "int64", "more": "string"})
    one.open(2, 0, Position(2, 0), wide, 0)
    arrive(one, block(1, epoch=2), alias=2)
    assert [item.epoch for item in one.take(99)] == [1]
    assert one.schema == NUMBERS
    assert [item.epoch for item in one.take(99)] == [2]
    assert one.schema == wide
    assert one.since == Position(2, 1)


def test_an_epoch_cannot_begin_while_numbers_of_the_last_one_are_open() -> None:
    one = receiver()
    arrive(one, block(1, 4))
    one.open(2, 0, Position(2, 0), NUMBERS, 0)
    with pytest.raises(EventError, match="2 numbers open"):
        arrive(one, block(1, epoch=2), alias=2)


def test_behind_a_lost_session_what_is_missing_is_a_gap_and_what_comes_again_is_clipped() -> None:
    one = receiver()
    arrive(one, block(1, 2))
    one.rejoins = True
    one.open(7, 0, Position(1, 5), NUMBERS, 0)
    assert not arrive(one, block(5, 6), alias=1)
    assert arrive(one, block(5, 6), alias=7)
    one.rejoins = True
    one.open(8, 0, Position(1, 3), NUMBERS, 0)
    assert arrive(one, block(4, 5, 6, 7), alias=8)
    book = took(one)
    assert book.numbers == [1, 2, 6, 7]
    assert book.gaps == 3
    assert book.whole(7)


def test_behind_a_lost_session_a_new_epoch_may_have_begun() -> None:
    one = receiver()
    arrive(one, block(1, 4))
    one.rejoins = True
    one.open(7, 0, Position(2, 3), NUMBERS, 0)
    assert arrive(one, block(4, epoch=2), alias=7)
    book = took(one)
    assert [event.position for event in book.events] == [(1, 1), (1, 4), (2, 4)]
    assert [(one.epoch, one.upto, one.gap) for one in book.digests] == [(1, 4, 2), (2, 3, 3)]


def test_a_policy_that_does_not_suit_the_stream_is_refused_before_it_holds() -> None:
    one = receiver(above(3))
    with pytest.raises(PolicyError):
        one.check(TEXT)
    with pytest.raises(PolicyError):
        receiver(TEXT)
    assert one.policy == above(3)


def test_no_digest_reaches_back_across_a_change_of_policy() -> None:
    one = receiver(entries=4)
    arrive(one, block(1, 2))
    one.repolicy(above(100))
    for number in range(3, 30):
        arrive(one, block(number))
    book = took(one)
    assert book.whole(29)
    assert [(one.after, one.upto) for one in book.digests][:2] == [(0, 2), (2, 28)]


def test_a_schema_that_grows_reads_what_follows() -> None:
    one = receiver()
    wide = NUMBERS.evolve({"t": NUMBERS.types[0].list})
    one.grow(1, wide)
    arrive(one, block_of("s", 1, [1], [0], [[1, [2]]], wide))
    assert one.schema == wide
    assert took(one).values("t") == [[2]]


def test_epochs_that_come_and_go_without_an_event_leave_nothing_behind() -> None:
    one = receiver()
    for epoch in range(2, 3_000):
        one.open(epoch, 0, Position(epoch, 0), NUMBERS, 0)
    assert len(one.spans) <= EPOCHS_MAX
    assert len(one._schemas) <= EPOCHS_MAX + 1  # noqa: SLF001 - the one being read
    assert arrive(one, block(1, epoch=2_999), 2_999)
    assert one.begin == Position(1, 0)


def test_what_a_beacon_tells_of_and_has_not_come_is_missing() -> None:
    one = receiver(after=4)
    assert one.missing == 0
    arrive(one, block(5, 7))
    one.beacon = Position(1, 9)
    assert one.missing == 1 + 2
    one.beacon = Position(2, 90)  # Of an epoch of which nothing has come.
    assert one.missing == 0
