"""Compares a pack of ours with the twin's, and digests with what they must say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from datasketches import kll_doubles_sketch

from heliograph.event.columns import Columns
from heliograph.event.digest import Digest
from heliograph.event.types import Type
from heliograph.policy.digesters import SUM_TOLERANCE, result
from policy.strategies_policy import Kinds, block, known
from policy.twin import Entry, One, Told, said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heliograph.event.block import Block
    from heliograph.event.digest import Part
    from heliograph.event.schema import Schema
    from heliograph.policy.model import Digester, Policy


def one_by_one(entries: Sequence[Block | Digest], schema: Schema) -> list[Any]:
    """Return entries one by one, however they stand in blocks: digests, and events as texts."""
    found: list[Any] = []
    for entry in entries:
        if isinstance(entry, Digest):
            found.append(entry)
            continue
        columns = Columns([entry], schema)
        values = [known(columns, tag) for tag in schema.index]
        rows = zip(*values, strict=True) if values else [()] * columns.count
        numbers, times = columns.numbers().tolist(), columns.times().tolist()
        found += [
            f"{entry.epoch}:{number} at {time} {row!r}"
            for number, time, row in zip(numbers, times, rows, strict=True)
        ]
    return found


def check_same(
    ours: Sequence[Block | Digest],
    twins: Sequence[Entry],
    policy: Policy,
    kinds: Kinds,
    schema: Schema,
) -> None:
    """Hold a packed lane against the twin's, entry by entry."""
    entries = one_by_one(ours, schema)
    assert len(entries) == len(twins)
    for mine, wanted in zip(entries, twins, strict=True):
        if isinstance(wanted, One):
            assert [mine] == one_by_one([block([wanted], schema)], schema)
        else:
            assert isinstance(mine, Digest)
            check_digest_says(mine, wanted, policy, kinds)


def check_digest_says(ours: Digest, wanted: Told, policy: Policy, kinds: Kinds) -> None:
    """Hold a digest against the dropped events that it stands for."""
    assert (ours.epoch, ours.after, ours.upto) == (wanted.epoch, wanted.after, wanted.upto)
    assert (ours.count, ours.filtered) == (len(wanted.dropped), wanted.filtered)
    times = [one.time for one in wanted.dropped]
    assert ours.first_time == min(times, default=None)
    assert ours.last_time == max(times, default=None)
    if not wanted.dropped:
        return
    assert len(ours.parts) == len(policy.digesters)
    for digester in policy.digesters:
        part = next(
            one
            for one in ours.parts
            if (one.digester, one.attribute) == (digester.name, digester.attribute)
        )
        check_part_says(part, digester, wanted.dropped, kinds)


def check_part_says(part: Part, digester: Digester, dropped: Sequence[One], kinds: Kinds) -> None:
    """Hold what one digester says against the values themselves."""
    count, wanted = said(digester, dropped, kinds)
    assert part.known == count
    if digester.name == "COUNT":
        assert result(part) == count
        return
    if not count:
        assert result(part) is None
        return
    tag, name = digester.attribute, digester.name
    if name in ("MAX", "MIN"):
        assert result(part) == wanted
    elif name == "DISTINCT":
        assert abs(result(part) - wanted) <= max(1, 0.04 * wanted)
    elif name == "QUANTILES":
        check_quantiles(part.value, wanted)
    elif kinds[tag] is Type.INT64:
        assert result(part) == (wanted if name == "SUM" else wanted / count)
    else:
        values = [one.values[tag] for one in dropped if one.values.get(tag) is not None]
        check_sum(result(part), wanted, [v for v in values if not math.isnan(v)], count, name)


def check_sum(found: float, wanted: float, values: list[float], count: int, name: str) -> None:
    """Allow a sum of floats its tolerance; one whose magnitudes overflow says nothing."""
    scale = sum(abs(value) / 2**70 for value in values) * 2**70 if values else 0.0
    if any(math.isinf(value) for value in values):
        assert found == wanted or (math.isnan(found) and math.isnan(wanted))
    elif math.isfinite(scale):
        found = found * count if name == "MEAN" else found
        slack = SUM_TOLERANCE * scale * (2 if name == "MEAN" else 1) + 5e-324 * count
        assert abs(found - wanted) <= slack


def check_quantiles(sketch: bytes, values: list[float]) -> None:
    """Every quantile of the sketch stands within 1.7 % of its rank."""
    found = kll_doubles_sketch.deserialize(sketch)
    for rank in (0.0, 0.25, 0.5, 0.75, 1.0):
        value = found.get_quantile(rank)
        below = sum(one < value for one in map(float, values)) / len(values)
        upto = sum(one <= value for one in map(float, values)) / len(values)
        assert below - 0.017 <= rank <= upto + 0.017
