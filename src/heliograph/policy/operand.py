"""Operands: the parameters of a filter as values of the attribute that it meets.

A comparison is exact, but for one thing: on a float64 attribute a whole number beyond 2**53 is
rounded, as the attribute's own values are when it is widened.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.errors import EventError, PolicyError
from heliograph.event.types import INT64_MAX, INT64_MIN, Type, microseconds, parse_time
from heliograph.policy.element import number, written

# As CSV and as JSON lines have them.
_INFINITE: Final = {
    "inf": math.inf, "-inf": -math.inf, "Infinity": math.inf, "-Infinity": -math.inf,
}  # fmt: skip
_ORDERING: Final = frozenset({"GT", "GE", "LT", "LE", "WITHIN"})

if TYPE_CHECKING:
    from heliograph.policy.model import Filter, Literal


def operand(one: Filter, name: str, kind: Type | None) -> Any:
    """Return a parameter as a value of the type of the attribute, or of its members."""
    value = one[name]
    if isinstance(value, tuple):
        return [fit_literal(member, kind, one) for member in value]
    return fit_literal(value, kind, one)


def members(one: Filter, kind: Type | None) -> list[Any]:
    """Return the values of a set; of whole numbers only those that an int64 can equal."""
    values = operand(one, "values", kind)
    if kind is Type.INT64:
        held = [value for value in values if INT64_MIN <= value <= INT64_MAX]
        return [int(value) for value in held if value == int(value)]
    return values  # type: ignore[no-any-return]


def fit_literal(value: Literal, kind: Type | None, one: Filter) -> Any:
    """Return a parameter as a value of the attribute's type, or of its members'.

    Raises:
        PolicyError: It is none, or the type cannot hold it exactly.
    """
    target = kind.element if kind is not None else None
    fitted: Any = None
    if target is Type.STRING and (isinstance(value, str) or one.name not in _ORDERING):
        # XML cannot say whether 404 is a number, so it may equal a text; but it has no order among
        # texts, where "50" comes after "110".
        fitted = written(value)
    elif target is Type.BOOL:
        fitted = {True: True, False: False, "true": True, "false": False}.get(value)
        fitted = None if isinstance(value, int | float) and not isinstance(value, bool) else fitted
    elif target is Type.TIMESTAMP and isinstance(value, str):
        try:
            fitted = microseconds(parse_time(value))
        except EventError:
            fitted = None
    elif target is not None and target.is_number and not isinstance(value, bool):
        fitted = _fit_number(value, target)
    if fitted is None:
        raise PolicyError(
            f"{value!r} cannot be compared with attribute {one.attribute}, "
            f"which is {kind.value if kind else 'unknown'}",
            line=one.line,
            element=one.name,
        )
    return fitted


def _fit_number(value: float | str, target: Type) -> int | float | None:
    """Return a number that compares with those of a column, or None."""
    if isinstance(value, str):
        if value in _INFINITE:
            return _INFINITE[value]
        found = number(value)
        if found is None or found in _INFINITE.values():  # Rounded, such as 1e999.
            return None
        value = found
    if isinstance(value, int) and target is Type.FLOAT64:
        try:
            return float(value)
        except OverflowError:
            return None
    return value
