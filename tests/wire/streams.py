"""What Hypothesis draws for the tests of the wire: frames of every kind, and whole streams."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final, get_type_hints

from hypothesis import strategies as st

from heliograph.event.block import Block, block_of
from heliograph.event.digest import Digest, Part
from heliograph.event.schema import Schema
from heliograph.wire import messages
from heliograph.wire.frames import (
    CONTROL,
    GREETING,
    HEARTBEAT_FRAME,
    block_frame,
    cursor_frame,
    digest_frame,
    message_frame,
    to_frame,
)
from heliograph.wire.messages import AnyMessage, Message, encode_message

FRAME_BYTES_MAX: Final = 4_096
NUMBERS: Final = Schema.declare({"a": "int64"})
KINDS: Final[tuple[type[Message], ...]] = AnyMessage.__args__

_FIELDS: Final[dict[Any, st.SearchStrategy[Any]]] = {
    int: st.integers(0, 2**63 - 1) | st.integers(0, 9),
    str: st.text(max_size=9),
    bytes: st.binary(max_size=9),
    bool: st.booleans(),
    list[str]: st.lists(st.text(max_size=5), max_size=3),
    list[bytes]: st.lists(st.binary(max_size=5), max_size=3),
    bytes | None: st.none() | st.binary(max_size=9),
}


def some_message() -> st.SearchStrategy[Message]:
    """Draw a message of any kind."""
    return st.sampled_from(KINDS).flatmap(message_of)


def message_of(kind: type[Message]) -> st.SearchStrategy[Message]:
    """Draw a message of one kind."""
    hints = get_type_hints(kind, vars(messages))
    fields = {name: _FIELDS[hints[name]] for name in kind.__struct_fields__}
    return st.builds(kind, **fields)


@st.composite
def runs(draw: st.DrawFn) -> list[bytes]:
    """Draw the frames of some events, most of which follow one another."""
    alias, first = draw(st.integers(1, 3)), draw(st.integers(1, 2**40))
    values = draw(st.lists(st.integers(-9, 2**40), min_size=1, max_size=8))
    base = draw(st.sampled_from([0, 7]))
    return [
        block_frame(block_of("s", 1, [number], [0], [[value]], NUMBERS), alias, base)
        for number, value in enumerate(values, first)
    ]


@st.composite
def some_blocks(draw: st.DrawFn) -> Block:
    """Draw a block of events with and without missing numbers."""
    gaps = draw(st.lists(st.sampled_from([1, 1, 1, 4]), min_size=1, max_size=9))
    number = draw(st.integers(1, 2**40))
    numbers = [number := number + gap for gap in gaps]
    return block_of("s", 1, numbers, [5] * len(gaps), [[one] for one in numbers], NUMBERS)


@st.composite
def some_digests(draw: st.DrawFn) -> Digest:
    """Draw a digest that holds together."""
    after = draw(st.integers(0, 2**40))
    count, filtered = draw(st.integers(0, 99)), draw(st.integers(0, 99))
    parts = draw(st.sampled_from([(), (Part("MAX", "a", 0, None), Part("MEAN", "a", 0, 0.0, 0.5))]))
    gap = draw(st.integers(0, count))
    upto = after + count + filtered + draw(st.integers(0, 99))
    return Digest("s", 1, after, upto, count, filtered, 3, 4, parts, gap)


def frames() -> st.SearchStrategy[list[bytes]]:
    """Draw one frame, or a run of events."""
    alias, size = st.integers(1, 3), st.integers(0, 2**40)
    words = st.builds(message_frame, st.sampled_from([CONTROL, GREETING]), _bodies())
    lone: list[st.SearchStrategy[bytes]] = [
        st.builds(block_frame, some_blocks(), alias, st.just(0)),
        st.builds(digest_frame, some_digests(), alias),
        st.builds(to_frame, alias, st.integers(0, 2**64 - 1)),
        st.builds(cursor_frame, size, size),
        st.just(HEARTBEAT_FRAME),
        words,
    ]
    return runs() | st.one_of(lone).map(lambda frame: [frame])


def _bodies() -> st.SearchStrategy[bytes]:
    return some_message().map(encode_message)


def streams(max_size: int = 8) -> st.SearchStrategy[list[bytes]]:
    """Draw the frames of a connection."""
    return st.lists(frames(), max_size=max_size).map(lambda some: [one for s in some for one in s])


@st.composite
def cuts(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """Draw one way in which a connection may cut bytes."""
    if draw(st.integers(0, 4)) == 0:
        return [data[at : at + 1] for at in range(len(data))]
    places = sorted(draw(st.lists(st.integers(0, len(data)), max_size=9)))
    edges = [0, *places, len(data)]
    return [data[one:other] for one, other in pairwise(edges)]
