"""Values as JSON can hold them, and back."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.errors import EventError
from heliograph.event.plain import plain, read_bytes, read_plain
from heliograph.event.types import Type
from strategies import PROPERTY, same, types, values_of


@PROPERTY
@given(st.data())
def test_a_value_comes_back_the_same_through_json(data: st.DataObject) -> None:
    kind = data.draw(types())
    value = data.draw(values_of(kind))

    text = json.dumps(plain(value), allow_nan=False)

    assert same(read_plain(json.loads(text), kind), value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (b"\xff", "/w=="),
        ([math.inf, 1.0], ["Infinity", 1.0]),
        (None, None),
        (True, True),
    ],
)
def test_what_json_has_not_becomes_text(value: Any, shown: Any) -> None:
    assert plain(value) == shown


def test_a_value_that_is_no_such_text_stays_for_the_schema_to_refuse() -> None:
    assert read_plain("nan", Type.FLOAT64) == "nan"
    assert read_plain(5, Type.BYTES) == 5
    assert read_plain("x", Type.INT64_LIST) == "x"


@pytest.mark.parametrize("text", ["/w=", "/w==\n", "!", "ä", "x" * 99])
def test_what_is_no_base64_is_refused(text: str) -> None:
    with pytest.raises(EventError, match="is not base64"):
        read_bytes(text)


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(EventError, match="not an ISO 8601 time"):
        read_plain(["soon"], Type.TIMESTAMP_LIST)
