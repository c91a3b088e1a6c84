"""When the events of a recorded stream happened."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest

from heliograph.event.errors import EventError
from heliograph.event.timing import check_time, find_time, read_time

NOON = 1_769_860_800_000_000


@pytest.mark.parametrize(
    ("value", "micros"),
    [
        ("2026-01-31T12:00:00Z", NOON),
        ("2026-01-31 12:00:00", NOON),
        ("2026-01-31T13:00:00+01:00", NOON),
        (datetime(2026, 1, 31, 12, tzinfo=UTC), NOON),
        (1_769_860_800, NOON),
        (1_769_860_800.000001, NOON + 1),
        ("1769860800", NOON),
        ("1769860800.5", NOON + 500_000),
        ("1.7698608e9", NOON),
        (0, 0),
        (-1.5, -1_500_000),
    ],
)
def test_a_time_is_iso_8601_or_seconds(value: Any, micros: int) -> None:
    assert read_time(value) == micros


@pytest.mark.parametrize(
    "value", [None, True, "Monday", "", "12:00", [1], b"x", math.nan, math.inf, 2**70, {}]
)
def test_what_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises(EventError, match="is no time: write ISO 8601"):
        read_time(value)


def test_milliseconds_are_refused_with_the_advice_to_divide_them() -> None:
    with pytest.raises(EventError, match="divide milliseconds by 1000"):
        read_time(1_769_860_800_000)


@pytest.mark.parametrize(
    ("events", "tag"),
    [
        ([{"a": 1, "ts": 5, "time": 6}], "time"),
        ([{"DateTime": "2026-01-31"}], "DateTime"),
        ([{"date": "Monday", "datetime": 5}], "datetime"),
        ([{"time": True}], None),
        ([{"time": None}, {"time": 5}], "time"),
        ([{"time": "Monday"}, {"time": 5}], None),
        ([{}, {"ts": "2026-01-31 12:00:00"}], "ts"),
        ([{"time": 5, "_time": "2026-01-31"}], "_time"),
        ([{"timing": 5}], None),
        ([{"time": 1_769_860_800_000}], "time"),
        ([], None),
    ],
)
def test_the_first_usual_name_whose_first_value_is_a_time_says_when(
    events: list[dict[str, Any]], tag: str | None
) -> None:
    assert find_time(events) == tag


def test_a_named_attribute_that_no_event_has_is_refused_with_those_there_are() -> None:
    events = [{"_number": 1, "a": 1}, {"b": 1}]
    check_time("b", events)
    check_time("anything", [])

    with pytest.raises(EventError, match=r"no event has the attribute c .*; use a, b$"):
        check_time("c", events)
