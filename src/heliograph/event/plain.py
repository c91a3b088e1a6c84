"""Plain: values of events as JSON can hold them, and back.

JSON has no bytes, no times and no NaN. They are written as text: base64, ISO 8601, and "NaN",
"Infinity", "-Infinity"; a declared schema says where such a text is to become a value again.
"""

from __future__ import annotations

import base64
import binascii
import math
from datetime import datetime
from typing import Any, Final

from heliograph.event.errors import EventError
from heliograph.event.types import Type, microseconds, parse_time, show_time

NOT_FINITE: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def plain(value: Any) -> Any:
    """Return the value of an event as JSON can hold it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else show_not_finite(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return show_time(microseconds(value))
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    return value


def show_not_finite(value: float) -> str:
    """Return NaN or an infinity as text."""
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def read_plain(value: Any, kind: Type) -> Any:
    """Return the value of an event from what `plain` made of it.

    What is no text of such a value stays as it is: whether it fits, the schema says.

    Raises:
        EventError: A text is no base64 or no time.
    """
    if kind.is_list:
        if not isinstance(value, list):
            return value
        return [read_plain(member, kind.element) for member in value]
    if not isinstance(value, str):
        return value
    if kind is Type.FLOAT64:
        return NOT_FINITE.get(value, value)
    return _READ[kind](value) if kind in _READ else value


def read_bytes(text: str) -> bytes:
    """Return bytes from base64.

    Raises:
        EventError: The text is not base64.
    """
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        shown = text if len(text) <= 40 else text[:37] + "..."  # noqa: PLR2004 - a line of a terminal
        raise EventError(f"{shown!r} is not base64, as bytes are written in text") from None


_READ: Final = {Type.BYTES: read_bytes, Type.TIMESTAMP: parse_time}
