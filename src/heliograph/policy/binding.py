"""Binding: a policy meets a schema, once; afterwards each filter is one function over columns.

A filter whose parameter cannot apply to the attribute's type is refused here, with the reason told
to the receiver. An attribute that an open schema does not have yet is waited for: until it comes,
the filter judges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heliograph.event.columns import NumberColumn
from heliograph.event.errors import PolicyError
from heliograph.event.types import Type
from heliograph.policy import judge, sequence
from heliograph.policy.catalogue import DIGESTERS
from heliograph.policy.operand import members, operand
from heliograph.policy.setting import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.event.block import Places
    from heliograph.event.columns import Column, Columns, Keys, Mask
    from heliograph.event.schema import Schema
    from heliograph.policy.model import Digester, Filter, Policy

    # Judges a column (None: no attribute is named) of so many events, in groups; says what to drop.
    Kernel = Callable[[Column | None, int, Keys | None], Mask]


@dataclass(frozen=True, slots=True)
class BoundFilter:
    """One filter, ready to run; `place` is its level and its place in it, both from 1."""

    filter: Filter
    place: tuple[int, int]
    kernel: Kernel | None  # None: it is RANDOM, or its attribute has not come yet.
    waiting: bool
    positions: slice | None = None  # All that survives, where positions alone decide it.

    def run(self, columns: Columns, places: Places | None, ordinal: int) -> Places:
        """Return those of the events at `places` (None: of all) that survive this filter."""
        count = columns.count if places is None else len(places)
        if self.positions is not None:
            every = np.arange(*self.positions.indices(count))
            return every if places is None else places[self.positions]
        drop = self._drops(columns, places, count, ordinal)
        if drop is None or not count:
            return np.arange(count) if places is None else places
        keep = np.logical_not(drop, out=drop)  # Nobody else holds the mask: no second one is made.
        return keep.nonzero()[0] if places is None else places[keep]

    def _drops(
        self, columns: Columns, places: Places | None, count: int, ordinal: int
    ) -> Mask | None:
        if self.waiting or not count:
            return None
        column = self._column(columns, self.filter.attribute, places)
        by = self._column(columns, self.filter.by, places)
        known = _both(None if column is None else column.known, None if by is None else by.known)
        if self.kernel is None:
            drop = self._random(columns, places, ordinal)
            return drop if known is None else drop & known
        if known is None:
            return self.kernel(column, count, None if by is None else by.keys())
        judged = np.flatnonzero(known)
        drop = np.zeros(count, np.bool_)
        column = None if column is None else column.take(judged)
        groups = None if by is None else by.take(judged).keys()
        drop[judged] = self.kernel(column, len(judged), groups)
        return drop

    @staticmethod
    def _column(columns: Columns, tag: str | None, places: Places | None) -> Column | None:
        if tag is None:
            return None
        column = columns.column(tag)
        return column if places is None else column.take(places)

    def _random(self, columns: Columns, places: Places | None, ordinal: int) -> Mask:
        """Decide by stream, epoch and number, so epoch by epoch."""
        seed, fraction = int(_real(self.filter.get("seed", 0))), _real(self.filter["fraction"])
        parts, start = [], 0
        numbers = columns.numbers()
        for stream, epoch, count in columns.runs():
            key = judge.random_key(seed, self.place, stream, epoch, ordinal)
            parts.append(judge.random_drops(key, numbers[start : start + count], fraction))
            start += count
        drop = np.concatenate(parts)
        return drop if places is None else drop[places]


def _both(one: Mask | None, other: Mask | None) -> Mask | None:
    return other if one is None else one if other is None else one & other


def _real(value: object) -> float:
    """Return a parameter that the document reader has checked to be a number."""
    if not isinstance(value, int | float):
        raise TypeError("the document reader lets only numbers through here")
    return value


@dataclass(frozen=True, slots=True)
class BoundPolicy:
    """A policy bound to a version of a schema."""

    policy: Policy
    schema: Schema
    always: tuple[BoundFilter, ...]
    levels: tuple[tuple[BoundFilter, ...], ...]
    digesters: tuple[tuple[Digester, Type | None], ...]

    @property
    def top(self) -> int:
        """The number of the highest level; 0 where there is none."""
        return len(self.levels)

    def waits_for(self) -> tuple[str, ...]:
        """Return the attributes that the stream does not have yet."""
        filters = (*self.always, *(one for level in self.levels for one in level))
        tags = [tag for one in filters if one.waiting for tag in _tags(one.filter)]
        tags += [digester.attribute for digester, kind in self.digesters if kind is None]
        return tuple(dict.fromkeys(tag for tag in tags if tag and tag not in self.schema.index))


def _tags(one: Filter) -> tuple[str, ...]:
    return tuple(tag for tag in (one.attribute, one.by) if tag is not None)


def bind(policy: Policy, schema: Schema) -> BoundPolicy:
    """Make a policy ready for a stream.

    Raises:
        PolicyError: A filter or digester cannot apply; the message names it and the reason.
    """
    always = tuple(_bind(one, schema, (0, n)) for n, one in enumerate(policy.always, 1))
    levels = tuple(
        tuple(_bind(one, schema, (rung, n)) for n, one in enumerate(level.filters, 1))
        for rung, level in enumerate(policy.levels, 1)
    )
    digesters = tuple((one, _digested(one, schema)) for one in policy.digesters)
    return BoundPolicy(policy, schema, always, levels, digesters)


def _bind(one: Filter, schema: Schema, place: tuple[int, int]) -> BoundFilter:
    waiting = False
    for tag in _tags(one):
        waiting = not _known(tag, schema, one.line, one.name) or waiting
    kind = schema.type_of(one.attribute) if one.attribute is not None else None
    if kind is not None and kind not in one.kind.types:
        wanted = ", ".join(known.value for known in Type if known in one.kind.types)
        raise PolicyError(
            f"attribute {one.attribute} is {kind.value}; this filter applies to {wanted}",
            line=one.line,
            element=one.name,
        )
    if waiting or one.name == "RANDOM":
        return BoundFilter(one, place, None, waiting)
    kernel = _KERNELS[one.name](one, kind)
    return BoundFilter(one, place, kernel, waiting=False, positions=_positions(one))


def _positions(one: Filter) -> slice | None:
    """Return what survives a filter that looks neither at values nor at groups."""
    if one.attribute is not None or one.by is not None:
        return None
    if one.name == "LATEST":
        return slice(-int(_real(one["window"])), None)
    if one.name == "EVERY" and one.keeps:
        return slice(None, None, int(_real(one["n"])))
    return None


def _known(tag: str, schema: Schema, line: int | None, element: str) -> bool:
    if tag in schema.index:
        return True
    if schema.declared:
        raise PolicyError(
            f"the stream declares no attribute {tag}; it has {', '.join(schema.index) or 'none'}",
            line=line,
            element=element,
        )
    return False


def _digested(digester: Digester, schema: Schema) -> Type | None:
    tag = digester.attribute
    if not tag or not _known(tag, schema, digester.line, digester.name):
        return None
    kind = schema.type_of(tag)
    if kind not in DIGESTERS[digester.name].types:
        raise PolicyError(
            f"attribute {tag} is {kind.value if kind else 'unknown'}, "
            f"of which {digester.name} says nothing",
            line=digester.line,
            element=digester.name,
        )
    return kind


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
    change = _real(one["change"])

    def drop(column: Column | None, _count: int, groups: Keys | None) -> Mask:
        if not isinstance(column, NumberColumn):
            raise TypeError("binding gives numbers to DELTA")
        return sequence.delta(column.values, groups, change)

    return drop


def _bind_latest(one: Filter, _kind: Type | None) -> Kernel:
    window = int(_real(one["window"]))
    return lambda _column, count, groups: sequence.latest(count, groups, window)


def _bind_every(one: Filter, _kind: Type | None) -> Kernel:
    n, keeps = int(_real(one["n"])), one.keeps

    def drop(_column: Column | None, count: int, groups: Keys | None) -> Mask:
        selected = sequence.every(count, groups, n)
        return ~selected if keeps else selected

    return drop


_KERNELS: dict[str, Callable[[Filter, Type | None], Kernel]] = {
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
