"""Short words for the tests: bind a document, run one filter, write events down."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from heliograph.event.columns import Columns
from heliograph.event.schema import Schema
from heliograph.event.types import Type, infer
from heliograph.policy.binding import BoundPolicy, bind
from heliograph.policy.document import loads
from policy import twin
from policy.strategies_policy import block
from policy.twin import One

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heliograph.event.block import Block
    from heliograph.policy.model import Filter

PULSE = Schema.declare({"PulseRate": "float64", "patient": "string"})


def bound(*levels: Any, schema: Schema, **fields: Any) -> BoundPolicy:
    """Bind a policy of levels, each one filter or a list of filters, as JSON has them."""
    chains = [{"filters": [one] if isinstance(one, dict) else one} for one in levels]
    return bind(loads(json.dumps({"levels": chains} | fields)), schema)


def events(*values: Any, tag: str = "a", first: int = 1, epoch: int = 1) -> list[One]:
    """Return events of one attribute, numbered from `first`, a second apart."""
    return [
        One(epoch, number, number * 1_000_000, {tag: value})
        for number, value in enumerate(values, first)
    ]


def drops(one: BoundPolicy, blocks: Sequence[Block], *, ordinal: int = 0) -> list[bool]:
    """Say of each event whether the first filter of a policy drops it."""
    columns = Columns(blocks, one.schema)
    kept = one.levels[0][0].run(columns, None, ordinal).tolist()
    return [place not in kept for place in range(columns.count)]


def judged(document: dict[str, Any], *values: Any, kind: Type | None = None) -> list[Any]:
    """Return those of the values that a filter over them keeps; the twin must agree."""
    kind = kind or next(found for found in map(infer, values) if found is not None)
    schema = Schema.declare({"a": kind})
    rows = [schema.row({"a": value})[0] for value in values]
    policy = bound({"attribute": "a"} | document, schema=schema)
    found = drops(policy, [block(events(*rows), schema)])
    assert found == drops(policy, [block(events(*rows), schema, columns=True)])
    one: Filter = policy.policy.levels[0].filters[0]
    assert found == twin.dropped_by(one, events(*rows), {"a": kind})
    return [value for value, drop in zip(values, found, strict=True) if not drop]


def same_after_a_level(
    one: BoundPolicy, blocks: Sequence[Block], places: Sequence[int], ordinal: int
) -> list[int]:
    """Return what the first filter leaves of the events that an earlier one left."""
    columns = Columns(blocks, one.schema)
    kept: list[int] = one.levels[0][0].run(columns, np.array(places, np.intp), ordinal).tolist()
    return kept
