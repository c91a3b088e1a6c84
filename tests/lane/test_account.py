"""Account: the books of a receiver, compared with plain sets of numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.errors import EventError
from heliograph.event.event import Position
from heliograph.lane.account import Account
from lane.lanes import SCHEMA, START, STREAM, digest, events, shown, some
from strategies import PROPERTY


def account(begin: Position = START) -> Account:
    return Account(STREAM, begin)


class Book:
    """The slow twin: every number that came, and every number that was settled."""

    def __init__(self) -> None:
        self.got: set[int] = set()
        self.gone: set[int] = set()
        self.settled = 0

    @property
    def last(self) -> int:
        return max(self.got | self.gone, default=0)

    def open(self, upto: int) -> list[int]:
        return [n for n in range(1, upto + 1) if n not in self.got | self.gone]

    def take(self, numbers: list[int]) -> list[int]:
        last = self.last
        fresh = [number for number in numbers if number > last]
        self.got |= set(fresh)
        return fresh

    def settle(self, upto: int, count: int) -> str:
        if upto <= self.settled:
            return "again"
        if upto < self.last:
            return "before an event"
        found = self.open(upto)
        if len(found) != count:
            return f"but {len(found)} are open"
        self.gone |= set(found)
        self.settled = upto
        return "new" if found else "nothing"


steps = st.lists(
    st.one_of(
        # Where a block begins, from the last number on, and which of the numbers there are in it.
        st.tuples(st.just("take"), st.integers(-6, 5), st.lists(st.booleans(), max_size=8)),
        # Up to where a digest settles, from the last number on, and by how much it is wrong.
        st.tuples(st.just("settle"), st.integers(-8, 4), st.sampled_from([0, 0, 0, 0, 1, -1, 5])),
    ),
    max_size=30,
)


@PROPERTY
@given(steps)
def test_an_account_says_of_each_number_what_plain_sets_of_numbers_say(
    steps: list[tuple[str, int, list[bool] | int]],
) -> None:
    one, book = account(), Book()
    for _, reach, what in steps:
        at = max(1, book.last + reach)
        if isinstance(what, list):
            numbers = [at, *(at + n for n, there in enumerate(what, 1) if there)]
            found = one.take(some(*numbers), SCHEMA)
            assert shown([] if found is None else [found]) == book.take(numbers)
        else:
            count = max(0, len(book.open(at)) + what)
            told = digest(one.base, at, count)
            said = book.settle(at, count)
            if said in ("new", "nothing", "again"):
                assert one.settle(told) == (told if said == "new" else None)
            else:
                with pytest.raises(EventError, match=said):
                    one.settle(told)
        assert one.position == (1, book.last)
        assert one.missing == len(book.open(book.last))
        assert one.base == book.settled


def test_what_came_before_is_clipped_and_what_is_new_is_handed_on_as_it_came() -> None:
    one = account()
    block = events(1, 5)
    assert one.take(block, SCHEMA) is block
    assert one.take(events(2, 5), SCHEMA) is None
    assert one.take(some(3, 5), SCHEMA) is None
    rest = one.take(some(4, 5, 7, 9), SCHEMA)
    assert rest is not None
    assert shown([rest]) == [7, 9]
    assert one.missing == 2


def test_a_digest_is_checked_against_what_arrived() -> None:
    one = account()
    one.take(some(1, 2, 5), SCHEMA)
    with pytest.raises(EventError, match="settles 3 numbers up to 7, but 4 are open"):
        one.settle(digest(0, 7, 3))
    with pytest.raises(EventError, match="stands before an event that it covers"):
        one.settle(digest(0, 4, 2))
    told = digest(0, 6, 3)
    assert one.settle(told) is told
    assert one.settle(told) is None


def test_an_account_goes_on_where_it_was_told_to_begin() -> None:
    one = account(Position(4, 100))
    assert one.take(events(90, 100, epoch=4), SCHEMA) is None
    assert one.settle(digest(80, 100, 20, epoch=4)) is None
    assert one.settle(digest(80, 103, 3, epoch=4)) is not None
    assert one.position == (4, 103)


def test_filtered_numbers_settle_as_dropped_ones_do() -> None:
    one = account()
    one.take(some(2), SCHEMA)
    assert one.settle(digest(0, 5, 1, filtered=3)) is not None
    assert one.missing == 0


def test_a_new_epoch_begins_at_its_first_number() -> None:
    one = account()
    one.take(events(1, 3), SCHEMA)
    block = events(1, 2, epoch=2)
    assert one.take(block, SCHEMA) is block
    assert one.position == (2, 2)
    assert one.settle(digest(0, 4, 4, epoch=5)) == digest(0, 4, 4, epoch=5)
    assert one.position == (5, 4)


def test_an_epoch_cannot_end_with_numbers_open() -> None:
    one = account()
    one.take(some(1, 4), SCHEMA)
    said = "begins the epoch 2 with 2 numbers open in the epoch 1"
    with pytest.raises(EventError, match=said):
        one.take(events(1, 1, epoch=2), SCHEMA)
    with pytest.raises(EventError, match=said):
        one.settle(digest(0, 1, 1, 2))
    assert one.position == (1, 4)


def test_a_stream_never_goes_back_to_an_older_epoch() -> None:
    one = account(Position(3, 0))
    with pytest.raises(EventError, match="goes back to the epoch 2 from 3"):
        one.take(events(1, 1, epoch=2), SCHEMA)
    with pytest.raises(EventError, match="goes back to the epoch 2 from 3"):
        one.settle(digest(0, 1, 1, 2))


def test_what_is_open_becomes_a_gap_once() -> None:
    one = account()
    one.take(some(2, 3, 6), SCHEMA)
    assert one.close_gap() == digest(0, 6, 3, gap=3)
    assert one.close_gap() is None
    assert (one.gaps, one.missing, one.base) == (3, 0, 6)


def test_after_a_crash_what_is_open_and_what_lies_before_the_new_begin_are_gaps() -> None:
    one = account()
    one.take(some(1, 4), SCHEMA)
    assert one.rejoin(Position(1, 9)) == [digest(0, 4, 2, gap=2), digest(4, 9, 5, gap=5)]
    assert one.gaps == 7
    block = events(10, 11)
    assert one.take(block, SCHEMA) is block


def test_after_a_crash_that_lost_nothing_there_is_no_gap() -> None:
    one = account()
    one.take(events(1, 4), SCHEMA)
    assert one.rejoin(Position(1, 2)) == []
    assert one.gaps == 0
    rest = one.take(events(3, 6), SCHEMA)
    assert rest is not None
    assert shown([rest]) == [5, 6]


def test_after_a_crash_a_digest_that_reaches_back_tells_a_gap_of_the_rest() -> None:
    one = account()
    one.take(events(1, 4), SCHEMA)
    one.rejoin(Position(1, 2))
    one.take(some(7), SCHEMA)
    assert one.settle(digest(2, 4, 0)) is None
    assert one.settle(digest(2, 8, 3, filtered=2)) == digest(4, 8, 3, gap=3)
    assert one.settle(digest(8, 9, 1)) == digest(8, 9, 1)
    with pytest.raises(EventError, match="settles 5 numbers"):
        one.settle(digest(9, 10, 5))


def test_after_a_crash_a_digest_of_nothing_new_is_entered_and_not_handed_on() -> None:
    one = account()
    one.take(events(1, 4), SCHEMA)
    one.rejoin(Position(1, 2))
    one.take(events(3, 6), SCHEMA)
    assert one.settle(digest(0, 6, 2)) is None
    assert (one.base, one.missing) == (6, 0)
    assert one.settle(digest(6, 7, 1)) == digest(6, 7, 1)


def test_after_a_crash_in_a_new_epoch_its_beginning_is_a_gap_of_its_own() -> None:
    one = account()
    one.take(some(1, 3), SCHEMA)
    found = one.rejoin(Position(2, 5))
    assert found == [digest(0, 3, 1, gap=1), digest(0, 5, 5, 2, gap=5)]
    assert one.position == (2, 5)
    assert one.rejoin(Position(3, 0)) == []
    with pytest.raises(EventError, match="settles 2 numbers up to 4, but 4 are open"):
        one.settle(digest(0, 4, 2, 3))


def test_an_epoch_that_begins_after_a_crash_is_not_overlapped_by_the_one_before() -> None:
    one = account()
    one.take(events(1, 9), SCHEMA)
    one.rejoin(Position(1, 5))
    one.take(some(2, epoch=2), SCHEMA)
    with pytest.raises(EventError, match="settles 10 numbers up to 12, but 11 are open"):
        one.settle(digest(0, 12, 10, 2))
    one.settle(digest(0, 4, 3, 2))
    with pytest.raises(EventError, match="settles 1 numbers up to 10, but 6 are open"):
        one.settle(digest(4, 10, 1, 2))
