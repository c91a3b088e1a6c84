"""Columns: the events of a whole lane, decoded once and read attribute by attribute.

Filters and digesters see this and never a block: a lane is packed as a whole (PACK 2), whatever
the forms and sizes of its blocks are. An attribute that nobody asks for is not converted.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from heliograph.event import rows
from heliograph.event.block import ROWS, Block, Places
from heliograph.event.errors import EventError
from heliograph.event.types import Type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heliograph.event.schema import Schema

Mask = npt.NDArray[np.bool_]
Keys = npt.NDArray[np.int64]


@dataclass(slots=True)
class NumberColumn:
    """Values of bool, int64, float64 or timestamp; where `known` is false there is none or NaN."""

    values: npt.NDArray[Any]
    known: Mask | None

    def keys(self) -> Keys:
        """Return integers that are equal exactly where the values are."""
        if self.values.dtype == np.float64:
            return (self.values + 0.0).view(np.int64)  # -0.0 + 0.0 is 0.0: they are equal.
        return self.values.astype(np.int64, copy=False)

    def take(self, places: Places) -> NumberColumn:
        """Return the values at some places."""
        known = None if self.known is None else self.known[places]
        return NumberColumn(self.values[places], known)

    def tolist(self) -> list[Any]:
        """Return the values as Python values; what stands where none is known has no meaning."""
        values: list[Any] = self.values.tolist()
        return values


@dataclass(slots=True)
class TextColumn:
    """Values of string or bytes, each as a code into the distinct ones, to be judged once."""

    codes: Keys
    distinct: list[Any]
    known: Mask | None

    def keys(self) -> Keys:
        """Return integers that are equal exactly where the values are."""
        return self.codes

    def take(self, places: Places) -> TextColumn:
        """Return the values at some places."""
        known = None if self.known is None else self.known[places]
        return TextColumn(self.codes[places], self.distinct, known)

    def tolist(self) -> list[Any]:
        """Return the values as Python values; what stands where none is known has no meaning."""
        return [self.distinct[code] for code in self.codes.tolist()]


@dataclass(slots=True)
class ListColumn:
    """Values that are lists, which the set filters take as sets."""

    values: list[Any]
    known: Mask | None

    def keys(self) -> Keys:
        """Return integers that are equal exactly where the values are equal as sets."""
        codes: dict[Any, int] = {}
        sets = (frozenset(value) if value is not None else None for value in self.values)
        return np.array([codes.setdefault(one, len(codes)) for one in sets], np.int64)

    def take(self, places: Places) -> ListColumn:
        """Return the values at some places."""
        known = None if self.known is None else self.known[places]
        return ListColumn([self.values[place] for place in places.tolist()], known)

    def tolist(self) -> list[Any]:
        """Return the values as Python values; what stands where none is known has no meaning."""
        return self.values


Column = NumberColumn | TextColumn | ListColumn

_DTYPES: Final = {
    Type.BOOL: np.bool_,
    Type.INT64: np.int64,
    Type.FLOAT64: np.float64,
    Type.TIMESTAMP: np.int64,
}


_FORM: Final = attrgetter("form")


class Columns:
    """The events of some blocks of one stream, in their order."""

    def __init__(self, blocks: Sequence[Block], schema: Schema) -> None:
        """Decode the blocks; all rows among neighbouring blocks in one call."""
        self.blocks = blocks
        self.schema = schema
        self.count = sum(block.count for block in blocks)
        self._columns: dict[str, Column] = {}
        self._chunks: list[Any] = []
        self._batches: dict[int, Any] = {}
        for form, group in groupby(blocks, _FORM):
            run = list(group)
            if form == ROWS:
                bodies = [(block.body, block.count) for block in run]
                self._chunks.append((run, rows.decode(bodies, schema.types)))
            else:
                from heliograph.event import arrow  # noqa: PLC0415 - a device does without pyarrow

                self._chunks += [([block], arrow.read_batch(block, schema)) for block in run]

    def times(self) -> npt.NDArray[np.int64]:
        """Return the time of each event in microseconds, as it came: it may be no time at all."""
        parts = []
        for run, data in self._chunks:
            if isinstance(data, list):
                counts = [block.count for block in run]
                starts = np.repeat(np.array([block.time for block in run], np.int64), counts)
                offsets = np.array([row.time for row in data], np.int64)
                parts.append(starts + offsets)
            else:
                parts.append(data.column(0).to_numpy().view(np.int64))
        return _join(parts)

    def numbers(self) -> npt.NDArray[np.int64]:
        """Return the number of each event."""
        return _join([block.numbers() for block in self.blocks])

    def thin(self, block: int, keep: Places) -> Block:
        """Return one of the blocks with only the events at the places `keep`."""
        found = self.blocks[block]
        if found.form == ROWS or len(keep) == found.count or found.version != self.schema.version:
            return found.thin(keep, self.schema)
        if not self._batches:
            self._batches = {id(run[0]): data for run, data in self._chunks}
        # What has been decoded once is not decoded again to be thinned.
        from heliograph.event import arrow  # noqa: PLC0415 - a device does without pyarrow

        return found.with_body(keep, arrow.take(self._batches[id(found)], keep))

    def runs(self) -> list[tuple[str, int, int]]:
        """Return the stream, the epoch and the number of events of each run of one epoch."""
        return [
            (stream, epoch, sum(block.count for block in run))
            for (stream, epoch), run in groupby(self.blocks, attrgetter("stream", "epoch"))
        ]

    def column(self, tag: str) -> Column:
        """Return one attribute of all events."""
        found = self._columns.get(tag)
        if found is None:
            found = self._columns[tag] = self._decode(tag)
        return found

    def _decode(self, tag: str) -> Column:
        place = self.schema.index.get(tag)
        if place is None:
            raise EventError(f"the stream has no attribute {tag}")
        kind = self.schema.types[place]
        if kind in _DTYPES:
            return self._numbers(place, kind)
        if kind.is_list:
            return _lists(self._values(place))
        batches = [data for _, data in self._chunks if not isinstance(data, list)]
        if len(batches) == len(self._chunks) > 0:
            return _coded([batch.column(place + 1) for batch in batches])
        return _texts(self._values(place))

    def _numbers(self, place: int, kind: Type) -> NumberColumn:
        """Bring a column of numbers out of rows and Arrow, the latter without a copy."""
        values, masks = [], []
        for _, data in self._chunks:
            if isinstance(data, list):
                name = f"v{place}"
                some, mask = _array([getattr(row, name) for row in data], kind)
            else:
                some, mask = _from_arrow(data.column(place + 1), kind)
            values.append(some)
            masks.append(mask)
        whole = _join(values)
        if all(mask is None for mask in masks):
            return NumberColumn(whole, None)
        filled = [
            np.ones(len(some), np.bool_) if mask is None else mask
            for some, mask in zip(values, masks, strict=True)
        ]
        return NumberColumn(whole, _join(filled))

    def _values(self, place: int) -> list[Any]:
        """Return an attribute as Python values, None where it is absent."""
        values: list[Any] = []
        for _, data in self._chunks:
            if isinstance(data, list):
                name = f"v{place}"
                values += [getattr(row, name) for row in data]
            else:
                from heliograph.event import arrow  # noqa: PLC0415 - see above

                values += arrow.stored_values(data.column(place + 1), self.schema.types[place])
        return values


def _join(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts or [np.empty(0, np.int64)])


def _array(values: list[Any], kind: Type) -> tuple[npt.NDArray[Any], Mask | None]:
    """Turn values with some None among them into an array and where it is known."""
    if kind is Type.FLOAT64:
        return _without_nan(np.array(values, np.float64))  # None becomes NaN on the way.
    if None not in values:
        return np.array(values, _DTYPES[kind]), None
    known = np.array([value is not None for value in values])
    return np.array([value or 0 for value in values], _DTYPES[kind]), known


def _without_nan(values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], Mask | None]:
    missing = np.isnan(values)
    return values, ~missing if missing.any() else None


def _from_arrow(column: Any, kind: Type) -> tuple[npt.NDArray[Any], Mask | None]:
    known = None
    if column.null_count:
        known = column.is_valid().to_numpy(zero_copy_only=False)
        column = column.fill_null(_nothing(kind))
    values = column.to_numpy(zero_copy_only=False)
    if kind is Type.TIMESTAMP:
        values = values.view(np.int64)
    elif kind is Type.FLOAT64:
        values, numbers = _without_nan(values)
        known = numbers if known is None else known if numbers is None else known & numbers
    return values, known


def _nothing(kind: Type) -> Any:
    """Return what fills the places of nulls: any value of the type will do."""
    from heliograph.event import arrow  # noqa: PLC0415 - see above

    return arrow.nothing(kind)


def _coded(columns: list[Any]) -> TextColumn:
    """Bring text out of Arrow with its distinct values found there."""
    from heliograph.event import arrow  # noqa: PLC0415 - see above

    codes, distinct = arrow.codes(columns)
    known = codes >= 0
    # Without any value, the code -1 would have nothing to point at.
    return TextColumn(codes, distinct or [None], None if known.all() else known)


def _texts(values: list[Any]) -> TextColumn:
    codes: dict[Any, int] = {}
    places = np.array([codes.setdefault(value, len(codes)) for value in values], np.int64)
    nothing = codes.get(None)
    return TextColumn(places, list(codes), None if nothing is None else places != nothing)


def _lists(values: list[Any]) -> ListColumn:
    if None not in values:
        return ListColumn(values, None)
    return ListColumn(values, np.array([value is not None for value in values]))
