"""Kernels of the filters that judge each event alone: comparisons, sets, patterns, RANDOM.

Each takes a parameter already of the attribute's type, and returns a function from a column to a
mask of the events that the filter selects. Text is judged once per distinct value.
"""

from __future__ import annotations

import hashlib
import math
import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heliograph.event.columns import Column, ListColumn, Mask, NumberColumn, TextColumn
from heliograph.event.types import INT64_MAX, INT64_MIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    Select = Callable[[Column], Mask]

# Numbers that stay in the cache of a core, so that looking at them twice fetches them once.
_PIECE: Final = 65_536
_COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "GT": operator.gt,
    "GE": operator.ge,
    "LT": operator.lt,
    "LE": operator.le,
    "EQ": operator.eq,
    "NE": operator.ne,
}


def compare(name: str, value: Any) -> Select:
    """Select the events that satisfy one of GT GE LT LE EQ NE."""
    test = _COMPARE[name]

    def select(column: Column) -> Mask:
        if isinstance(column, NumberColumn):
            if column.values.dtype == np.int64:
                return _compare_exactly(name, column.values, value)
            return test(column.values, value)  # type: ignore[no-any-return]
        return by_distinct(column, lambda one: test(one, value))

    return select


def _compare_exactly(name: str, values: npt.NDArray[np.int64], value: float) -> Mask:
    """Compare integers with any number as mathematics does, not after rounding to float64."""
    if isinstance(value, float) and not math.isinf(value):
        # Above 21.5 means above 21, from 21.5 means from 22; nothing equals 21.5.
        whole = math.floor(value) if name in ("GT", "LE") else math.ceil(value)
        if name in ("EQ", "NE") and whole != value:
            return np.full(len(values), name == "NE")
        value = whole
    if not INT64_MIN <= value <= INT64_MAX:
        return np.full(len(values), bool(_COMPARE[name](0, value)))
    return _COMPARE[name](values, value)  # type: ignore[no-any-return]


def within(low: Any, high: Any) -> Select:
    """Select the events from `low` to `high`."""
    above, below = compare("GE", low), compare("LE", high)

    def both(column: Column) -> Mask:
        selected = above(column)
        return np.logical_and(selected, below(column), out=selected)

    def select(column: Column) -> Mask:
        if not isinstance(column, NumberColumn) or len(column.values) <= _PIECE:
            return both(column)
        selected = np.empty(len(column.values), np.bool_)
        for at in range(0, len(selected), _PIECE):
            part = slice(at, at + _PIECE)
            selected[part] = both(NumberColumn(column.values[part], None))
        return selected

    return select


def inset(values: Iterable[Any]) -> Select:
    """Select the events whose value is one of `values`."""
    members = frozenset(values)
    numbers = sorted(members) if not any(isinstance(one, str) for one in members) else []

    def select(column: Column) -> Mask:
        if isinstance(column, NumberColumn):
            return np.isin(column.values, np.array(numbers, column.values.dtype))
        return by_distinct(column, members.__contains__)

    return select


def match(search: Callable[[str], Any]) -> Select:
    """Select the events in whose value a pattern is found."""
    return lambda column: by_distinct(column, lambda text: search(text) is not None)


def by_distinct(column: Column, test: Callable[[Any], Any]) -> Mask:
    """Judge each distinct text once; None stands among them where there is no value."""
    if not isinstance(column, TextColumn):
        raise TypeError("binding gives texts to what judges texts")
    verdicts = [one is not None and bool(test(one)) for one in column.distinct]
    # One more for the code -1, which stands where Arrow has a null.
    return np.array([*verdicts, False])[column.codes]


def sets(test: Callable[[frozenset[Any]], bool]) -> Select:
    """Select the events whose list, as a set, passes a test."""

    def select(column: Column) -> Mask:
        if not isinstance(column, ListColumn):
            raise TypeError("binding gives lists to what judges sets")
        return np.array(
            [value is not None and test(frozenset(value)) for value in column.values], np.bool_
        )

    return select


_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)


def random_key(seed: int, place: tuple[int, int], stream: str, epoch: int, ordinal: int) -> int:
    """Return what makes RANDOM decide differently in each filter, stream, epoch and pack."""
    text = f"{seed}:{place[0]}:{place[1]}:{epoch}:{ordinal}:{stream}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def random_drops(key: int, numbers: npt.NDArray[np.int64], fraction: float) -> Mask:
    """Select about a fraction of the numbers; the same ones in a planet, a simulation, on Spark.

    The finaliser of SplitMix64 turns key and number into 64 even bits.
    """
    if fraction >= 1:
        return np.ones(len(numbers), np.bool_)
    mixed = numbers.astype(np.uint64) * _GOLDEN + np.uint64(key)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed < np.uint64(int(fraction * 2**64))
