"""Kernels of the filters that look at the order of events: FIRST to EVERY.

Each takes keys or values of the judged events in order, and the groups that `by` makes of them
(None: all are one), and returns a mask of the events to drop. Groups never see each other.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from heliograph.event.columns import Keys, Mask

# Up to this many places per event, a table of all keys beats sorting them.
_TABLE_PER_EVENT: Final = 4
_TABLE_MIN: Final = 4_096
_EPSILON: Final = 2.0**-52
# From so many keys on, Arrow's hash table beats sorting them.
_LONG: Final = 1_048_576


def repeats(keys: Keys) -> Mask:
    """Select all but the first of each key."""
    count = len(keys)
    low, high = (int(keys.min()), int(keys.max())) if count else (0, 0)
    drop = np.ones(count, np.bool_)
    if high - low < max(_TABLE_MIN, _TABLE_PER_EVENT * count):
        table = np.empty(high - low + 1, np.intp)
        slots = keys - low
        # Of several assignments to one slot the last one stays: backwards, that is the first.
        table[slots[::-1]] = np.arange(count - 1, -1, -1)
        drop[table[slots]] = False
    elif count >= _LONG and (codes := _codes(keys)) is not None:
        # They rise with each key that is new, and only there.
        peaks = np.maximum.accumulate(codes)
        drop[1:] = peaks[1:] == peaks[:-1]
        drop[0] = False
    else:
        drop[np.unique(keys, return_index=True)[1]] = False
    return drop


def _codes(keys: Keys) -> Keys | None:
    """Return keys as codes in the order in which they first appear, if there is pyarrow."""
    try:
        from heliograph.event import arrow  # noqa: PLC0415 - a device does without it
    except ImportError:
        return None
    codes: Keys = arrow.codes_of(keys)
    return codes


def pairs(groups: Keys, keys: Keys) -> Keys:
    """Return integers that are equal exactly where both group and key are."""
    codes = np.unique(keys, return_inverse=True)[1]
    return np.unique(groups, return_inverse=True)[1] * (len(codes) + 1) + codes


def first(members: Mask, groups: Keys | None) -> Mask:
    """Drop the members of a set but the first one."""
    drop = members.copy()
    places = np.flatnonzero(members)
    if groups is None:
        drop[places[:1]] = False
    else:
        drop[places[~repeats(groups[places])]] = False
    return drop


def last(members: Mask, groups: Keys | None) -> Mask:
    """Drop the members of a set but the last one."""
    backwards = None if groups is None else groups[::-1]
    return first(members[::-1], backwards)[::-1]


def uniq(keys: Keys, groups: Keys | None) -> Mask:
    """Drop what equals the one before it in its group."""
    if groups is None:
        drop = np.zeros(len(keys), np.bool_)
        drop[1:] = keys[1:] == keys[:-1]
        return drop
    order = np.argsort(groups, kind="stable")
    sorted_keys, sorted_groups = keys[order], groups[order]
    drop = np.zeros(len(keys), np.bool_)
    same = (sorted_keys[1:] == sorted_keys[:-1]) & (sorted_groups[1:] == sorted_groups[:-1])
    drop[order[1:]] = same
    return drop


def guniq(keys: Keys, groups: Keys | None) -> Mask:
    """Drop all but the first of each key in its group."""
    return repeats(keys if groups is None else pairs(groups, keys))


def ranks(groups: Keys) -> npt.NDArray[np.int64]:
    """Return how many of its group stand before each event."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    sizes = np.diff(np.append(starts, len(groups)))
    result = np.empty(len(groups), np.int64)
    result[order] = np.arange(len(groups)) - np.repeat(starts, sizes)
    return result


def latest(count: int, groups: Keys | None, window: int) -> Mask:
    """Drop all but the last `window` of each group."""
    if groups is None:
        drop = np.zeros(count, np.bool_)
        drop[: max(0, count - window)] = True
        return drop
    if not count:
        return np.zeros(0, np.bool_)
    return ranks(groups[::-1])[::-1] >= window


def every(count: int, groups: Keys | None, n: int) -> Mask:
    """Select the positions 0, n, 2n, ... of each group."""
    if groups is None:
        selected = np.zeros(count, np.bool_)
        selected[::n] = True
        return selected
    return ranks(groups) % n == 0 if count else np.zeros(0, np.bool_)


def delta(values: npt.NDArray[Any], groups: Keys | None, change: float) -> Mask:
    """Drop what differs by less than `change` from the last kept one (Solar 6.8).

    Each decision rests on the one before, so this is a loop, over plain Python numbers, which are
    exact for int64. "By less" means `kept - change < value < kept + change`.
    """
    # Among values so large, rounding could lose the change.
    tight = values.dtype == np.float64 and not change > np.abs(values).max(initial=0) * _EPSILON
    if values.dtype == np.int64:
        change = math.ceil(change)  # The same for whole numbers, and exact.
    if groups is not None:
        return _delta_by(values.tolist(), groups.tolist(), change)
    drop = bytearray(b"\1") * len(values)
    # A view of the memory makes each Python number as the loop comes to it, never a list of all.
    numbers = np.ascontiguousarray(values).data
    low: float
    high: float
    low = high = numbers[0] if len(values) else 0  # So that the first one is kept.
    for place, value in enumerate(numbers):
        if value <= low or value >= high:
            drop[place] = False
            low, high = value - change, value + change
            if tight and value in (low, high):
                low, high = _next_to(value)
    return np.frombuffer(drop, np.bool_)


def _delta_by(values: list[Any], groups: list[int], change: float) -> Mask:
    bounds: dict[int, tuple[Any, Any]] = {}
    drop = np.zeros(len(values), np.bool_)
    for place, (value, group) in enumerate(zip(values, groups, strict=True)):
        low, high = bounds.get(group, (value, value))
        if value <= low or value >= high:
            low, high = value - change, value + change
            bounds[group] = _next_to(value) if value in (low, high) else (low, high)
        else:
            drop[place] = True
    return drop


def _next_to(value: float) -> tuple[float, float]:
    """Return the bounds around a float so large that `change` is lost in rounding.

    What equals it is dropped, what differs at all is kept. No number lies beyond an infinity; NaN
    is a bound that no value reaches.
    """
    low, high = math.nextafter(value, -math.inf), math.nextafter(value, math.inf)
    return math.nan if low == value else low, math.nan if high == value else high
