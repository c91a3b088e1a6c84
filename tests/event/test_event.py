"""Events and positions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from heliograph.event.errors import EventError
from heliograph.event.event import Event, Position


def test_an_event_knows_its_position_and_its_moment() -> None:
    event = Event("ward-3", 2, 7, 1_000_001, {"PulseRate": 61})

    assert event.position == Position(2, 7)
    assert event.moment == datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC)


def test_positions_rise_by_epoch_before_number() -> None:
    assert Position(1, 9) < Position(2, 1) < Position(2, 2)


def test_an_event_does_not_change() -> None:
    event = Event("s", 1, 1, 0, {})

    with pytest.raises(AttributeError):
        event.number = 2  # type: ignore[misc]


def test_a_time_that_no_datetime_can_hold_is_refused() -> None:
    with pytest.raises(EventError, match="outside the years"):
        _ = Event("s", 1, 1, 2**62, {}).moment
