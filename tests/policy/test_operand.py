from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from heliograph.event.errors import PolicyError
from heliograph.event.types import INT64_MAX, Type
from heliograph.policy.model import Filter
from heliograph.policy.operand import fit_literal, members, operand

if TYPE_CHECKING:
    from heliograph.policy.model import Literal

ONE = Filter("EQ", (("value", 1),), "a", line=3)


@pytest.mark.parametrize(
    ("value", "kind", "fitted"),
    [
        (5, Type.STRING, "5"),
        (5.5, Type.STRING, "5.5"),
        (True, Type.STRING, "true"),
        ("x", Type.STRING_LIST, "x"),
        (True, Type.BOOL, True),
        ("false", Type.BOOL, False),
        (5, Type.INT64, 5),
        ("5", Type.INT64, 5),
        (5.5, Type.INT64, 5.5),
        ("9" * 30, Type.INT64, int("9" * 30)),
        (5, Type.FLOAT64, 5.0),
        ("2.50", Type.FLOAT64, 2.5),
        ("1e3", Type.INT64_LIST, 1000.0),
        ("-inf", Type.FLOAT64, -math.inf),
        ("Infinity", Type.INT64, math.inf),
        (2**53, Type.FLOAT64, 2.0**53),
        (INT64_MAX, Type.INT64, INT64_MAX),
        # Rounded, as the attribute's own values were when it was widened.
        (2**53 + 1, Type.FLOAT64, 2.0**53),
        (INT64_MAX, Type.FLOAT64, 2.0**63),
        ("1970-01-01T00:00:01Z", Type.TIMESTAMP, 1_000_000),
        ("1970-01-01T01:00:01+01:00", Type.TIMESTAMP, 1_000_000),
        ("1970-01-02", Type.TIMESTAMP_LIST, 86_400_000_000),
    ],
)
def test_a_parameter_becomes_a_value_of_the_attribute(
    value: Literal, kind: Type, fitted: Any
) -> None:
    found = fit_literal(value, kind, ONE)
    assert (type(found), found) == (type(fitted), fitted)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("x", Type.INT64),
        (True, Type.INT64),
        (True, Type.FLOAT64),
        ("nan", Type.FLOAT64),
        ("1_0", Type.INT64),
        ("\u0665", Type.FLOAT64),
        (" 5", Type.INT64),
        ("1e999", Type.FLOAT64),
        ("9" * 400, Type.FLOAT64),
        (1, Type.BOOL),
        (1.0, Type.BOOL),
        ("yes", Type.BOOL),
        (5, Type.TIMESTAMP),
        ("noon", Type.TIMESTAMP),
        ("x", Type.BYTES),
        ("x", None),
    ],
)
def test_a_parameter_that_would_be_rounded_or_guessed_is_refused(
    value: Literal, kind: Type | None
) -> None:
    with pytest.raises(PolicyError) as caught:
        fit_literal(value, kind, ONE)
    assert caught.value.line == 3
    assert caught.value.element == "EQ"
    assert "cannot be compared with attribute a" in str(caught.value)


def test_of_a_set_of_whole_numbers_only_what_int64_can_equal_is_left() -> None:
    values = (1, 2.0, 2.5, -1e300, "inf", "9" * 400)
    one = Filter("INSET", (("values", values),), "a")
    assert members(one, Type.INT64) == [1, 2]
    assert all(type(value) is int for value in members(one, Type.INT64))


def test_every_member_of_a_set_must_fit() -> None:
    one = Filter("INSET", (("values", (1, "x")),), "a")
    with pytest.raises(PolicyError, match="'x' cannot be compared"):
        operand(one, "values", Type.FLOAT64)
    assert operand(one, "values", Type.STRING) == ["1", "x"]
