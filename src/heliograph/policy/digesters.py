"""Digesters: what is said of the dropped events, and how two such sayings become one.

They are associative (PACK 2), so digests merge across packs and across hosts in any grouping.
Counts, extremes and whole-number sums are exact. Sums of floats are compensated: they differ from
the true sum by at most `SUM_TOLERANCE` times the sum of the magnitudes. Sketches stay within their
error bounds, which are properties of the sets and not of the order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heliograph.event.columns import NumberColumn, TextColumn
from heliograph.event.digest import Part
from heliograph.event.errors import EventError
from heliograph.event.types import INT64_MAX, INT64_MIN, Type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heliograph.event.block import Places
    from heliograph.event.columns import Column, Columns
    from heliograph.policy.model import Digester

SUM_TOLERANCE: Final = 1e-12
HLL_LG_K: Final = 12  # 4,096 buckets: a relative error of about 1.6 % (SPARK.md 10 reads them).
KLL_K: Final = 200  # A normalised rank error of 1.33 % for single-sided queries.
QUANTILES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
_SAFE: Final = 2**62


def parts_of(
    digesters: Iterable[tuple[Digester, Type | None]], columns: Columns, places: Places
) -> tuple[Part, ...]:
    """Return what the digesters say of the events at `places`."""
    parts = []
    seen: dict[str, Column] = {}
    for digester, kind in digesters:
        tag = digester.attribute
        if kind is None:  # It summarises all events, or its attribute has not come yet.
            parts.append(Part(digester.name, tag, 0 if tag else len(places), None))
            continue
        if tag not in seen:
            column = columns.column(tag).take(places)
            seen[tag] = (
                column if column.known is None else column.take(np.flatnonzero(column.known))
            )
        parts.append(_part(digester.name, tag, kind, seen[tag]))
    return tuple(parts)


def _part(name: str, tag: str, kind: Type, column: Column) -> Part:
    if isinstance(column, NumberColumn):
        known = len(column.values)
        value = _of_numbers(name, kind, column.values) if known else None
        return Part(name, tag, known, value)
    known = len(column.keys())
    if isinstance(column, TextColumn) and known:
        texts = [column.distinct[code] for code in np.unique(column.codes).tolist()]
        return Part(name, tag, known, _of_texts(name, kind, texts))
    return Part(name, tag, known, None)


def _of_numbers(name: str, kind: Type, values: Any) -> Any:
    match name:
        case "MAX":
            return np.maximum.reduce(values).item()
        case "MIN":
            return np.minimum.reduce(values).item()
        case "SUM" | "MEAN":
            return _sum(values, kind)
        case "QUANTILES":
            return _quantile_sketch(values)
        case "DISTINCT":
            return _distinct_sketch(np.unique(values).tolist(), kind)
    return None  # COUNT needs no value: how many are known says it.


def _of_texts(name: str, kind: Type, texts: list[Any]) -> Any:
    match name:
        case "MAX":
            return max(texts)
        case "MIN":
            return min(texts)
        case "DISTINCT":
            return _distinct_sketch(texts, kind)
    return None


def _sum(values: Any, kind: Type) -> float | str:
    if kind is Type.FLOAT64:
        if np.isfinite(values).all():
            try:
                return math.fsum(values.tolist())
            except OverflowError:
                pass  # The true sum is beyond float64: infinity, as plain addition has it.
        with np.errstate(invalid="ignore", over="ignore"):
            return float(values.sum())
    peak = max(int(np.maximum.reduce(values)), -int(np.minimum.reduce(values)))
    if peak * len(values) < _SAFE:
        return int(np.add.reduce(values))
    return _whole(sum(values.tolist()))


def _whole(value: int) -> int | str:
    """Return a whole number as msgpack can hold it: beyond int64 as its digits."""
    return value if INT64_MIN <= value <= INT64_MAX else str(value)


def _distinct_sketch(values: list[Any], kind: Type) -> bytes:
    from datasketches import hll_sketch  # noqa: PLC0415 - few policies ask for sketches

    sketch = hll_sketch(HLL_LG_K)
    for value in values:
        sketch.update(_hashed(value, kind))
    return bytes(sketch.serialize_compact())


def _hashed(value: Any, kind: Type) -> Any:
    """Return a value in the form in which the sketch tells it from all others of its attribute."""
    if kind is Type.BYTES:
        value = value.decode("latin-1")
    if isinstance(value, str):
        return value or "\x00"  # The sketch passes over empty texts.
    # Whole floats count as the int64 that they may have been before the schema was widened, and so
    # -0.0 as 0.0; a truth is a whole number.
    whole = kind is Type.BOOL or (kind is Type.FLOAT64 and value.is_integer())
    return int(value) if whole and abs(value) < _SAFE else value


def _quantile_sketch(values: Any) -> bytes:
    from datasketches import kll_doubles_sketch  # noqa: PLC0415 - few policies ask for sketches

    sketch = kll_doubles_sketch(KLL_K)
    sketch.update(values.astype(np.float64))
    return bytes(sketch.serialize())


def merge_parts(one: tuple[Part, ...], other: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return the union of two lists of parts; what both have is merged."""
    if not one or not other:
        return one or other
    merged = {(part.digester, part.attribute): part for part in one}
    for part in other:
        key = part.digester, part.attribute
        known = merged.get(key)
        merged[key] = part if known is None else merge_part(known, part)
    return tuple(merged.values())


