"""Binding: a policy meets a schema, once; afterwards each filter is one function over columns.

A filter whose parameter cannot apply to the attribute's type is refused here, with the reason told
to the receiver. An attribute that an open schema does not have yet is waited for: until it comes,
the filter judges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heliograph.event.errors import PolicyError
from heliograph.event.types import Type
from heliograph.policy import judge
from heliograph.policy.catalogue import DIGESTERS
from heliograph.policy.kernels import KERNELS, real

if TYPE_CHECKING:
    from heliograph.event.block import Places
    from heliograph.event.columns import Column, Columns, Mask
    from heliograph.event.schema import Schema
    from heliograph.policy.kernels import Kernel
    from heliograph.policy.model import Digester, Filter, Policy


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

    def mask(self, columns: Columns, ordinal: int) -> Mask:
        """Return which of all events survive: an eighth of the memory that their places take.

        A lane is short and most of it goes, so a pack asks for places; of millions of events in
        memory a mask is what `event.arrow.survivors` takes, and writes nothing twice.
        """
        if self.positions is not None:
            keep = np.zeros(columns.count, np.bool_)
            keep[self.positions] = True
            return keep
        drop = self._drops(columns, None, columns.count, ordinal)
        if drop is None:
            return np.ones(columns.count, np.bool_)
        return np.logical_not(drop, out=drop)

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
        seed, fraction = int(real(self.filter.get("seed", 0))), real(self.filter["fraction"])
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
    kernel = KERNELS[one.name](one, kind)
    return BoundFilter(one, place, kernel, waiting=False, positions=_positions(one))


def _positions(one: Filter) -> slice | None:
    """Return what survives a filter that looks neither at values nor at groups."""
    if one.attribute is not None or one.by is not None:
        return None
    if one.name == "LATEST":
        return slice(-int(real(one["window"])), None)
    if one.name == "EVERY" and one.keeps:
        return slice(None, None, int(real(one["n"])))
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
