from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from heliograph.event.columns import Columns
from heliograph.event.digest import Part
from heliograph.event.errors import EventError
from heliograph.event.schema import Schema
from heliograph.event.types import INT64_MAX, INT64_MIN, Type, microseconds
from heliograph.policy.digesters import SUM_TOLERANCE, merge_part, merge_parts, parts_of, result
from policy.runs import bound, events
from policy.strategies_policy import block


def said(name: str, kind: Type, *values: Any) -> Part:
    """Return what a digester says of stored values."""
    schema = Schema.declare({"a": kind})
    one = bound(schema=schema, summary={"digesters": [{"name": name, "attribute": "a"}]})
    parts = []
    for columns in (False, True):
        found = Columns([block(events(*values), schema, columns=columns)], schema)
        (part,) = parts_of(one.digesters, found, np.arange(found.count))
        parts.append(part)
    assert repr(parts[0]) == repr(parts[1]) or name in ("DISTINCT", "QUANTILES")
    return parts[0]


def merged(name: str, kind: Type, *groups: list[Any]) -> Part:
    """Return the digests of some groups of values as one."""
    first, *others = (said(name, kind, *group) for group in groups)
    for other in others:
        first = merge_part(first, other)
    return first


def test_nulls_and_nan_are_not_known() -> None:
    for name, wanted in (("COUNT", 2), ("MAX", 3.0), ("MIN", 1.0), ("SUM", 4.0), ("MEAN", 2.0)):
        part = said(name, Type.FLOAT64, 1.0, None, math.nan, 3.0)
        assert part.known == 2
        assert result(part) == wanted


def test_of_nothing_known_nothing_is_said() -> None:
    for name in ("MAX", "MIN", "SUM", "MEAN", "DISTINCT", "QUANTILES"):
        part = said(name, Type.FLOAT64, None, math.nan)
        assert (part.known, part.value, result(part)) == (0, None, None)
    assert result(said("COUNT", Type.FLOAT64, None)) == 0


def test_extremes_of_texts_and_times_are_exact() -> None:
    assert result(merged("MAX", Type.STRING, ["a", "ä"], ["b", None])) == "ä"
    assert result(merged("MIN", Type.STRING, ["a", ""], ["b"])) == ""
    noon = microseconds(datetime(2026, 1, 1, 12, tzinfo=UTC))
    assert result(merged("MAX", Type.TIMESTAMP, [noon], [noon - 1])) == noon


def test_sums_of_whole_numbers_are_exact_beyond_int64() -> None:
    part = merged("SUM", Type.INT64, [INT64_MAX, INT64_MAX], [INT64_MAX], [-1])
    assert result(part) == 3 * INT64_MAX - 1
    assert part.value == str(3 * INT64_MAX - 1)
    assert result(merged("SUM", Type.INT64, [INT64_MAX, 1], [INT64_MIN])) == 0
    assert result(merged("MEAN", Type.INT64, [INT64_MIN], [INT64_MIN])) == INT64_MIN


def test_sums_of_floats_are_compensated() -> None:
    tenths = [[0.1]] * 1_000
    assert abs(result(merged("SUM", Type.FLOAT64, *tenths)) - 100) <= 100 * SUM_TOLERANCE
    assert sum([0.1] * 1_000) != 100
    assert result(merged("SUM", Type.FLOAT64, [1e16], [1.0], [-1e16])) == 1.0
    assert result(said("SUM", Type.FLOAT64, 1e16, 1.0, -1e16)) == 1.0


def test_sums_of_infinities_are_as_plain_addition_has_them() -> None:
    inf = math.inf
    assert result(merged("SUM", Type.FLOAT64, [inf, 1.0], [5.0])) == inf
    assert math.isnan(result(merged("SUM", Type.FLOAT64, [inf], [-inf], [1.0])))
    assert math.isnan(result(said("SUM", Type.FLOAT64, inf, -inf)))
    assert result(said("SUM", Type.FLOAT64, 1.7e308, 1.7e308)) == inf


