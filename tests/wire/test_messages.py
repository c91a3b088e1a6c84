from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heliograph.event.errors import WireError
from heliograph.wire.messages import (
    Advertised,
    Attach,
    Message,
    Refused,
    decode_message,
    encode_message,
)
from strategies import PROPERTY
from wire.streams import KINDS, some_message


@PROPERTY
@given(some_message())
def test_a_message_comes_out_as_it_went_in(message: Message) -> None:
    assert decode_message(encode_message(message)) == message


@pytest.mark.parametrize("kind", KINDS)
def test_fields_that_are_unknown_at_the_end_are_ignored(kind: type[Message]) -> None:
    message = _zero(kind)
    array: list[Any] = msgspec.msgpack.decode(encode_message(message))
    newer = msgspec.msgpack.encode([*array, "new", {"more": [1, 2]}])
    assert decode_message(newer) == message


def _zero(kind: type[Message]) -> Message:
    """Return a message of a kind with nothing in it."""
    zeros: dict[str, Any] = {"int": 0, "str": "", "bytes": b"", "bool": False, "bytes | None": b""}
    hints = {name: str(kind.__annotations__[name]) for name in kind.__struct_fields__}
    return kind(**{name: zeros.get(hint, []) for name, hint in hints.items()})


def test_a_peer_that_is_older_leaves_out_the_fields_that_have_defaults() -> None:
    older = msgspec.msgpack.encode([1, 1, ["to"], None, 0])
    assert decode_message(older) == Attach(1, ["to"], None, 0, "")
    assert decode_message(msgspec.msgpack.encode([31, 7, "no"])) == Refused(7, "no", 0)


def test_every_kind_of_message_has_a_tag_of_its_own() -> None:
    tags = [msgspec.msgpack.decode(encode_message(_zero(kind)))[0] for kind in KINDS]
    assert len(set(tags)) == len(tags)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc0",
        b"\x90",
        msgspec.msgpack.encode([99]),
        msgspec.msgpack.encode([11, 1]),
        msgspec.msgpack.encode([11, "1", 2]),
        msgspec.msgpack.encode({"type": 11}),
        encode_message(Advertised(1, 2)) + b"\x00",
        b"\x91" * 5_000 + b"\x90",
        b"\x93\x03\xa1\xff\xa1\xff",
    ],
)
def test_bytes_that_are_no_message_raise_an_error_of_the_wire(data: bytes) -> None:
    with pytest.raises(WireError, match="bytes that are no message"):
        decode_message(data)


@settings(PROPERTY, max_examples=400)
@given(st.binary(max_size=40), st.sampled_from(KINDS))
def test_no_bytes_raise_anything_else(data: bytes, kind: type[Message]) -> None:
    tag = encode_message(_zero(kind))[:3]
    for some in (data, tag[:2] + data, tag + data):
        with suppress(WireError):
            assert isinstance(decode_message(some), Message)
