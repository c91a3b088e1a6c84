from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.block import Block, block_of
from heliograph.wire import forms
from heliograph.wire.frames import (
    BLOCK,
    CONTROL,
    EVENT,
    EVENT_HEAD,
    HEARTBEAT,
    HEARTBEAT_FRAME,
    LENGTH_MAX,
    WORD,
    block_frame,
    cursor_frame,
    digest_frame,
    message_frame,
    to_frame,
    word,
)
from heliograph.wire.messages import Detach, encode_message
from heliograph.wire.reader import Cursor, DigestFrame, Reader, To
from strategies import PROPERTY
from wire.streams import FRAME_BYTES_MAX, NUMBERS, some_blocks, some_digests, streams

if TYPE_CHECKING:
    from heliograph.event.digest import Digest


@PROPERTY
@given(streams())
def test_every_frame_states_its_length_and_kind(frames: list[bytes]) -> None:
    for frame in frames:
        (first,) = WORD.unpack_from(frame)
        assert first & LENGTH_MAX == len(frame)
        assert CONTROL <= first >> 24 <= 8


def test_one_event_costs_its_row_and_sixteen_bytes() -> None:
    block = block_of("s", 1, [9], [1_000], [[3]], NUMBERS)
    row = block.body[2:]
    frame = block_frame(block, 7, 1_000)
    assert frame == EVENT_HEAD.pack(word(EVENT, 16 + len(row)), 7, 9) + row
    assert block_frame(block, 7, 0)[3] == BLOCK  # It counts its time from elsewhere.


def test_one_event_with_a_long_row_is_an_event_too() -> None:
    for size in (300, 70_000):
        block = block_of("s", 1, [9], [0], [["x" * size]], NUMBERS)
        frame = block_frame(block, 1, 0)
        assert frame[3] == EVENT
        assert len(frame) <= 16 + size + 8


@PROPERTY
@given(some_digests(), st.integers(1, 2**32 - 1))
def test_a_digest_comes_out_as_it_went_in(digest: Digest, alias: int) -> None:
    (item,) = Reader(FRAME_BYTES_MAX).feed(digest_frame(digest, alias))
    assert isinstance(item, DigestFrame)
    assert item.alias == alias
    assert forms.framed_digest(item, "s", 1) == digest


@PROPERTY
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_addresses_and_cursors_come_out_as_they_went_in(alias: int, mask: int, size: int) -> None:
    items = Reader(FRAME_BYTES_MAX).feed(to_frame(alias, mask) + cursor_frame(mask, size))
    assert items == [To(alias, mask), Cursor(mask, size)]


def test_the_shortest_frames_are_as_short_as_they_can_be() -> None:
    assert WORD.pack(word(HEARTBEAT, 4)) == HEARTBEAT_FRAME
    assert len(message_frame(CONTROL, encode_message(Detach()))) == 6


@PROPERTY
@given(some_blocks())
def test_a_block_frame_is_the_same_on_every_link(block: Block) -> None:
    assert block_frame(block, 1, 0) == block_frame(block, 1, 0)
