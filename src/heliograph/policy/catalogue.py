"""The filters and digesters that exist: names, parameters, defaults, types, and what they mean.

Everything that lists filters reads this table: the document reader, the JSON Schema, the plain
reading, the reference in `docs/` and its test. The kernels that run them stand in `binding`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from heliograph.event.types import Type


class Action(enum.StrEnum):
    """What a filter does with the events that its test selects."""

    KEEP = "keep"
    DROP = "drop"


class Shape(enum.Enum):
    """What a parameter looks like in a document."""

    LITERAL = "a number, a text, a truth or a time"
    LITERALS = "a list of values"
    NUMBER = "a number above 0"
    COUNT = "a whole number from 1 to 2**63 - 1"
    FRACTION = "a number from 0 to 1"
    SEED = "a whole number from 0 to 2**63 - 1"
    PATTERN = "a regular expression"


NUMERIC: Final = frozenset({Shape.NUMBER, Shape.COUNT, Shape.FRACTION, Shape.SEED})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a filter."""

    name: str
    shape: Shape
    required: bool = True
    default: int | None = None


@dataclass(frozen=True, slots=True)
class FilterKind:
    """One filter: `selects` completes "of the events whose attribute is present, ..."."""

    name: str
    selects: str
    parameters: tuple[Parameter, ...]
    types: frozenset[Type]
    action: Action | None = None  # None: the filter has one meaning only.
    by: bool = False  # Whether it can run separately per value of a tag.
    alone: bool = True  # Whether it judges each event without looking at others.
    needs_attribute: bool = True


@dataclass(frozen=True, slots=True)
class DigesterKind:
    """One digester: what it says of the dropped events."""

    name: str
    says: str
    types: frozenset[Type]
    needs_attribute: bool = True


NUMBERS: Final = frozenset({Type.INT64, Type.FLOAT64})
ORDERED: Final = NUMBERS | {Type.STRING, Type.TIMESTAMP}
LITERALS: Final = ORDERED | {Type.BOOL}
SETS: Final = frozenset(one.list for one in LITERALS)
ALL: Final = frozenset(Type)

_VALUE: Final = (Parameter("value", Shape.LITERAL),)
_VALUES: Final = (Parameter("values", Shape.LITERALS),)
_KEEP: Final = Action.KEEP
_DROP: Final = Action.DROP


def _sequence(
    name: str,
    selects: str,
    parameters: tuple[Parameter, ...] = (),
    types: frozenset[Type] = ALL,
    action: Action | None = None,
    *,
    needs_attribute: bool = True,
) -> FilterKind:
    """Return a filter that looks at the order of the events, and so can run `by` a tag."""
    return FilterKind(
        name, selects, parameters, types, action,
        by=True, alone=False, needs_attribute=needs_attribute,
    )  # fmt: skip


FILTERS: Final = {
    kind.name: kind
    for kind in (
        FilterKind("GT", "those whose value is above `value`", _VALUE, ORDERED, _KEEP),
        FilterKind("GE", "those whose value is `value` or above", _VALUE, ORDERED, _KEEP),
        FilterKind("LT", "those whose value is below `value`", _VALUE, ORDERED, _KEEP),
        FilterKind("LE", "those whose value is `value` or below", _VALUE, ORDERED, _KEEP),
        FilterKind("EQ", "those whose value equals `value`", _VALUE, LITERALS, _KEEP),
        FilterKind("NE", "those whose value does not equal `value`", _VALUE, LITERALS, _KEEP),
        FilterKind(
            "WITHIN",
            "those whose value is from `low` to `high`, both included",
            (Parameter("low", Shape.LITERAL), Parameter("high", Shape.LITERAL)),
            ORDERED,
            _DROP,
        ),
        FilterKind("INSET", "those whose value is one of `values`", _VALUES, LITERALS, _DROP),
        FilterKind(
            "MATCH",
            "those in whose value `pattern` is found (an RE2 regular expression)",
            (Parameter("pattern", Shape.PATTERN),),
            frozenset({Type.STRING}),
            _DROP,
        ),
        FilterKind("CONTAIN", "those whose set contains `value`", _VALUE, SETS, _DROP),
        FilterKind(
            "SUBSET", "those whose set lies within `values`, or equals it", _VALUES, SETS, _DROP
        ),
        FilterKind(
            "SUPSET", "those whose set holds all of `values`, or equals it", _VALUES, SETS, _DROP
        ),
        _sequence(
            "FIRST",
            "of those whose value is one of `values`, all but the first are dropped",
            _VALUES,
            LITERALS,
        ),
        _sequence(
            "LAST",
            "of those whose value is one of `values`, all but the last are dropped",
            _VALUES,
            LITERALS,
        ),
        _sequence("UNIQ", "those that equal the one before are dropped"),
        _sequence("GUNIQ", "all but the first of each value are dropped"),
        _sequence(
            "DELTA",
            "those that differ by less than `change` from the last kept one are dropped",
            (Parameter("change", Shape.NUMBER),),
            NUMBERS,
        ),
        _sequence(
            "LATEST",
            "all but the last `window` are dropped",
            (Parameter("window", Shape.COUNT),),
            needs_attribute=False,
        ),
        _sequence(
            "EVERY",
            "those at the positions 0, n, 2n, ...",
            (Parameter("n", Shape.COUNT),),
            action=_KEEP,
            needs_attribute=False,
        ),
        FilterKind(
            "RANDOM",
            "about the `fraction` of them are dropped, the same ones wherever it runs",
            (
                Parameter("fraction", Shape.FRACTION),
                Parameter("seed", Shape.SEED, required=False, default=0),
            ),
            ALL,
            needs_attribute=False,
        ),
    )
}

DIGESTERS: Final = {
    kind.name: kind
    for kind in (
        DigesterKind("MAX", "the largest value", ORDERED),
        DigesterKind("MIN", "the smallest value", ORDERED),
        DigesterKind("COUNT", "how many had a value", ALL, needs_attribute=False),
        DigesterKind("SUM", "the sum of the values", NUMBERS),
        DigesterKind("MEAN", "the mean of the values", NUMBERS),
        DigesterKind(
            "DISTINCT",
            "about how many different values there were (HyperLogLog, within 4 %)",
            ALL - SETS - {Type.BYTES_LIST},
        ),
        DigesterKind(
            "QUANTILES",
            "about which values stand at a quarter, half and three quarters (KLL, 1.7 % of rank)",
            NUMBERS | {Type.TIMESTAMP},
        ),
    )
}
