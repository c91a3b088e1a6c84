from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.errors import UsageError
from heliograph.policy.limits import Limits, Load


@pytest.mark.parametrize(
    ("entries", "size", "coming", "full"),
    [
        (9, 999, 1, False),
        (9, 999, 2, True),
        (10, 0, 1, True),
        (0, 1_000, 1, True),
        (0, 0, 1_000, False),
        (0, 0, 1_001, True),
        (11, 1_001, 1, True),
    ],
)
def test_a_lane_is_full_when_one_more_entry_has_no_room(
    entries: int,
    size: int,
    coming: int,
    full: bool,  # noqa: FBT001
) -> None:
    assert Limits(10, 1_000).full(Load(entries, size), coming) is full


def test_a_limit_that_is_not_set_is_never_reached() -> None:
    assert not Limits(None, 1_000).full(Load(10**9, 999))
    assert not Limits(10, None).full(Load(9, 10**9), 10**9)
    assert not Limits(10, None).over(Load(99, 10**9))


def test_a_lane_is_over_its_bytes_after_an_entry_larger_than_itself() -> None:
    assert Limits(10, 1_000).over(Load(1, 1_001))
    assert not Limits(10, 1_000).over(Load(99, 1_000))


def test_a_pack_frees_a_sixteenth_of_the_capacity_of_each_thing_that_is_full() -> None:
    limits = Limits(32, 1_600)
    assert limits.enough(Load(32, 0), Load(30, 0))
    assert not limits.enough(Load(32, 0), Load(31, 0))
    assert limits.enough(Load(32, 1_600), Load(30, 1_500))
    assert not limits.enough(Load(32, 1_600), Load(30, 1_501))
    assert limits.enough(Load(32, 1_000), Load(30, 1_200))  # Its bytes were not full.
    assert limits.enough(Load(5, 5), Load(5, 5))  # Nothing was.


def test_what_was_over_its_limit_must_come_below_it() -> None:
    assert not Limits(32).enough(Load(64, 0), Load(33, 0))
    assert Limits(32).enough(Load(64, 0), Load(32, 0))


def test_a_goal_asks_for_more_than_the_least_and_never_for_less() -> None:
    limits = Limits(32)
    assert not limits.enough(Load(32, 0), Load(30, 0), 0.5)
    assert limits.enough(Load(32, 0), Load(16, 0), 0.5)
    assert not limits.enough(Load(32, 0), Load(31, 0), 0.01)


def test_the_pressure_is_that_of_what_was_full_and_is_fullest() -> None:
    limits = Limits(10, 1_000)
    assert limits.pressure(Load(10, 1_000), Load(5, 700)) == 0.7
    assert limits.pressure(Load(10, 999), Load(5, 700)) == 0.5
    assert limits.pressure(Load(9, 999), Load(9, 999)) == 0


def test_a_part_of_a_capacity_is_a_capacity_too() -> None:
    assert Limits(100, 10_000).filled(0.5) == Limits(50, 5_000)
    assert Limits(100).filled(1) == Limits(100)
    assert Limits(2, 600).filled(0.001) == Limits(2, 512)


def test_a_pack_of_a_small_lane_frees_at_least_one_entry() -> None:
    assert not Limits(4).enough(Load(4, 0), Load(4, 0))
    assert Limits(4).enough(Load(4, 0), Load(3, 0))


@given(
    st.integers(2, 500),
    st.integers(512, 5_000),
    st.floats(0.001, 1),
    st.integers(0, 700),
    st.integers(0, 7_000),
)
def test_the_room_is_the_most_that_is_enough(
    entries: int, size: int, least: float, was: int, held: int
) -> None:
    limits, before = Limits(entries, size, least), Load(was, held)
    room = limits.room(before)
    assert limits.enough(before, room)
    if was >= entries:
        assert not limits.enough(before, room._replace(entries=room.entries + 1))
    if held >= size:
        assert not limits.enough(before, room._replace(bytes=room.bytes + 1))


@pytest.mark.parametrize(
    "fields",
    [
        {"entries": None, "bytes": None},
        {"entries": 1},
        {"bytes": 511},
        {"least": 0},
        {"least": 1.01},
    ],
)
def test_limits_that_no_lane_could_keep_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Limits(**fields)
