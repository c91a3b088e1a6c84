from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heliograph.event.errors import EventError, WireError
from heliograph.wire import forms
from heliograph.wire.frames import (
    BLOCK,
    CONTROL,
    CURSOR,
    DIGEST,
    EVENT,
    EVENT_HEAD,
    GREETING,
    HEARTBEAT,
    HEARTBEAT_FRAME,
    TO,
    WORD,
    block_frame,
    message_frame,
    word,
)
from heliograph.wire.messages import Ask, Beacon, encode_message
from heliograph.wire.reader import (
    RUN_BYTES_MAX,
    RUN_EVENTS_MAX,
    BlockFrame,
    Cursor,
    DigestFrame,
    Item,
    Reader,
    Run,
)
from strategies import PROPERTY
from wire.streams import FRAME_BYTES_MAX, cuts, some_blocks, streams

KINDS = (CONTROL, EVENT, BLOCK, DIGEST, TO, CURSOR, HEARTBEAT, GREETING)


def event(number: int, row: bytes = b"\x92\x00\x01", alias: int = 1) -> bytes:
    return EVENT_HEAD.pack(word(EVENT, EVENT_HEAD.size + len(row)), alias, number) + row


def single(items: list[Item]) -> list[Any]:
    """Return the items with their runs as single events: how long a run is depends on the cuts."""
    found: list[Any] = []
    for item in items:
        if isinstance(item, Run):
            found += [(item.alias, item.first + at, row) for at, row in enumerate(item.rows)]
        else:
            found.append(item)
    return found


def held(reader: Reader) -> int:
    return len(reader._rest)  # noqa: SLF001 - its memory is what is tested


@PROPERTY
@given(st.data())
def test_items_are_the_same_however_a_connection_cuts_the_bytes(data: st.DataObject) -> None:
    frames = data.draw(streams())
    whole = b"".join(frames)
    one, other = Reader(FRAME_BYTES_MAX), Reader(FRAME_BYTES_MAX)
    expected = single(one.feed(whole))
    found: list[Item] = []
    for part in data.draw(cuts(whole)):
        found += other.feed(part)
        assert held(other) <= FRAME_BYTES_MAX
    assert single(found) == expected
    assert (other.frames, other.size) == (one.frames, one.size)
    assert not one.partial
    assert not other.partial


@PROPERTY
@given(streams())
def test_what_is_counted_is_all_but_greetings_cursors_and_heartbeats(frames: list[bytes]) -> None:
    reader = Reader(FRAME_BYTES_MAX)
    reader.feed(b"".join(frames))
    counted = [one for one in frames if one[3] not in (GREETING, CURSOR, HEARTBEAT)]
    assert (reader.frames, reader.size) == (len(counted), sum(map(len, counted)))


def decode(items: list[Item]) -> None:
    """Read all that can be read of what a peer sent, as hosts do."""
    for item in items:
        if isinstance(item, Run):
            forms.run_block(item, "s", 1, 1, 0)
        elif isinstance(item, BlockFrame):
            forms.framed_block(item, "s", 1)
        elif isinstance(item, DigestFrame):
            forms.framed_digest(item, "s", 1)


def feed_garbage(data: bytes, parts: list[bytes]) -> None:
    """Feed bytes from a hostile peer; only one kind of error may come out of it."""
    for some in ([data], parts):
        reader = Reader(FRAME_BYTES_MAX)
        try:
            for part in some:
                decode(reader.feed(part))
                assert held(reader) <= FRAME_BYTES_MAX
        except (WireError, EventError):
            pass


@settings(PROPERTY, max_examples=300)
@given(st.data())
def test_garbage_raises_nothing_but_errors_of_the_wire(data: st.DataObject) -> None:
    garbage = data.draw(st.binary(max_size=200))
    feed_garbage(garbage, data.draw(cuts(garbage)))


def mutate(data: bytearray, random: Random) -> None:
    """Change a valid stream in a few places."""
    for _ in range(random.randint(1, 4)):
        if not data:
            return
        at = random.randrange(len(data))
        match random.randint(0, 4):
            case 0:
                data[at] = random.randrange(256)
            case 1:
                data[at] ^= 1 << random.randrange(8)
            case 2:
                del data[at : at + random.randint(1, 9)]
            case 3:
                data[at:at] = random.randbytes(random.randint(1, 9))
            case 4:
                data[at : at + 8] = random.choice([b"\xff" * 8, b"\x00" * 8, b"\x7f" + b"\xff" * 7])


@settings(PROPERTY, max_examples=400)
@given(streams(4), st.integers(0, 2**32))
def test_a_mutated_stream_raises_nothing_but_errors_of_the_wire(
    frames: list[bytes], seed: int
) -> None:
    random = Random(seed)
    data = bytearray(b"".join(frames))
    mutate(data, random)
    place = random.randint(0, len(data))
    feed_garbage(bytes(data), [bytes(data[:place]), bytes(data[place:])])


@pytest.mark.slow
@settings(PROPERTY, max_examples=20_000)
@given(streams(4), st.integers(0, 2**32))
def test_mutated_streams_raise_nothing_else_over_a_long_campaign(
    frames: list[bytes], seed: int
) -> None:
    data = bytearray(b"".join(frames))
    mutate(data, Random(seed))
    feed_garbage(bytes(data), [bytes(data[at : at + 1]) for at in range(len(data))])


