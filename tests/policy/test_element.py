from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.types import INT64_MAX, INT64_MIN
from heliograph.policy.element import literal, number, written

if TYPE_CHECKING:
    from heliograph.policy.model import Literal


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-5", -5),
        ("5.0", 5.0),
        ("-0.0", -0.0),
        ("1e+300", 1e300),
        (str(INT64_MAX), INT64_MAX),
        (str(INT64_MIN), INT64_MIN),
        ("true", True),
        ("false", False),
    ],
)
def test_what_is_written_as_a_number_or_a_truth_would_be_is_one(text: str, value: Literal) -> None:
    found = literal(text)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "05", "+5", "5.", "5.50", "1e3", "1_0", " 5", "inf", "-inf", "nan", "True", "x"),
        *("\u0665", str(INT64_MAX + 1), str(INT64_MIN - 1), "1e999", "9" * 5_000),
    ],
)
def test_everything_else_stays_the_text_that_it_is(text: str) -> None:
    assert literal(text) == text


@pytest.mark.parametrize("text", ["5", "-5", "+5", "05", "5.", ".5", "5.50", "1e3", "-1.5E-3"])
def test_a_number_may_be_spelled_in_many_ways(text: str) -> None:
    assert number(text) == float(text)


@pytest.mark.parametrize(
    "text",
    ["", "-", ".", "1_0", " 5", "\u0665", "0x5", "1e", "inf", "nan", "true", "9" * 1_025, "x"],
)
def test_what_python_alone_takes_for_a_number_is_none(text: str) -> None:
    assert number(text) is None


@given(
    st.integers(INT64_MIN, INT64_MAX)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
)
def test_a_literal_is_read_back_as_it_was_written(value: Literal) -> None:
    found = literal(written(value))
    assert (type(found), repr(found)) == (type(value), repr(value))
