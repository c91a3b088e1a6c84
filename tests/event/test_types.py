"""The types of attributes: what is inferred, what fits, and what comes back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.errors import EventError
from heliograph.event.types import (
    INT64_MAX,
    INT64_MIN,
    TIME_MAX,
    TIME_MIN,
    Type,
    fit,
    infer,
    microseconds,
    moment,
    parse_time,
    restore,
    show_time,
)
from strategies import PROPERTY, same, types, values_of

MOMENT = datetime(2026, 1, 31, 12, tzinfo=UTC)


@PROPERTY
@given(st.data())
def test_what_fits_a_type_comes_back_the_same(data: st.DataObject) -> None:
    kind = data.draw(types())
    value = data.draw(values_of(kind))

    assert same(restore(fit(value, kind), kind), value)


@PROPERTY
@given(st.data())
def test_a_value_that_is_not_an_empty_list_has_its_type_inferred(data: st.DataObject) -> None:
    kind = data.draw(types())
    value = data.draw(values_of(kind))

    assert infer(value) == (None if value == [] else kind)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, Type.BOOL),
        (1, Type.INT64),
        (1.0, Type.FLOAT64),
        ("", Type.STRING),
        (b"", Type.BYTES),
        (MOMENT, Type.TIMESTAMP),
        ([1, 2], Type.INT64_LIST),
        ((1, 2), Type.INT64_LIST),
        ([1, 2.5], Type.FLOAT64_LIST),
        ([True], Type.BOOL_LIST),
        ([True, 1], None),
        ([1, None], None),
        ([1, INT64_MAX + 1], None),
        ([[1]], None),
        ([], None),
        (None, None),
        ({"a": 1}, None),
        (INT64_MAX, Type.INT64),
        (INT64_MAX + 1, None),
        (INT64_MIN - 1, None),
        (MOMENT.replace(tzinfo=None), None),
    ],
)
def test_the_type_of_a_value_is_inferred_from_it_alone(value: Any, kind: Type | None) -> None:
    assert infer(value) is kind


def test_a_list_that_nests_a_thousand_deep_is_of_no_type_and_costs_no_stack() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]

    assert infer(deep) is None


def test_an_integer_is_widened_where_a_float_is_wanted() -> None:
    assert same(fit(3, Type.FLOAT64), 3.0)
    assert same(fit([3, 0.5], Type.FLOAT64_LIST), [3.0, 0.5])


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (1.0, Type.INT64, "expected int64, got float 1.0"),
        (True, Type.INT64, "expected int64, got bool True"),
        (1, Type.BOOL, "expected bool, got int 1"),
        ("1", Type.INT64, "expected int64, got str '1'"),
        (1, Type.INT64_LIST, "expected list<int64>, got int 1"),
        ([1, "x"], Type.INT64_LIST, "expected int64, got str 'x'"),
        ([1], Type.INT64, r"expected int64, got list \[1\]"),
        (2**70, Type.INT64, "got an integer beyond int64"),
        (MOMENT.replace(tzinfo=None), Type.TIMESTAMP, "got a time without a time zone"),
        ("x" * 99, Type.INT64, r"got str 'x{36}\.\.\.$"),
    ],
)
def test_a_value_of_another_type_is_refused_with_what_was_expected(
    value: Any, kind: Type, words: str
) -> None:
    with pytest.raises(EventError, match=words):
        fit(value, kind)


@PROPERTY
@given(st.integers(TIME_MIN, TIME_MAX))
def test_a_time_is_shown_and_read_back_the_same(micros: int) -> None:
    assert microseconds(moment(micros)) == micros
    assert microseconds(parse_time(show_time(micros))) == micros


@pytest.mark.parametrize("micros", [TIME_MIN - 1, TIME_MAX + 1, INT64_MAX])
def test_a_time_beyond_the_years_of_a_datetime_is_refused(micros: int) -> None:
    with pytest.raises(EventError, match="outside the years 1 to 9999"):
        moment(micros)


def test_a_time_has_as_many_decimals_as_it_needs() -> None:
    assert show_time(0) == "1970-01-01T00:00:00Z"
    assert show_time(1) == "1970-01-01T00:00:00.000001Z"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-01-31T12:00:00Z", MOMENT),
        (" 2026-01-31 12:00:00 ", MOMENT),
        ("2026-01-31T14:00:00+02:00", MOMENT),
        ("2026-01-31", MOMENT.replace(hour=0)),
    ],
)
def test_times_are_read_in_iso_8601_and_without_a_zone_as_utc(text: str, value: datetime) -> None:
    assert parse_time(text) == value
    assert parse_time(text).tzinfo is UTC


@pytest.mark.parametrize(
    "text", ["", "now", "2026-13-01", "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-01:00"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(EventError, match="not an ISO 8601 time"):
        parse_time(text)


def test_a_time_of_another_zone_is_the_same_instant() -> None:
    there = MOMENT.astimezone(timezone(timedelta(hours=5)))

    assert fit(there, Type.TIMESTAMP) == fit(MOMENT, Type.TIMESTAMP)


def test_every_type_knows_its_list_and_its_element() -> None:
    for kind in Type:
        assert kind.list.is_list
        assert kind.list.element is kind.element
        assert kind.is_list == (kind is kind.list)
    assert [kind for kind in Type if kind.is_number] == [Type.INT64, Type.FLOAT64]
