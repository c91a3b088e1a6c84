"""Timing: which attribute of a recorded stream says when its events happened, and when that was."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.errors import EventError
from heliograph.event.schema import RESERVED
from heliograph.event.types import TIME_MAX, TIME_MIN, Type, infer, microseconds, parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CANDIDATES: Final = ("time", "timestamp", "ts", "date", "datetime")
SECOND: Final = 1_000_000
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,16}(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,2})?")
_ISO: Final = re.compile(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}")


def find_time(events: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the attribute that says when the first events of a trace happened, if one does."""
    if any("_time" in values for values in events):
        return "_time"
    tags = dict.fromkeys(tag for values in events for tag in values)
    for name in CANDIDATES:
        for tag in tags:
            if tag.lower() == name:
                first = (values[tag] for values in events if values.get(tag) is not None)
                if _reads(next(first, None)):
                    return tag
    return None


def check_time(wanted: str, events: Sequence[Mapping[str, Any]]) -> None:
    """Refuse an attribute that the user named, but that no event has.

    Raises:
        EventError: With those that there are.
    """
    tags = list(dict.fromkeys(tag for values in events for tag in values))
    if tags and wanted not in tags:
        known = ", ".join(tag for tag in tags if tag == "_time" or tag not in RESERVED)
        raise EventError(f"no event has the attribute {wanted} to take its time from; use {known}")


def _reads(value: Any) -> bool:
    """Say whether a value looks like a time; a number too large for one is to be an error."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return math.isfinite(value)
    try:
        read_time(value)
    except EventError:
        return False
    return True


def read_time(value: Any) -> int:
    """Return a time in microseconds since 1970 from what an event says.

    That is a time, ISO 8601 text ("2026-01-31 12:00:00" too), or a number of seconds since 1970.

    Raises:
        EventError: It is none of these.
    """
    if isinstance(value, str):
        if _NUMBER.fullmatch(value):
            value = float(value) if re.search("[.eE]", value) else int(value)
        elif _ISO.match(value):
            value = parse_time(value)
    kind = infer(value)
    if kind is Type.TIMESTAMP and isinstance(value, datetime):
        return microseconds(value)
    if kind not in (Type.INT64, Type.FLOAT64) or not math.isfinite(value):
        raise EventError(
            f"{value!r:.60} is no time: write ISO 8601 such as 2026-01-31T12:00:00Z, or seconds "
            "since 1970"
        )
    micros: int = round(value * SECOND)
    if not TIME_MIN <= micros <= TIME_MAX:
        raise EventError(
            f"the time {value} lies beyond the year 9999: a number is seconds since 1970; divide "
            "milliseconds by 1000, or choose another attribute with --time"
        )
    return micros
