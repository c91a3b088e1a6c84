from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from heliograph.cli.books import Books
from heliograph.event.digest import Digest
from heliograph.event.event import Event, Position

if TYPE_CHECKING:
    from collections.abc import Sequence


def event(number: int, epoch: int = 1) -> Event:
    return Event("s", epoch, number, 0, {})


def books(*entries: Event | Digest) -> Books:
    found = Books()
    for one in entries:
        found.enter(one)
    return found


def test_events_one_behind_the_other_add_up() -> None:
    found = books(*map(event, range(5, 9)))
    assert (found.events, found.total, found.open, found.troubles) == (4, 4, 0, [])
    assert found.words() == "the books add up: 4 events + 0 dropped + 0 filtered = 4 numbers"


def test_a_digest_tells_of_what_did_not_come() -> None:
    found = books(event(1), event(4), Digest("s", 1, 0, 5, 2, 1), event(6))
    assert (found.events, found.dropped, found.filtered, found.total) == (3, 2, 1, 6)
    assert found.troubles == []


def test_the_first_digest_may_reach_back_before_the_first_event() -> None:
    found = books(event(10), Digest("s", 1, 7, 10, 2))
    assert (found.total, found.troubles) == (3, [])


def test_what_the_next_digest_tells_of_is_open() -> None:
    found = books(event(1), event(5))
    assert found.open == 3
    assert "+ 3 that the next digest tells of = 5 numbers" in found.words()


def test_a_new_epoch_begins_with_its_first_number() -> None:
    found = books(event(3), event(4), event(1, 2), Digest("s", 2, 0, 3, 2))
    assert (found.total, found.troubles) == (5, [])
    assert books(event(3), event(2, 2)).open == 1


def test_a_number_that_comes_again_is_trouble() -> None:
    assert "number 2 came behind number 2" in books(event(2), event(2)).words()


def test_a_digest_that_does_not_add_up_is_trouble() -> None:
    assert books(event(1), Digest("s", 1, 0, 5, 3)).troubles
    assert books(event(1), Digest("s", 1, 0, 2, 1), Digest("s", 1, 1, 4, 3)).troubles


def test_an_epoch_that_ends_with_open_numbers_is_trouble() -> None:
    assert books(event(1), event(3), event(1, 2)).troubles


def test_troubles_are_bounded() -> None:
    assert len(books(*[event(1)] * 100).troubles) == 10


@given(st.lists(st.sampled_from(["event", "drop", "filter"]), max_size=60), st.integers(1, 9))
def test_whatever_is_delivered_or_told_adds_up(fates: Sequence[str], each: int) -> None:
    """A digest behind every few numbers tells of those that did not come."""
    found, after, dropped, filtered = Books(), 0, 0, 0
    for number, fate in enumerate(fates, 1):
        if fate == "event":
            found.enter(event(number))
        dropped += fate == "drop"
        filtered += fate == "filter"
        if not number % each or number == len(fates):
            found.enter(Digest("s", 1, after, number, dropped, filtered))
            after, dropped, filtered = number, 0, 0
    assert found.troubles == []
    assert found.total == len(fates) == found.events + found.dropped + found.filtered


def test_what_lies_between_the_beginning_and_the_first_event_is_owed() -> None:
    found = Books()
    found.enter(event(4), Position(1, 1))
    assert (found.open, found.total) == (2, 3)
    found.enter(Digest("s", 1, 1, 4, 2), Position(1, 1))
    assert (found.open, found.troubles) == (0, [])
