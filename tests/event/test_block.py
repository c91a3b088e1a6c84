"""Blocks: what they cover, how they are split and thinned in both forms, and what is refused."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event import arrow
from heliograph.event.block import (
    BLOCK_EVENTS_MAX,
    ROWS,
    Block,
    block_of,
    check_block,
    cover,
    decode_block,
    encode_block,
)
from heliograph.event.convert import events_of
from heliograph.event.errors import EventError
from heliograph.event.schema import Schema
from heliograph.event.types import TIME_MAX, TIME_MIN
from strategies import PROPERTY, blocks, numbers, same, schemas

if TYPE_CHECKING:
    from heliograph.event.event import Event

SCHEMA = Schema.declare({"a": "int64"})


@st.composite
def either_form(draw: st.DrawFn, schema: Schema) -> Block:
    """Draw a block of rows or of Arrow columns, with or without gaps in its numbers."""
    block = draw(blocks(schema))
    return arrow.to_columns(block, schema) if draw(st.booleans()) else block


def some_block(events: int = 3, /, **changes: Any) -> Block:
    rows = [[place] for place in range(events)]
    block = block_of("s", 1, range(1, events + 1), range(events), rows, SCHEMA)
    return msgspec.structs.replace(block, **changes)


def read(parts: list[Block], schema: Schema) -> list[Event]:
    for part in parts:
        check_block(part)
    return [event for part in parts for event in events_of(part, schema)]


@PROPERTY
@given(st.data())
def test_thin_keeps_exactly_the_chosen_events(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    block = data.draw(either_form(schema))
    keep = sorted(data.draw(st.sets(st.integers(0, block.count - 1), min_size=1)))

    thinned = block.thin(np.array(keep), schema)

    chosen = [events_of(block, schema)[place] for place in keep]
    assert thinned.form == block.form
    assert same(read([thinned], schema), chosen)


@PROPERTY
@given(st.data())
def test_thinning_twice_is_thinning_to_what_both_keep(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    block = data.draw(either_form(schema))
    first = np.array(sorted(data.draw(st.sets(st.integers(0, block.count - 1), min_size=1))))
    second = np.array(sorted(data.draw(st.sets(st.integers(0, len(first) - 1), min_size=1))))

    twice = block.thin(first, schema).thin(second, schema)

    assert same(read([twice], schema), read([block.thin(first[second], schema)], schema))


@PROPERTY
@given(st.data())
def test_split_and_singles_keep_every_event(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    block = data.draw(either_form(schema))
    whole = events_of(block, schema)

    singles = block.singles(schema)
    assert [one.count for one in singles] == [1] * block.count
    assert same(read(singles, schema), whole)
    if block.count > 1:
        place = data.draw(st.integers(1, block.count - 1))
        parts = block.split(place, schema)
        assert [part.count for part in parts] == [place, block.count - place]
        assert same(read(list(parts), schema), whole)


@PROPERTY
@given(st.data())
def test_a_block_knows_the_numbers_that_it_was_made_of(data: st.DataObject) -> None:
    wanted = data.draw(st.integers(1, 30).flatmap(numbers))
    rows: list[list[Any]] = [[]] * len(wanted)

    block = block_of("s", 1, wanted, [0] * len(wanted), rows, Schema())

    assert block.numbers().tolist() == wanted
    assert (block.offsets() + block.first).tolist() == wanted
    assert (block.first, block.last, block.count) == (wanted[0], wanted[-1], len(wanted))
    assert bool(block.presence) == (block.span > block.count)


@PROPERTY
@given(st.data())
def test_a_block_comes_back_the_same_from_its_bytes(data: st.DataObject) -> None:
    block = data.draw(either_form(data.draw(schemas())))

    assert decode_block(encode_block(block)) == block


@PROPERTY
@given(st.data())
def test_cut_and_flipped_bytes_raise_nothing_but_event_errors(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    block = data.draw(either_form(schema))
    encoded = encode_block(block)
    with pytest.raises(EventError):
        decode_block(encoded[: data.draw(st.integers(0, len(encoded) - 1))])
    broken = bytearray(encoded)
    for place in data.draw(st.lists(st.integers(0, len(broken) * 8 - 1), max_size=3)):
        broken[place // 8] ^= 1 << place % 8
    for some in (bytes(broken), data.draw(st.binary(max_size=60))):
        with suppress(EventError):
            found = decode_block(some)
            events_of(found, schema)
            found.thin(np.arange(found.count - 1 or 1), schema)


@pytest.mark.parametrize("place", [0, 3, -1, 4])
def test_a_split_that_leaves_nothing_on_one_side_is_refused(place: int) -> None:
    with pytest.raises(EventError, match=f"a block of 3 events cannot be split at {place}"):
        some_block().split(place, SCHEMA)


def test_a_thinned_block_holds_nothing_of_the_large_one() -> None:
    large = some_block(10_000)

    assert large.thin(np.array([5]), SCHEMA).size < large.size / 100


@pytest.mark.parametrize(
    "wrong",
    [[], list(range(1, BLOCK_EVENTS_MAX + 2)), [1, BLOCK_EVENTS_MAX + 1], [1, 1], [1, 3, 3],
     [5, 2, 9], [1, 3, 2, 9]],
    ids=["none", "too many", "too wide", "twice", "twice at the end", "falling", "falling inside"],
)  # fmt: skip
def test_numbers_that_no_block_may_have_are_refused(wrong: list[int]) -> None:
    with pytest.raises(EventError, match=r"a block holds|a block spans|of a block rise"):
        cover(wrong)


def test_the_widest_block_is_allowed() -> None:
    first, span, presence = cover([1, BLOCK_EVENTS_MAX])

    assert (first, span, len(presence)) == (1, BLOCK_EVENTS_MAX, BLOCK_EVENTS_MAX // 8)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stream": ""}, "stream key has 1 to 256"),
        ({"stream": "x" * 257}, "stream key has 1 to 256"),
        ({"count": 0}, "a block of 0 events cannot span"),
        ({"count": 4}, "a block of 4 events cannot span 3"),
        ({"span": BLOCK_EVENTS_MAX + 1}, "cannot span"),
        ({"epoch": -1}, "positive and within int64"),
        ({"epoch": 2**63}, "positive and within int64"),
        ({"first": 0}, "positive and within int64"),
        ({"first": 2**63 - 2}, "positive and within int64"),
        ({"version": 0}, "schema version that is positive"),
        ({"time": TIME_MIN - 1}, "years 1 to 9999"),
        ({"time": TIME_MAX + 1}, "years 1 to 9999"),
        ({"form": 2}, "unknown form 2: upgrade"),
        ({"body": b""}, "cut short"),
        ({"body": b"\x01\x00\x00\x00\x00"}, "do not have the lengths"),
        ({"span": 4}, "presence bitmap"),
        ({"span": 4, "presence": b"\xe0"}, "presence bitmap"),
        ({"span": 4, "presence": b"\x70"}, "presence bitmap"),
        ({"span": 4, "presence": b"\xf0"}, "presence bitmap"),
        ({"span": 4, "presence": b"\xd8"}, "presence bitmap"),
        ({"span": 4, "presence": b"\xd0\x00"}, "presence bitmap"),
    ],
)
def test_a_block_that_contradicts_itself_is_refused(changes: dict[str, Any], words: str) -> None:
    wrong = some_block(**changes)

    with pytest.raises(EventError, match=words):
        check_block(wrong)
    with pytest.raises(EventError):
        decode_block(encode_block(wrong))


def test_a_block_beyond_the_byte_limit_is_refused() -> None:
    with pytest.raises(EventError, match="a block has at most 16777216 bytes"):
        block_of("s", 1, [1], [0], [["x" * 2**24]], Schema.declare({"a": "string"}))


def test_a_good_sparse_block_is_not_refused() -> None:
    check_block(some_block(span=4, presence=b"\xd0"))
    assert some_block(span=4, presence=b"\xd0").numbers().tolist() == [1, 2, 4]


def test_a_stream_key_that_is_no_utf_8_is_refused() -> None:
    encoded = encode_block(some_block())

    with pytest.raises(EventError, match="bytes that are no block"):
        decode_block(encoded.replace(b"\xa1s", b"\xa1\xff", 1))


def test_a_few_events_cost_tens_of_bytes_on_the_wire() -> None:
    assert some_block(1).wire_bytes < 25
    assert some_block(1).form == ROWS
    assert some_block(1).size > some_block(1).wire_bytes