def merge_part(one: Part, other: Part) -> Part:
    """Return what two parts of the same digester and attribute say together.

    Raises:
        EventError: A value is not what its digester makes; it came from outside.
    """
    known = one.known + other.known
    if one.value is None or other.value is None:
        value = one.value if other.value is None else other.value
        return Part(one.digester, one.attribute, known, value)
    try:
        if one.digester in ("SUM", "MEAN"):
            return _merge_sum(one, other, known)
        merged = _MERGE[one.digester](one.value, other.value)
    except (TypeError, ValueError, KeyError, RuntimeError, IndexError, OverflowError) as error:
        raise EventError(
            f"parts of {one.digester} of {one.attribute} that do not merge: {error}"
        ) from None
    return Part(one.digester, one.attribute, known, merged)


def _merge_sum(one: Part, other: Part, known: int) -> Part:
    if not isinstance(one.value, float) and not isinstance(other.value, float):
        whole = _whole(int(one.value) + int(other.value))
        return Part(one.digester, one.attribute, known, whole)
    mine, theirs = _real(one.value), _real(other.value)
    total = mine + theirs
    rest = 0.0
    if math.isfinite(total):
        # Knuth's two-sum: `lost` is exactly what rounding took from the total.
        back = total - mine
        lost = (mine - (total - back)) + (theirs - back)
        rest = one.rest + other.rest + lost
    return Part(one.digester, one.attribute, known, total, rest)


def _real(value: float | str) -> float:
    """Return a sum as a float; whole sums beyond int64 stand as digits."""
    return float(int(value)) if isinstance(value, str) else float(value)


def _merge_distinct(one: Any, other: Any) -> bytes:
    from datasketches import hll_sketch, hll_union  # noqa: PLC0415 - as above

    union = hll_union(HLL_LG_K)
    union.update(hll_sketch.deserialize(one))
    union.update(hll_sketch.deserialize(other))
    return bytes(union.get_result().serialize_compact())


def _merge_quantiles(one: Any, other: Any) -> bytes:
    from datasketches import kll_doubles_sketch  # noqa: PLC0415 - as above

    sketch = kll_doubles_sketch.deserialize(one)
    sketch.merge(kll_doubles_sketch.deserialize(other))
    return bytes(sketch.serialize())


_MERGE: Final[dict[str, Any]] = {
    "MAX": max,
    "MIN": min,
    "DISTINCT": _merge_distinct,
    "QUANTILES": _merge_quantiles,
}


def result(part: Part) -> Any:
    """Return what a part says to a person: a number, a text or quantiles; None for nothing.

    A timestamp is in microseconds.
    """
    if part.digester == "COUNT":
        return part.known
    if part.value is None or not part.known:
        return None
    value: Any = part.value
    if part.digester in ("SUM", "MEAN"):
        total = value + part.rest if isinstance(value, float) else int(value)
        return total if part.digester == "SUM" else total / part.known
    if part.digester == "DISTINCT":
        from datasketches import hll_sketch  # noqa: PLC0415 - as above

        return round(hll_sketch.deserialize(value).get_estimate())
    if part.digester == "QUANTILES":
        from datasketches import kll_doubles_sketch  # noqa: PLC0415 - as above

        sketch = kll_doubles_sketch.deserialize(value)
        ends = {0.0: sketch.get_min_value, 1.0: sketch.get_max_value}  # These it knows exactly.
        return {
            f"{rank:g}": ends[rank]() if rank in ends else sketch.get_quantile(rank)
            for rank in QUANTILES
        }
    return value
