"""Compact rows: the encoding of a block of few events.

A body is one byte (the width of a length), the length of every row, then the rows, each a msgpack
array `[time offset, value, ...]` without its trailing nulls. The lengths stand in front, so that a
block is split and thinned without its schema, and all rows of many blocks decode in one call.
"""

from __future__ import annotations

from functools import lru_cache
from keyword import iskeyword
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import asdict

from heliograph.event.errors import EventError
from heliograph.event.types import INT64_MAX, INT64_MIN, TIME_MAX, TIME_MIN, Type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_WIDTHS: Final = {1: "<u1", 2: "<u2", 4: "<u4"}
_Int64 = Annotated[int, msgspec.Meta(ge=INT64_MIN, le=INT64_MAX)]
# What may lie between two times: so an offset and the time of a block stay within int64.
_Offset = Annotated[int, msgspec.Meta(ge=TIME_MIN - TIME_MAX, le=TIME_MAX - TIME_MIN)]
_STORED: Final[dict[Type, Any]] = {
    Type.BOOL: bool,
    Type.INT64: _Int64,
    Type.FLOAT64: float,
    Type.STRING: str,
    Type.BYTES: bytes,
    Type.TIMESTAMP: _Int64,
}
# What msgspec raises for bytes from outside; a text that is no UTF-8 and too deep a nesting come
# as Python's own errors.
BROKEN: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
ATTRIBUTES_CACHED: Final = 64
# Where the time of a row stands among its values: no stream has an attribute of that tag.
TIME: Final = "_time"
_ENCODER: Final = msgspec.msgpack.Encoder()


