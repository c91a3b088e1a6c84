"""Cells: the values of events as the text of CSV cells, and back.

What a cell means without a schema is guessed from many of them, narrowly: a number with a leading
zero is a name (a postal code), and stays text.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from heliograph.event.errors import EventError
from heliograph.event.plain import NOT_FINITE, plain, read_bytes, read_plain
from heliograph.event.types import INT64_MAX, INT64_MIN, Type, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_CANONICAL: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# Not an integer: one beyond int64 would lose digits, one with a leading zero its name.
_FRACTION: Final = re.compile(
    r"-?(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    r"|-?(?:0|[1-9][0-9]*)[eE][+-]?[0-9]+|-0"
)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SAFE_DIGITS: Final = 18  # An integer of no more digits is within int64.
_BOOLS: Final = {"true": True, "false": False}
# As C, numpy and pandas write them. They are words too, so a column of nothing else stays text.
_WORDS: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_NOT_FINITE: Final = NOT_FINITE | _WORDS


def cell(value: Any) -> str:
    """Return a value as the text of a cell; a list is a JSON array."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return msgspec.json.encode(plain(value)).decode()
    shown = plain(value)
    return repr(shown) if isinstance(shown, float) else str(shown)


def read_cell(text: str, kind: Type) -> Any:
    """Return the value that a cell holds under a type; None where an empty text is no value.

    Raises:
        EventError: The text is no value of the type.
    """
    if kind is Type.STRING:
        return text
    if kind is Type.BYTES:
        return read_bytes(text)
    if not text:
        return None
    value = _read(text, kind)
    if value is None:
        shown = text if len(text) <= 40 else text[:37] + "..."  # noqa: PLR2004 - a line of a terminal
        raise EventError(f"expected {kind.value}, got {shown!r}")
    return value


def _read(text: str, kind: Type) -> Any:
    """Return the value of a text that is not empty, or None if it is of another type."""
    if kind is Type.INT64:
        return _int64(text) if _INTEGER.fullmatch(text) else None
    if kind is Type.FLOAT64:
        return float(text) if _NUMBER.fullmatch(text) else _NOT_FINITE.get(text)
    if kind is Type.BOOL:
        return _BOOLS.get(text.lower())
    if kind is Type.TIMESTAMP:
        return parse_time(text)
    try:
        return read_plain(msgspec.json.decode(text, type=list[Any]), kind)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None


def _int64(text: str) -> int | None:
    """Return an integer within int64; Python refuses to read one of thousands of digits."""
    if len(text) <= _SAFE_DIGITS:
        return int(text)
    digits = text.lstrip("+-").lstrip("0") or "0"
    if len(digits) > len(str(INT64_MAX)):
        return None
    value = int(text)
    return value if INT64_MIN <= value <= INT64_MAX else None


def infer_cells(texts: Sequence[str]) -> Type | None:
    """Return the narrowest type that fits all cells; None where there is none to tell from.

    An empty text says nothing: some writers put quotes around everything, absent values too.
    """
    some = [text for text in texts if text]
    if not some:
        return Type.STRING if texts else None
    if _WORDS.keys() >= set(some):
        return Type.STRING
    for kind, fits in _FITS.items():
        if all(map(fits, some)):
            return kind
    return Type.STRING


def guess_cell(text: str, kind: Type) -> Any:
    """Return the value of a cell in a column whose type was inferred from those before it.

    What does not fit stays text, except that a fraction may stand among integers: then the schema
    widens, or puts the text aside as opaque.
    """
    if kind not in _FITS:
        return read_cell(text, kind)
    if kind is Type.FLOAT64 and _FRACTION.fullmatch(text):
        return float(text)  # What most cells of a recorded stream are, without further questions.
    if not text:
        return None
    if not _FITS[kind](text):
        if kind is not Type.INT64 or not _is_float(text):
            return text
        kind = Type.FLOAT64
    return _read(text, kind)


def _is_int(text: str) -> bool:
    return bool(_CANONICAL.fullmatch(text)) and _int64(text) is not None


def _is_float(text: str) -> bool:
    return bool(_FRACTION.fullmatch(text)) or text in _NOT_FINITE or _is_int(text)


def _is_bool(text: str) -> bool:
    return text.lower() in _BOOLS


def _is_time(text: str) -> bool:
    if not _DATE.match(text):
        return False  # Python reads "20260131" as a time too; in a column that is an integer.
    try:
        parse_time(text)
    except EventError:
        return False
    return True


# From the narrowest on.
_FITS: Final[dict[Type, Callable[[str], bool]]] = {
    Type.INT64: _is_int,
    Type.FLOAT64: _is_float,
    Type.BOOL: _is_bool,
    Type.TIMESTAMP: _is_time,
}
