"""Settings: the parameters of a filter, each checked against its shape and made canonical."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.errors import PolicyError
from heliograph.event.types import INT64_MAX, INT64_MIN
from heliograph.policy.catalogue import Parameter, Shape
from heliograph.policy.element import VALUE_CHARS_MAX, literal, written

if TYPE_CHECKING:
    from heliograph.policy.model import Filter, Literal, Setting

_EXACT_MAX: Final = 2**53
_WHOLE_MAX: Final = 10**VALUE_CHARS_MAX
# Of which filters the values may not be empty.
ACTING: Final = ("INSET", "FIRST", "LAST")


def check_setting(value: Setting, parameter: Parameter, line: int, name: str) -> Setting:
    """Return a parameter's value in its one canonical form."""
    shape = parameter.shape
    if shape is Shape.LITERALS:
        if not isinstance(value, tuple):
            raise PolicyError(
                f"{parameter.name} is {shape.value}, not {value!r:.40}: write [{value!r:.40}]",
                line=line,
                element=name,
            )
        members = tuple(_plain(member, parameter, line, name) for member in value)
        # 1, 1.0 and True are equal to Python, and different values of a document.
        distinct = {(type(one).__name__, repr(one)): one for one in members}
        ordered = sorted((kind, one, text) for (kind, text), one in distinct.items())
        return tuple(one for _, one, _ in ordered)
    if isinstance(value, tuple):
        raise PolicyError(
            f"{parameter.name} is one value, not a list of {len(value)}", line=line, element=name
        )
    plain = _plain(value, parameter, line, name)
    if shape is Shape.LITERAL:
        return plain
    if shape is Shape.PATTERN:
        return written(plain)
    number = _number(value)
    if number is None or not _in_shape(number, shape):
        raise PolicyError(
            f"{parameter.name} is {shape.value}, not {value!r}", line=line, element=name
        )
    return number


def _plain(value: Literal, parameter: Parameter, line: int, name: str) -> Literal:
    """Return a value as a document would have it; what is built in Python may be anything."""
    is_long = isinstance(value, str) and len(value) > VALUE_CHARS_MAX
    if is_long or (isinstance(value, int) and abs(value) >= _WHOLE_MAX):
        raise PolicyError(
            f"a value has at most {VALUE_CHARS_MAX} characters", line=line, element=name
        )
    if not isinstance(value, bool | int | float | str):
        raise PolicyError(
            f"{parameter.name} is {parameter.shape.value}, not {value!r}", line=line, element=name
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise PolicyError(f"{parameter.name} is finite, not {value}", line=line, element=name)
    return value if isinstance(value, bool | str) else literal(str(value))


def _number(value: Literal) -> int | float | None:
    """Return a number in its one form; a text is none, whatever it spells."""
    if isinstance(value, bool | str):
        return None
    if isinstance(value, int) and not INT64_MIN <= value <= INT64_MAX:
        try:
            return float(value)
        except OverflowError:
            return None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < _EXACT_MAX else float(value)
    return value


def _in_shape(number: float, shape: Shape) -> bool:
    if not math.isfinite(number):
        return False
    if shape is Shape.NUMBER:
        return number > 0
    if shape is Shape.FRACTION:
        return 0 <= number <= 1
    if not isinstance(number, int):
        return False
    return 0 <= number <= INT64_MAX if shape is Shape.SEED else 1 <= number <= INT64_MAX


def check_sense(one: Filter) -> None:
    """Refuse settings that are each right, but together can only be a mistake."""
    if one.name == "WITHIN":
        low, high = one["low"], one["high"]
        if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
            raise PolicyError(f"low {low} is above high {high}", line=one.line, element=one.name)
    if one.name in ACTING and not one["values"]:
        raise PolicyError("values is empty: it would never act", line=one.line, element=one.name)
    if one.name == "MATCH":
        compile_pattern(str(one["pattern"]), one.line)


def compile_pattern(pattern: str, line: int | None = None) -> Any:
    """Return a compiled RE2 expression: its time grows with the text, never with its square."""
    import re2  # noqa: PLC0415 - only MATCH needs it

    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        words = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        raise PolicyError(
            f"pattern {pattern!r} is no RE2 regular expression: {words}", line=line, element="MATCH"
        ) from None
