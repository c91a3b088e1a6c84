from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.errors import UsageError
from heliograph.policy.limits import Limits, Load


@pytest.mark.parametrize(
    ("entries", "size", "full"),
    [(9, 99, False), (10, 0, True), (0, 100, True), (11, 101, True)],
)
def test_a_lane_is_full_in_entries_or_in_bytes(entries: int, size: int, full: bool) -> None:  # noqa: FBT001
    assert Limits(10, 100).full(Load(entries, size)) is full


def test_a_limit_that_is_not_set_is_never_reached() -> None:
    assert not Limits(None, 100).full(Load(10**9, 99))
    assert not Limits(10, None).full(Load(9, 10**9))


def test_a_pack_frees_a_sixteenth_of_the_capacity_of_each_thing_that_is_full() -> None:
    limits = Limits(32, 1_600)
    assert limits.enough(Load(32, 0), Load(30, 0))
    assert not limits.enough(Load(32, 0), Load(31, 0))
    assert limits.enough(Load(32, 1_600), Load(30, 1_500))
    assert not limits.enough(Load(32, 1_600), Load(30, 1_501))
    assert limits.enough(Load(32, 1_000), Load(30, 1_200))  # Its bytes were not full.
    assert limits.enough(Load(5, 5), Load(5, 5))  # Nothing was.


def test_a_pack_of_a_small_lane_frees_at_least_one_entry() -> None:
    assert not Limits(4).enough(Load(4, 0), Load(4, 0))
    assert Limits(4).enough(Load(4, 0), Load(3, 0))


@given(
    st.integers(2, 500),
    st.integers(1, 5_000),
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
        {"bytes": 0},
        {"least": 0},
        {"least": 1.01},
    ],
)
def test_limits_that_no_lane_could_keep_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Limits(**fields)