@PROPERTY
@given(st.sampled_from(KINDS), st.binary(max_size=60))
def test_a_frame_with_any_body_raises_nothing_but_errors_of_the_wire(
    kind: int, body: bytes
) -> None:
    data = WORD.pack(word(kind, 4 + len(body))) + body
    feed_garbage(data, [data[:5], data[5:]])


@pytest.mark.parametrize("kind", KINDS)
def test_a_giant_frame_is_refused_before_it_is_waited_for(kind: int) -> None:
    with pytest.raises(WireError, match="one has 4 to 4096 here"):
        Reader(FRAME_BYTES_MAX).feed(WORD.pack(word(kind, FRAME_BYTES_MAX + 1)))


@pytest.mark.parametrize("length", [0, 1, 3])
def test_a_frame_that_is_shorter_than_its_own_word_is_refused(length: int) -> None:
    with pytest.raises(WireError, match="a frame of"):
        Reader(FRAME_BYTES_MAX).feed(WORD.pack(word(CONTROL, length)))


@pytest.mark.parametrize("kind", [0, 10, 255])
def test_an_unknown_kind_is_refused_before_it_is_waited_for(kind: int) -> None:
    with pytest.raises(WireError, match=f"unknown kind {kind}"):
        Reader(FRAME_BYTES_MAX).feed(WORD.pack(word(kind, 100)))
    with pytest.raises(WireError, match=f"unknown kind {kind}"):
        Reader(FRAME_BYTES_MAX).feed(WORD.pack(word(kind, 4)))


@pytest.mark.parametrize("number", [0, 2**63, 2**64 - 1])
def test_an_event_whose_number_cannot_be_is_refused(number: int) -> None:
    with pytest.raises(WireError, match="an event of the number"):
        Reader(FRAME_BYTES_MAX).feed(event(number))


@pytest.mark.parametrize("length", [4, 15, 16])
def test_an_event_without_a_row_is_refused(length: int) -> None:
    with pytest.raises(WireError, match="an event frame"):
        Reader(FRAME_BYTES_MAX).feed(event(1)[:4].replace(b"\x13", bytes([length])) + bytes(40))


def test_a_run_ends_where_numbers_or_the_stream_do_and_at_its_bounds() -> None:
    reader = Reader(FRAME_BYTES_MAX)
    one, other, third = reader.feed(event(1) + event(2) + event(4) + event(5, alias=2))
    assert isinstance(one, Run)
    assert isinstance(other, Run)
    assert isinstance(third, Run)
    assert [one.first, other.first, third.first] == [1, 4, 5]
    assert [len(one.rows), len(other.rows), len(third.rows)] == [2, 1, 1]
    many = reader.feed(b"".join(event(number) for number in range(1, RUN_EVENTS_MAX + 3)))
    assert [len(run.rows) for run in many if isinstance(run, Run)] == [RUN_EVENTS_MAX, 2]
    large = reader.feed(b"".join(event(number, b"x" * 4_000) for number in range(1, 40)))
    assert all(sum(map(len, r.rows)) <= RUN_BYTES_MAX for r in large if isinstance(r, Run))


def test_a_long_frame_that_drips_in_is_not_copied_with_each_drop() -> None:
    reader = Reader(1 << 20)
    data = WORD.pack(word(HEARTBEAT, 200_004)) + bytes(200_000)
    rest = reader._rest  # noqa: SLF001 - what drips in has to gather in one place
    for at in range(len(data) - 1):
        assert reader.feed(data[at : at + 1]) == []
        assert reader._rest is rest  # noqa: SLF001
    assert held(reader) == len(data) - 1
    assert reader.feed(data[-1:] + message_frame(CONTROL, encode_message(Ask(7)))) == [Ask(7)]
    assert not reader.partial


def test_what_is_partial_shows_and_a_heartbeat_says_nothing() -> None:
    reader = Reader(FRAME_BYTES_MAX)
    assert reader.feed(HEARTBEAT_FRAME) == []
    assert not reader.partial
    assert reader.feed(HEARTBEAT_FRAME[:2]) == []
    assert reader.partial


@PROPERTY
@given(some_blocks(), st.sampled_from([0, 5]))
def test_a_block_comes_out_as_it_went_in(block: Any, base: int) -> None:
    (item,) = Reader(FRAME_BYTES_MAX).feed(block_frame(block, 3, base))
    if isinstance(item, Run):
        assert forms.run_block(item, "s", 1, 1, base) == block
    else:
        assert isinstance(item, BlockFrame)
        assert forms.framed_block(item, "s", 1) == block
        assert block_frame(forms.framed_block(item, "s", 1), 3, base) == block_frame(block, 3, base)
    assert item.alias == 3


def test_a_reader_goes_on_counting_where_an_earlier_connection_ended() -> None:
    reader = Reader(FRAME_BYTES_MAX, frames=5)
    reader.feed(message_frame(CONTROL, encode_message(Beacon(1, 2))) + event(1))
    assert reader.frames == 7
    assert reader.feed(b"\x14\x00\x00\x06" + bytes(12)) == []
    (cursor,) = reader.feed(bytes(4))
    assert cursor == Cursor(0, 0)
