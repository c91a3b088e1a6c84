"""The types of attributes, and how a value is made to fit one.

Values are null, bool, int64, float64, string, bytes, timestamp (UTC, microseconds), and lists of
those. Nothing else travels: every filter, digester and encoding can then be complete.
"""

from __future__ import annotations

import enum
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final

from heliograph.event.errors import EventError

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
# What datetime can hold (years 1 to 9999), so that every timestamp has one.
TIME_MIN: Final = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
TIME_MAX: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


class Type(enum.Enum):
    """The type of an attribute; a list is a "set" for the set filters (PACK 2)."""

    BOOL = "bool"
    INT64 = "int64"
    FLOAT64 = "float64"
    STRING = "string"
    BYTES = "bytes"
    TIMESTAMP = "timestamp"
    BOOL_LIST = "list<bool>"
    INT64_LIST = "list<int64>"
    FLOAT64_LIST = "list<float64>"
    STRING_LIST = "list<string>"
    BYTES_LIST = "list<bytes>"
    TIMESTAMP_LIST = "list<timestamp>"

    @cached_property
    def element(self) -> Type:
        """The type of a list's members; of a scalar type, itself."""
        return Type(self.value.removeprefix("list<").removesuffix(">"))

    @cached_property
    def is_list(self) -> bool:
        """Whether values of this type are lists."""
        return self.value.startswith("list<")

    @cached_property
    def is_number(self) -> bool:
        """Whether differences and sums of values mean something."""
        return self in (Type.INT64, Type.FLOAT64)

    @cached_property
    def list(self) -> Type:
        """The type of lists of this type."""
        return Type(f"list<{self.element.value}>")

    # The default hash of an Enum hashes its name in Python code, on every dictionary look-up.
    __hash__ = object.__hash__


_OF: Final[dict[type, Type]] = {
    bool: Type.BOOL,
    int: Type.INT64,
    float: Type.FLOAT64,
    str: Type.STRING,
    bytes: Type.BYTES,
    datetime: Type.TIMESTAMP,
}
WIDER: Final = {Type.INT64: Type.FLOAT64, Type.INT64_LIST: Type.FLOAT64_LIST}


def infer(value: Any) -> Type | None:
    """Return the type of a value of an open schema, or None if it fits no type.

    A list has the type of its members, of which an int may stand among floats. The type of an
    empty list cannot be known, and None is not a value.
    """
    if type(value) in _OF or not isinstance(value, list | tuple):
        return _infer_scalar(value)
    # Members are scalars, so this does not recurse: JSON from outside may nest a thousand deep.
    members = {_infer_scalar(member) for member in value}
    if members == {Type.INT64, Type.FLOAT64}:
        return Type.FLOAT64_LIST
    (member,) = members if len(members) == 1 else (None,)
    return None if member is None else member.list


def _infer_scalar(value: Any) -> Type | None:
    kind = _OF.get(type(value))
    if kind is Type.INT64 and not INT64_MIN <= value <= INT64_MAX:
        return None
    if kind is Type.TIMESTAMP and value.tzinfo is None:
        return None
    return kind


def fit(value: Any, kind: Type) -> Any:
    """Return `value` as it is stored under `kind`: a timestamp as microseconds, an int widened.

    Raises:
        EventError: The value is of another type; nothing is converted that could lose something.
    """
    if kind.is_list:
        if not isinstance(value, list | tuple):
            raise EventError(f"expected {kind.value}, got {_shown(value)}")
        return [fit(member, kind.element) for member in value]
    actual = infer(value)
    if actual is None or actual.is_list:
        raise EventError(f"expected {kind.value}, got {_shown(value)}")
    if kind is Type.TIMESTAMP and actual is Type.TIMESTAMP:
        return microseconds(value)
    if kind is Type.FLOAT64 and actual is Type.INT64:
        return float(value)
    if actual is not kind:
        raise EventError(f"expected {kind.value}, got {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    """Describe a value that was refused, briefly."""
    if isinstance(value, int) and not isinstance(value, bool) and infer(value) is None:
        return "an integer beyond int64"
    if isinstance(value, datetime) and value.tzinfo is None:
        return "a time without a time zone"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"  # noqa: PLR2004 - a line of a terminal


def restore(stored: Any, kind: Type) -> Any:
    """Return the value of an event from what is stored under `kind`; the inverse of `fit`."""
    if kind is Type.TIMESTAMP:
        return moment(stored)
    if kind is Type.TIMESTAMP_LIST:
        return [moment(member) for member in stored]
    return stored


def microseconds(value: datetime) -> int:
    """Return a time as whole microseconds since 1970 in UTC."""
    return (value - _EPOCH) // _MICROSECOND


def check_time(micros: int) -> None:
    """Refuse a time that no calendar has.

    Raises:
        EventError: It lies outside the years 1 to 9999.
    """
    if not TIME_MIN <= micros <= TIME_MAX:
        raise EventError(f"the time {micros} us lies outside the years 1 to 9999")


def moment(micros: int) -> datetime:
    """Return the time that is `micros` microseconds after 1970 began, in UTC."""
    check_time(micros)
    return _EPOCH + micros * _MICROSECOND


def parse_time(text: str) -> datetime:
    """Read a time in ISO 8601; one without a zone is taken as UTC.

    Raises:
        EventError: The text is no such time.
    """
    try:
        value = datetime.fromisoformat(text.strip())
        # In UTC, a time of another zone may leave the years that there are: an OverflowError.
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except (ValueError, OverflowError):
        raise EventError(
            f"{text[:40]!r} is not an ISO 8601 time such as 2026-01-31T12:00:00Z"
        ) from None


def show_time(micros: int) -> str:
    """Return a time as ISO 8601 in UTC, with as many decimals as it needs."""
    value = moment(micros)
    spec = "microseconds" if value.microsecond else "seconds"
    return value.replace(tzinfo=None).isoformat(timespec=spec) + "Z"
