"""Kernels: what each filter of the catalogue does to a column, its parameters read for a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heliograph.event.columns import NumberColumn
from heliograph.event.errors import PolicyError
from heliograph.policy import judge, sequence
from heliograph.policy.operand import members, operand
from heliograph.policy.setting import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.event.columns import Column, Keys, Mask
    from heliograph.event.types import Type
    from heliograph.policy.model import Filter

    # Judges a column (None: no attribute is named) of so many events, in groups; says what to drop.
    Kernel = Callable[[Column | None, int, Keys | None], Mask]


def real(value: object) -> float:
    """Return a parameter that the document reader has checked to be a number."""
    if not isinstance(value, int | float):
        raise TypeError("the document reader lets only numbers through here")
    return value


def _selecting(one: Filter, select: Callable[[Column], Mask]) -> Kernel:
    """Return a kernel that keeps or drops what is selected, as the filter says."""
    if one.keeps:

        def drop(column: Column | None, _count: int, _groups: Keys | None) -> Mask:
            selected = select(_given(column))
            return np.logical_not(selected, out=selected)

        return drop
    return lambda column, _count, _groups: select(_given(column))


def _given(column: Column | None) -> Column:
    if column is None:
        raise TypeError("the document reader gives an attribute to every filter that needs one")
    return column


def _bind_compare(one: Filter, kind: Type | None) -> Kernel:
    return _selecting(one, judge.compare(one.name, operand(one, "value", kind)))


def _bind_within(one: Filter, kind: Type | None) -> Kernel:
    low, high = operand(one, "low", kind), operand(one, "high", kind)
    if low > high:
        raise PolicyError(f"low {low} is above high {high}", line=one.line, element=one.name)
    return _selecting(one, judge.within(low, high))


def _bind_match(one: Filter, _kind: Type | None) -> Kernel:
    return _selecting(one, judge.match(compile_pattern(str(one["pattern"]), one.line).search))


def _bind_sets(one: Filter, kind: Type | None) -> Kernel:
    if one.name == "CONTAIN":
        value = operand(one, "value", kind)
        return _selecting(one, judge.sets(lambda held: value in held))
    values = frozenset(operand(one, "values", kind))
    if one.name == "SUBSET":
        return _selecting(one, judge.sets(values.issuperset))
    return _selecting(one, judge.sets(values.issubset))


def _bind_ends(one: Filter, kind: Type | None) -> Kernel:
    member = judge.inset(members(one, kind))
    end = sequence.first if one.name == "FIRST" else sequence.last
    return lambda column, _count, groups: end(member(_given(column)), groups)


def _bind_uniq(one: Filter, _kind: Type | None) -> Kernel:
    drop = sequence.uniq if one.name == "UNIQ" else sequence.guniq
    return lambda column, _count, groups: drop(_given(column).keys(), groups)


def _bind_delta(one: Filter, _kind: Type | None) -> Kernel:
    change = real(one["change"])

    def drop(column: Column | None, _count: int, groups: Keys | None) -> Mask:
        if not isinstance(column, NumberColumn):
            raise TypeError("binding gives numbers to DELTA")
        return sequence.delta(column.values, groups, change)

    return drop


def _bind_latest(one: Filter, _kind: Type | None) -> Kernel:
    window = int(real(one["window"]))
    return lambda _column, count, groups: sequence.latest(count, groups, window)


def _bind_every(one: Filter, _kind: Type | None) -> Kernel:
    n, keeps = int(real(one["n"])), one.keeps

    def drop(_column: Column | None, count: int, groups: Keys | None) -> Mask:
        selected = sequence.every(count, groups, n)
        return ~selected if keeps else selected

    return drop


KERNELS: Final[dict[str, Callable[[Filter, Type | None], Kernel]]] = {
    **dict.fromkeys(("GT", "GE", "LT", "LE", "EQ", "NE"), _bind_compare),
    **dict.fromkeys(("CONTAIN", "SUBSET", "SUPSET"), _bind_sets),
    **dict.fromkeys(("FIRST", "LAST"), _bind_ends),
    **dict.fromkeys(("UNIQ", "GUNIQ"), _bind_uniq),
    "WITHIN": _bind_within,
    "INSET": lambda one, kind: _selecting(one, judge.inset(members(one, kind))),
    "MATCH": _bind_match,
    "DELTA": _bind_delta,
    "LATEST": _bind_latest,
    "EVERY": _bind_every,
}