def encode(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return the body of rows `[time offset, value, ...]`, as `Schema.row` makes them."""
    return assemble([encode_row(row) for row in rows])


def encode_row(row: Sequence[Any]) -> bytes:
    """Return one row of a body, without its trailing nulls.

    Raises:
        EventError: A text holds half a character (a surrogate), which UTF-8 cannot hold.
    """
    end = len(row)
    while end > 1 and row[end - 1] is None:
        end -= 1
    try:
        return _ENCODER.encode(row[:end] if end < len(row) else row)
    except UnicodeEncodeError as error:
        raise EventError(f"a text that is no UTF-8: {error}") from None


def assemble(encoded: Sequence[bytes]) -> bytes:
    """Return the body of encoded rows."""
    longest = max(map(len, encoded), default=0)
    if longest < 1 << 8:  # What nearly all rows are; a planet does this for all that it forwards.
        return b"".join([b"\x01", bytes(map(len, encoded)), *encoded])
    width = 2 if longest < 1 << 16 else 4
    lengths = b"".join([len(row).to_bytes(width, "little") for row in encoded])
    return b"".join([bytes((width,)), lengths, *encoded])


def check(body: bytes, count: int) -> None:
    """Refuse a body whose lengths do not add up; what is inside the rows shows when they decode.

    Raises:
        EventError: The body is cut short, or longer than its rows.
    """
    width = body[0] if body else 0
    if width not in _WIDTHS or len(body) < 1 + width * count:
        raise EventError("the lengths of the rows of a block are cut short")
    if 1 + width * count + _size(body, count) != len(body):
        raise EventError("the rows of a block do not have the lengths that it states")


def _size(body: bytes, count: int) -> int:
    """Return the bytes of the first `count` rows together."""
    if body[0] == 1:  # What nearly all blocks have: their bytes are the lengths.
        return sum(body[1 : 1 + count])
    return int(_lengths(body, count).sum())


def _lengths(body: bytes, count: int) -> npt.NDArray[np.int64]:
    width = body[0]
    return np.frombuffer(body, _WIDTHS[width], count, offset=1).astype(np.int64)


def payload(body: bytes, count: int) -> bytes:
    """Return the rows alone, one behind the other."""
    return body[1 + body[0] * count :]


def thin(body: bytes, count: int, keep: npt.NDArray[np.intp]) -> bytes:
    """Return the body of the rows at the places `keep`, copied, so that they pin nothing."""
    width = body[0]
    lengths = _lengths(body, count)
    ends = np.cumsum(lengths) + (1 + width * count)
    starts = ends - lengths
    if len(keep) and keep[-1] - keep[0] == len(keep) - 1:  # A run: one slice instead of many.
        first, last = int(keep[0]), int(keep[-1])
        head = body[1 + width * first : 1 + width * (last + 1)]
        return body[:1] + head + body[starts[first] : ends[last]]
    head = lengths[keep].astype(_WIDTHS[width]).tobytes()
    slices = zip(starts[keep].tolist(), ends[keep].tolist(), strict=True)
    return b"".join([body[:1], head, *[body[start:end] for start, end in slices]])


def split(body: bytes, count: int, place: int) -> tuple[bytes, bytes]:
    """Return the body of the first `place` rows, and that of the others."""
    head = 1 + body[0] * place
    start = 1 + body[0] * count
    cut = start + _size(body, place)
    return body[:head] + body[start:cut], body[:1] + body[head:start] + body[cut:]


def singles(body: bytes, count: int) -> list[bytes]:
    """Return one body for each row."""
    width = body[0]
    rows = []
    start = 1 + width * count
    for place in range(count):
        length = body[1 + width * place : 1 + width * (place + 1)]
        end = start + int.from_bytes(length, "little")
        rows.append(body[:1] + length + body[start:end])
        start = end
    return rows


def _row_decoder(
    names: Iterable[str], types: tuple[Type, ...], *, whole: bool = False
) -> msgspec.msgpack.Decoder[list[Any]]:
    """Return a decoder that checks every value against the schema while it reads it.

    Rows that are to be `whole` have all of their values: none is null.
    """
    time, *tags = names
    fields: list[Any] = [(time, _Offset)]
    for tag, kind in zip(tags, types, strict=True):
        stored = _STORED[kind.element]
        if kind.is_list:
            stored = list.__class_getitem__(stored)
        fields.append((tag, stored) if whole else (tag, stored | None, None))
    row = msgspec.defstruct("Row", fields, array_like=True, gc=False, forbid_unknown_fields=True)
    return msgspec.msgpack.Decoder(list[row])  # type: ignore[valid-type]


@lru_cache(maxsize=1_024)
def _decoder(types: tuple[Type, ...]) -> msgspec.msgpack.Decoder[list[Any]]:
    return _row_decoder(["time", *[f"v{place}" for place in range(len(types))]], types)


@lru_cache(maxsize=ATTRIBUTES_CACHED)
def _whole_decoder(
    tags: tuple[str, ...], types: tuple[Type, ...]
) -> msgspec.msgpack.Decoder[list[Any]] | None:
    """Return a decoder whose rows have the tags as names, where all of them can be names."""
    if any(tag.startswith("_") or iskeyword(tag) or not tag.isidentifier() for tag in tags):
        return None
    return _row_decoder([TIME, *tags], types, whole=True)


@lru_cache(maxsize=ATTRIBUTES_CACHED)
def values_of(count: int) -> Callable[[Any], tuple[Any, ...]]:
    """Return what takes the values of a decoded row of so many attributes out of it."""
    if count > 1:
        return attrgetter(*[f"v{place}" for place in range(count)])
    return (lambda row: (row.v0,)) if count else (lambda _: ())


def decode(bodies: Sequence[tuple[bytes, int]], types: tuple[Type, ...]) -> list[Any]:
    """Return the rows of many bodies with their counts, as structs with `time`, `v0`, `v1`, ...

    A row that is shorter than the schema was made before it grew: the rest is None.

    Raises:
        EventError: The bytes are no rows, or a value is not of the type that the schema says.
    """
    return _decoded(_decoder(types), bodies)


def decode_dicts(
    bodies: Sequence[tuple[bytes, int]], tags: tuple[str, ...], types: tuple[Type, ...]
) -> list[dict[str, Any]]:
    """Return the rows of many bodies as dicts: first the time as `TIME`, then the values by tag.

    What is absent is left out.

    Raises:
        EventError: As for `decode`.
    """
    decoder = _whole_decoder(tags, types)
    if decoder is not None:
        # Most events have all attributes: then there is nothing to look for in them.
        try:
            return [*map(asdict, _decoded(decoder, bodies))]
        except EventError:
            pass
    take = values_of(len(tags))
    return [
        {TIME: row.time}
        | {tag: one for tag, one in zip(tags, take(row), strict=True) if one is not None}
        for row in decode(bodies, types)
    ]


def _decoded(
    decoder: msgspec.msgpack.Decoder[list[Any]], bodies: Sequence[tuple[bytes, int]]
) -> list[Any]:
    parts, total = [b""], 0
    for body, count in bodies:
        parts.append(payload(body, count))
        total += count
    parts[0] = b"\xdd" + total.to_bytes(4, "big")
    try:
        return decoder.decode(b"".join(parts))
    except BROKEN as error:
        raise EventError(f"rows that do not fit their schema: {error}") from None
