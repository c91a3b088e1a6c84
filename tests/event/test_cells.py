"""Values as the text of cells, and what cells without a schema are taken for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.cells import cell, guess_cell, infer_cells, read_cell
from heliograph.event.errors import EventError
from heliograph.event.types import Type
from strategies import PROPERTY, same, types, values_of

MOMENT = datetime(2026, 1, 31, tzinfo=UTC)


@PROPERTY
@given(st.data())
def test_a_value_comes_back_the_same_from_its_cell(data: st.DataObject) -> None:
    kind = data.draw(types())
    value = data.draw(values_of(kind))

    assert same(read_cell(cell(value), kind), value)


@PROPERTY
@given(st.data())
def test_what_is_inferred_from_cells_reads_them_all(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([Type.INT64, Type.FLOAT64, Type.BOOL, Type.TIMESTAMP]))
    values = data.draw(st.lists(values_of(kind), min_size=1, max_size=5))

    found = infer_cells([cell(value) for value in values])

    assert found is kind
    assert same([guess_cell(cell(value), kind) for value in values], values)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-5", "0"], Type.INT64),
        (["1", "1.5"], Type.FLOAT64),
        (["1", "NaN"], Type.FLOAT64),
        (["nan", "inf", "-inf", "2.5"], Type.FLOAT64),
        (["Inf", "2.5"], Type.STRING),
        (["1e3", ".5", "5."], Type.FLOAT64),
        (["00123"], Type.STRING),
        (["+5"], Type.STRING),
        (["00.5"], Type.STRING),
        (["-0"], Type.FLOAT64),
        (["9223372036854775807"], Type.INT64),
        (["9223372036854775808"], Type.STRING),
        (["1_000"], Type.STRING),
        (["\u0661"], Type.STRING),  # A digit of another script, which Python's int would read.
        (["true", "FALSE"], Type.BOOL),
        (["true", "1"], Type.STRING),
        (["2026-01-31", "2026-01-31 12:00:00"], Type.TIMESTAMP),
        (["20260131"], Type.INT64),
        (["2026-13-31"], Type.STRING),
        (["nan"], Type.STRING),
        (["", "nan", "-inf"], Type.STRING),
        (["", "1"], Type.INT64),
        ([""], Type.STRING),
        ([], None),
    ],
)
def test_cells_have_the_narrowest_type_that_fits_all(cells: list[str], kind: Type | None) -> None:
    assert infer_cells(cells) is kind


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("1.5", Type.INT64, 1.5),
        ("x", Type.INT64, "x"),
        ("007", Type.INT64, "007"),
        ("9223372036854775808", Type.FLOAT64, "9223372036854775808"),
        ("2", Type.FLOAT64, 2.0),
        ("1", Type.BOOL, "1"),
        ("soon", Type.TIMESTAMP, "soon"),
        ("", Type.INT64, None),
        ("", Type.STRING, ""),
        ("/w==", Type.BYTES, b"\xff"),
    ],
)
def test_a_later_cell_that_does_not_fit_widens_or_stays_text(
    text: str, kind: Type, value: Any
) -> None:
    assert same(guess_cell(text, kind), value)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("007", Type.INT64, 7),
        ("+5", Type.INT64, 5),
        ("5", Type.FLOAT64, 5.0),
        ("-0.0", Type.FLOAT64, -0.0),
        ("True", Type.BOOL, True),
        ("2026-01-31", Type.TIMESTAMP, MOMENT),
        ('["2026-01-31"]', Type.TIMESTAMP_LIST, [MOMENT]),
        ("[]", Type.INT64_LIST, []),
        ("", Type.BYTES, b""),
        ("", Type.INT64_LIST, None),
    ],
)
def test_a_declared_cell_is_read_generously(text: str, kind: Type, value: Any) -> None:
    assert same(read_cell(text, kind), value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1.5", Type.INT64),
        ("9223372036854775808", Type.INT64),
        ("-9223372036854775809", Type.INT64),
        ("1" * 9_999, Type.INT64),
        ("1_0", Type.INT64),
        ("Inf", Type.FLOAT64),
        ("1", Type.BOOL),
        ("{}", Type.INT64_LIST),
        ("[" * 9_999, Type.INT64_LIST),
        ("\ud800", Type.INT64_LIST),
    ],
)
def test_a_declared_cell_of_another_type_is_refused(text: str, kind: Type) -> None:
    with pytest.raises(EventError, match="expected "):
        read_cell(text, kind)