def test_a_sum_goes_on_when_the_attribute_was_widened() -> None:
    whole, real = said("SUM", Type.INT64, 2**60, 1), said("SUM", Type.FLOAT64, 0.5)
    assert result(merge_part(whole, real)) == result(merge_part(real, whole)) == 2**60 + 1.5
    large = said("SUM", Type.INT64, INT64_MAX, INT64_MAX)
    assert result(merge_part(large, real)) == float(2 * INT64_MAX)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Type.INT64, [INT64_MIN, -1, 0, 1, INT64_MAX]),
        (Type.FLOAT64, [0.0, 0.5, math.inf, -math.inf, 1e300]),
        (Type.STRING, ["", "a", "\x01", "ä"]),
        (Type.BYTES, [b"", b"a", b"\xff\xfe", b"\xe4"]),
        (Type.BOOL, [True, False]),
        (Type.TIMESTAMP, [0, 1, -1]),
    ],
)
def test_a_few_different_values_are_counted_one_by_one(kind: Type, values: list[Any]) -> None:
    assert result(said("DISTINCT", kind, *values, None, *values)) == len(values)
    assert result(merged("DISTINCT", kind, values[:2], values[1:])) == len(values)


def test_minus_zero_and_zero_are_one_value() -> None:
    assert result(said("DISTINCT", Type.FLOAT64, 0.0, -0.0)) == 1


def test_a_value_counts_once_though_the_attribute_was_widened() -> None:
    before, after = said("DISTINCT", Type.INT64, 1, 2), said("DISTINCT", Type.FLOAT64, 2.0, 2.5)
    assert result(merge_part(before, after)) == 3


def test_many_different_values_are_counted_within_4_percent() -> None:
    groups = [list(range(start, start + 2_000)) for start in range(0, 20_000, 1_000)]
    assert abs(result(merged("DISTINCT", Type.INT64, *groups)) - 21_000) < 0.04 * 21_000


def test_quantiles_stand_within_2_percent_of_their_rank_in_any_grouping() -> None:
    values = np.random.default_rng(1).permutation(10_000).astype(float).tolist()
    for size in (10_000, 1_000, 250):
        groups = [values[start : start + size] for start in range(0, 10_000, size)]
        found = result(merged("QUANTILES", Type.FLOAT64, *groups))
        assert found["0"] == 0
        assert found["1"] == 9_999
        for rank in ("0.25", "0.5", "0.75"):
            assert abs(found[rank] - float(rank) * 10_000) < 200


def test_parts_of_different_policies_become_their_union() -> None:
    count, high = Part("COUNT", "", 2, None), Part("MAX", "a", 2, 5)
    other = Part("MAX", "a", 1, 7)
    assert merge_parts((count, high), (other,)) == (count, Part("MAX", "a", 3, 7))
    assert merge_parts((), (other,)) == merge_parts((other,), ()) == (other,)
    elsewhere = Part("MAX", "b", 1, 7)
    assert merge_parts((high,), (elsewhere,)) == (high, elsewhere)


@pytest.mark.parametrize(
    ("digester", "one", "other"),
    [
        ("MAX", 5, "x"),
        ("SUM", "x", 1),
        ("SUM", "9" * 400, 0.5),
        ("SUM", "9" * 5_000, 1),
        ("SUM", math.inf, "1" * 400),
        ("SUM", math.inf, 1),
        ("DISTINCT", b"", b""),
        ("DISTINCT", 5, 5),
        ("QUANTILES", b"\x00" * 8, b"no sketch"),
        ("MEDIAN", 1, 1),
    ],
)
def test_parts_that_no_digester_makes_are_refused_or_merged(
    digester: str, one: Any, other: Any
) -> None:
    """They come from outside: whatever they are, only EventError may come of them."""
    try:
        merge_part(Part(digester, "a", 1, one), Part(digester, "a", 1, other))
    except EventError as error:
        assert f"parts of {digester} of a that do not merge" in str(error)  # noqa: PT017 - see above
    else:
        assert (digester, one, other) == ("SUM", math.inf, 1)
