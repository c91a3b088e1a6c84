"""Compact rows: any schema and any values come back the same, and nothing else gets through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event import rows
from heliograph.event.errors import EventError
from heliograph.event.schema import Schema
from heliograph.event.types import Type
from strategies import PROPERTY, rows_for, same, schemas

OFFSETS = st.integers(-(2**40), 2**40)


def decoded(bodies: list[tuple[bytes, int]], schema: Schema) -> list[list[Any]]:
    names = ["time", *[f"v{place}" for place in range(len(schema.types))]]
    return [[getattr(row, name) for name in names] for row in rows.decode(bodies, schema.types)]


def timed_rows(schema: Schema) -> st.SearchStrategy[list[list[Any]]]:
    row = st.tuples(OFFSETS, rows_for(schema)).map(lambda pair: [pair[0], *pair[1]])
    return st.lists(row, min_size=1, max_size=8)


@PROPERTY
@given(st.data())
def test_rows_come_back_the_same_from_one_body_or_many(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    bodies = data.draw(st.lists(timed_rows(schema), max_size=4))

    encoded = [(rows.encode(body), len(body)) for body in bodies]

    for body, count in encoded:
        rows.check(body, count)
    assert same(decoded(encoded, schema), [row for body in bodies for row in body])


@PROPERTY
@given(st.data())
def test_thinned_and_single_rows_are_those_that_were_chosen(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    some = data.draw(timed_rows(schema))
    keep = sorted(data.draw(st.sets(st.integers(0, len(some) - 1), min_size=1)))
    body = rows.encode(some)

    thinned = rows.thin(body, len(some), np.array(keep))
    singles = rows.singles(body, len(some))

    rows.check(thinned, len(keep))
    assert same(decoded([(thinned, len(keep))], schema), [some[place] for place in keep])
    assert same(decoded([(one, 1) for one in singles], schema), some)


@pytest.mark.parametrize("size", [1, 300, 70_000])
def test_rows_are_split_as_they_are_thinned(size: int) -> None:
    some = [[0, "x" * size], [1, "y"], [2, "z" * size]]
    body = rows.encode(some)

    for place in (1, 2):
        halves = np.arange(place), np.arange(place, 3)
        assert rows.split(body, 3, place) == tuple(rows.thin(body, 3, half) for half in halves)


def test_a_row_leaves_out_the_nulls_at_its_end() -> None:
    assert rows.encode_row([0, 1, None, None]) == rows.encode_row([0, 1])
    assert len(rows.encode_row([0, None, 1])) > len(rows.encode_row([0, 1]))


@pytest.mark.parametrize("size", [1, 300, 70_000])
def test_rows_of_any_length_come_back(size: int) -> None:
    schema = Schema.declare({"a": "string"})
    some = [[0, "x" * size], [1, "y"]]
    body = rows.encode(some)

    assert decoded([(body, 2)], schema) == some
    assert decoded([(rows.thin(body, 2, np.array([0])), 1)], schema) == some[:1]


def test_rows_of_an_older_schema_are_read_under_the_newer_one() -> None:
    old = Schema.declare({"a": "int64"})
    new = old.evolve({"a": Type.FLOAT64, "b": Type.STRING})

    assert same(decoded([(rows.encode([[5, 3]]), 1)], new), [[5, 3.0, None]])


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int64", "text"),
        ("int64", 2**63),
        ("int64", 1.5),
        ("bool", 1),
        ("string", b"bytes"),
        ("bytes", "text"),
        ("list<int64>", [1, None]),
        ("list<int64>", 1),
        ("timestamp", 1.5),
    ],
)
def test_a_value_of_another_type_than_the_schema_says_is_refused(kind: str, value: Any) -> None:
    with pytest.raises(EventError, match="do not fit their schema"):
        rows.decode([(rows.encode([[0, value]]), 1)], Schema.declare({"a": kind}).types)


def test_a_row_with_more_values_than_its_schema_is_refused() -> None:
    with pytest.raises(EventError, match="do not fit their schema"):
        rows.decode([(rows.encode([[0, 1, 2]]), 1)], Schema.declare({"a": "int64"}).types)


def test_a_time_that_would_leave_int64_is_refused() -> None:
    with pytest.raises(EventError, match="do not fit their schema"):
        rows.decode([(rows.encode([[2**62]]), 1)], ())


def test_half_a_character_is_refused_when_it_is_encoded() -> None:
    with pytest.raises(EventError, match="no UTF-8"):
        rows.encode([[0, "\ud800"]])


def test_text_that_is_no_utf_8_is_refused_when_it_is_decoded() -> None:
    body = rows.assemble([b"\x92\x00\xa1\xff"])

    with pytest.raises(EventError, match="do not fit their schema"):
        rows.decode([(body, 1)], Schema.declare({"a": "string"}).types)


@PROPERTY
@given(st.data())
def test_a_body_that_is_cut_or_lengthened_is_refused(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    some = data.draw(timed_rows(schema))
    body = rows.encode(some)
    cut = data.draw(st.integers(0, len(body) - 1))

    for broken in (body[:cut], body + b"\xc0"):
        with pytest.raises(EventError, match="rows of a block"):
            rows.check(broken, len(some))


@PROPERTY
@given(st.data())
def test_flipped_bits_raise_nothing_but_event_errors(data: st.DataObject) -> None:
    schema = data.draw(schemas(min_size=1))
    some = data.draw(timed_rows(schema))
    body = bytearray(rows.encode(some))
    for place in data.draw(st.lists(st.integers(0, len(body) * 8 - 1), min_size=1, max_size=3)):
        body[place // 8] ^= 1 << place % 8

    try:
        rows.check(bytes(body), len(some))
        rows.decode([(bytes(body), len(some))], schema.types)
    except EventError:
        pass


@PROPERTY
@given(st.data())
def test_rows_as_dicts_are_the_rows_by_tag_whatever_the_tags(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    some = data.draw(timed_rows(schema))

    bodies = [(rows.encode(some), len(some)), (rows.encode(some[:1]), 1)]

    found = rows.decode_dicts(bodies, schema.tags, schema.types)

    names = [rows.TIME, *schema.tags]
    whole = [dict(zip(names, row, strict=True)) for row in [*some, *some[:1]]]
    present = [{tag: one for tag, one in row.items() if one is not None} for row in whole]
    assert [list(one) for one in found] == [list(one) for one in present]
    assert same([list(one.values()) for one in found], [list(one.values()) for one in present])


@pytest.mark.parametrize(
    "tag", ["time", "v0", "class", "__class__", "_fields", "a b", "ä", "", "1"]
)
def test_a_tag_that_is_no_name_of_python_is_a_key_like_any_other(tag: str) -> None:
    body = rows.encode([[7, "x"]])

    assert rows.decode_dicts([(body, 1)], (tag,), (Type.STRING,)) == [{rows.TIME: 7, tag: "x"}]
