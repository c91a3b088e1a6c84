"""Blocks into events and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event import arrow
from heliograph.event.block import ARROW, ARROW_EVENTS_MIN, BLOCK_EVENTS_MAX, ROWS, check_block
from heliograph.event.convert import (
    GATHER_BYTES_MAX,
    GATHER_EVENTS_MAX,
    Gather,
    blocks_of,
    events_in,
    events_of,
    suited,
)
from heliograph.event.errors import EventError
from heliograph.event.event import Event
from heliograph.event.schema import Schema
from heliograph.event.types import Type
from strategies import PROPERTY, blocks, events, same, schemas

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heliograph.event.block import Block

SCHEMA = Schema.declare({"a": "string"})


def back(some: Iterable[Block], schema: Schema) -> list[Event]:
    return [event for block in some for event in events_of(block, schema)]


@PROPERTY
@given(st.data())
def test_events_come_back_the_same_from_blocks(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    some = data.draw(events(schema))

    made = list(blocks_of(some, schema))

    for block in made:
        check_block(block)
    assert same(back(made, schema), some)
    assert same(back([arrow.to_columns(block, schema) for block in made], schema), some)


@PROPERTY
@given(st.data())
def test_both_forms_of_a_block_hold_the_same_events(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    block = data.draw(blocks(schema))

    assert same(events_of(arrow.to_columns(block, schema), schema), events_of(block, schema))


@pytest.mark.parametrize(
    ("count", "form"), [(1, ROWS), (ARROW_EVENTS_MIN - 1, ROWS), (ARROW_EVENTS_MIN, ARROW)]
)
def test_the_form_of_a_block_suits_its_size(count: int, form: int) -> None:
    (block,) = blocks_of([Event("s", 1, n + 1, n, {"a": "x"}) for n in range(count)], SCHEMA)

    for made in (suited(block, SCHEMA), suited(arrow.to_columns(block, SCHEMA), SCHEMA)):
        assert made.form == form
        assert events_of(made, SCHEMA) == events_of(block, SCHEMA)


def test_without_pyarrow_every_block_is_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heliograph.event.convert.find_spec", lambda _: None)
    (block,) = blocks_of([Event("s", 1, n + 1, n, {}) for n in range(ARROW_EVENTS_MIN)], SCHEMA)

    assert suited(block, SCHEMA) is block


def test_an_absent_attribute_is_left_out() -> None:
    (block,) = blocks_of([Event("s", 1, 1, 0, {"a": None})], SCHEMA)

    assert events_of(block, SCHEMA) == [Event("s", 1, 1, 0, {})]


@PROPERTY
@given(st.data())
def test_blocks_that_are_read_together_are_read_as_each_alone(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    made = list(blocks_of(data.draw(events(schema)), schema))
    some = made + [arrow.to_columns(block, schema) for block in made if data.draw(st.booleans())]

    of_one = {(block.stream, block.epoch) for block in some}
    for one in of_one:
        together = [block for block in some if (block.stream, block.epoch) == one]
        assert same(events_in(together, schema), back(together, schema))


def test_an_older_block_is_read_under_a_newer_schema() -> None:
    old = Schema.declare({"a": "int64"})
    new = old.evolve({"a": Type.FLOAT64, "b": Type.BOOL})
    some = [Event("s", 1, 1, 0, {"a": 3})]

    for block in (*blocks_of(some, old), *(arrow.to_columns(b, old) for b in blocks_of(some, old))):
        (event,) = events_of(block, new)
        assert same(event.values, {"a": 3.0})


@pytest.mark.parametrize(
    ("numbers", "counts"),
    [
        (range(1, GATHER_EVENTS_MAX + 1), [GATHER_EVENTS_MAX]),
        (range(1, GATHER_EVENTS_MAX + 2), [GATHER_EVENTS_MAX, 1]),
        ([1, BLOCK_EVENTS_MAX], [2]),
        ([1, BLOCK_EVENTS_MAX + 1], [1, 1]),
        ([], []),
    ],
)
def test_blocks_are_cut_where_they_would_be_too_many_or_too_wide(
    numbers: Iterable[int], counts: list[int]
) -> None:
    some = [Event("s", 1, number, 0, {}) for number in numbers]

    assert [block.count for block in blocks_of(some, SCHEMA)] == counts


def test_blocks_are_cut_where_they_would_be_too_large() -> None:
    text = "x" * (GATHER_BYTES_MAX // 3)
    some = [Event("s", 1, number, number, {"a": text}) for number in range(1, 6)]

    made = list(blocks_of(some, SCHEMA))

    assert [block.count for block in made] == [2, 2, 1]
    assert back(made, SCHEMA) == some


def test_a_block_is_of_one_stream_and_one_epoch() -> None:
    some = [Event(stream, epoch, 1, 0, {}) for stream in "ab" for epoch in (1, 2)]

    made = list(blocks_of(some, SCHEMA))

    assert [(block.stream, block.epoch) for block in made] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("b", 2),
    ]


def test_numbers_that_do_not_rise_are_refused() -> None:
    with pytest.raises(EventError, match="numbers of the events of a block rise"):
        list(blocks_of([Event("s", 1, number, 0, {}) for number in (1, 1)], SCHEMA))


def test_nothing_gathered_makes_no_block() -> None:
    assert Gather().flush() is None
