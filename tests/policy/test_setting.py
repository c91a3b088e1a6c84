from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from heliograph.event.errors import PolicyError
from heliograph.policy.catalogue import Parameter, Shape
from heliograph.policy.model import Filter
from heliograph.policy.setting import check_sense, check_setting, compile_pattern


def checked(shape: Shape, value: Any) -> Any:
    return check_setting(value, Parameter("p", shape), 7, "X")


@pytest.mark.parametrize(
    ("shape", "value", "canonical"),
    [
        (Shape.NUMBER, 5.0, 5),
        (Shape.NUMBER, 10**30, 1e30),
        (Shape.NUMBER, 2**62, 2**62),
        (Shape.NUMBER, 1e300, 1e300),
        (Shape.COUNT, 3.0, 3),
        (Shape.FRACTION, 0, 0),
        (Shape.FRACTION, 1.0, 1),
        (Shape.SEED, 2**63 - 1, 2**63 - 1),
        (Shape.PATTERN, 5, "5"),
        (Shape.PATTERN, True, "true"),
        (Shape.LITERAL, 5.0, 5.0),
        (Shape.LITERAL, 10**30, str(10**30)),
        (Shape.LITERAL, np.float64(0.5), 0.5),
        (Shape.LITERALS, ("a",), ("a",)),
        (Shape.LITERALS, ("b", "a", "b"), ("a", "b")),
        (Shape.LITERALS, (True, 1, 1.0, "1", False, 1), (False, True, 1.0, 1, "1")),
    ],
)
def test_a_parameter_has_one_canonical_form(shape: Shape, value: Any, canonical: Any) -> None:
    found = checked(shape, value)
    assert (type(found), repr(found)) == (type(canonical), repr(canonical))


def test_the_order_in_which_equal_numbers_are_written_does_not_matter() -> None:
    one, other = checked(Shape.LITERALS, (1, 1.0, True)), checked(Shape.LITERALS, (True, 1.0, 1))
    assert repr(one) == repr(other)


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        (Shape.NUMBER, 0),
        (Shape.NUMBER, -1),
        (Shape.NUMBER, "inf"),
        (Shape.NUMBER, "2.5"),
        (Shape.NUMBER, 10**400),
        (Shape.LITERAL, 10**1_024),
        (Shape.COUNT, "3"),
        (Shape.COUNT, "1_0"),
        (Shape.COUNT, "\u0665"),
        (Shape.LITERALS, "a"),
        (Shape.LITERALS, 5),
        (Shape.NUMBER, math.inf),
        (Shape.NUMBER, math.nan),
        (Shape.NUMBER, True),
        (Shape.COUNT, 0),
        (Shape.COUNT, 1.5),
        (Shape.COUNT, 2**63),
        (Shape.FRACTION, 1.01),
        (Shape.SEED, -1),
        (Shape.LITERAL, math.nan),
        (Shape.LITERAL, -math.inf),
        (Shape.LITERAL, None),
        (Shape.LITERAL, b"x"),
        (Shape.LITERAL, (1,)),
        (Shape.LITERALS, (1, math.nan)),
        (Shape.LITERALS, ([],)),
        (Shape.PATTERN, ("a",)),
        (Shape.LITERAL, "x" * 1_025),
    ],
)
def test_a_parameter_out_of_shape_is_refused_with_its_line(shape: Shape, value: Any) -> None:
    with pytest.raises(PolicyError, match=r"^line 7: X: "):
        checked(shape, value)


def test_settings_that_can_only_be_a_mistake_are_refused() -> None:
    for one in (
        Filter("WITHIN", (("low", 2), ("high", 1)), "a"),
        Filter("INSET", (("values", ()),), "a"),
        Filter("FIRST", (("values", ()),), "a"),
        Filter("MATCH", (("pattern", "["),), "a"),
    ):
        with pytest.raises(PolicyError):
            check_sense(one)
    check_sense(Filter("SUBSET", (("values", ()),), "a"))
    check_sense(Filter("WITHIN", (("low", "b"), ("high", "a")), "a"))  # Texts wait for the type.


@pytest.mark.parametrize("pattern", [r"(a)\1", "(?=a)", "(?<!a)b", "a++", "[", "(", "a{2000}"])
def test_what_re2_cannot_do_in_linear_time_is_refused(pattern: str) -> None:
    with pytest.raises(PolicyError, match="is no RE2 regular expression"):
        compile_pattern(pattern)


def test_a_pattern_has_unicode_and_flags() -> None:
    assert compile_pattern(r"(?i)^ä\pL+$").search("ÄÖ") is not None
