"""Digests: what they settle, and what is refused of them."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.digest import (
    PARTS_MAX,
    Digest,
    Part,
    check_digest,
    decode_digest,
    encode_digest,
    settles,
)
from heliograph.event.errors import EventError
from heliograph.event.types import TIME_MAX, TIME_MIN
from strategies import PROPERTY, same

VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=5)
)
TIMES = st.none() | st.integers(TIME_MIN, TIME_MAX)


@st.composite
def digests(draw: st.DrawFn) -> Digest:
    after = draw(st.integers(0, 2**62))
    count, filtered, present = draw(st.tuples(*[st.integers(0, 99)] * 3))
    part = st.builds(
        Part, st.text(max_size=5), st.text(max_size=5), st.integers(0, count), VALUES, st.floats()
    )
    return Digest(
        draw(st.text(min_size=1, max_size=5)),
        draw(st.integers(0, 2**63 - 1)),
        after,
        after + count + filtered + present,
        count,
        filtered,
        draw(TIMES),
        draw(TIMES),
        tuple(draw(st.lists(part, max_size=4))),
    )


def plain(digest: Digest) -> Any:
    whole = msgspec.structs.asdict(digest)
    whole["parts"] = [list(msgspec.structs.astuple(part)) for part in whole["parts"]]
    return list(whole.values())


@PROPERTY
@given(digests())
def test_a_digest_comes_back_the_same(digest: Digest) -> None:
    assert same(plain(decode_digest(encode_digest(digest))), plain(digest))


@PROPERTY
@given(digests(), st.data())
def test_cut_and_flipped_bytes_raise_nothing_but_event_errors(
    digest: Digest, data: st.DataObject
) -> None:
    encoded = encode_digest(digest)
    with pytest.raises(EventError):
        decode_digest(encoded[: data.draw(st.integers(0, len(encoded) - 1))])
    broken = bytearray(encoded)
    for place in data.draw(st.lists(st.integers(0, len(broken) * 8 - 1), max_size=3)):
        broken[place // 8] ^= 1 << place % 8
    for some in (bytes(broken), data.draw(st.binary(max_size=40))):
        with contextlib.suppress(EventError):
            check_digest(decode_digest(some))


@PROPERTY
@given(digests())
def test_a_digest_and_the_events_beside_it_make_its_interval_whole(digest: Digest) -> None:
    present = digest.upto - digest.after - digest.count - digest.filtered

    assert settles(present, digest)
    assert not settles(present + 1, digest)


GOOD = Digest("s", 1, 4, 9, 2, 1, 0, 1, (Part("MAX", "a", 2, 7),))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stream": ""}, "stream key has 1 to 256"),
        ({"stream": "x" * 257}, "stream key has 1 to 256"),
        ({"epoch": -1}, "of the epoch -1"),
        ({"epoch": 2**63}, "of the epoch"),
        ({"after": -1}, r"cannot settle \(-1, 9\]"),
        ({"after": 10}, r"cannot settle \(10, 9\]"),
        ({"upto": 2**63}, "cannot settle"),
        ({"count": -1}, "cannot count"),
        ({"filtered": -1}, "cannot count"),
        ({"count": 5}, r"of \(4, 9\] cannot count 6 events"),
        ({"first_time": TIME_MIN - 1}, "years 1 to 9999"),
        ({"last_time": TIME_MAX + 1}, "years 1 to 9999"),
        ({"parts": (Part("MAX", "a", 3, 7),)}, "knows more values than were dropped"),
        ({"parts": (Part("MAX", "a", -1, 7),)}, "knows more values than were dropped"),
        ({"parts": (Part("MAX", "a", 1, [7]),)}, "a number, a text or bytes"),
        ({"parts": (Part("MAX", "a", 1, 7),) * (PARTS_MAX + 1)}, "at most 64 parts, not 65"),
    ],
)
def test_a_digest_that_contradicts_itself_is_refused(changes: dict[str, Any], words: str) -> None:
    check_digest(GOOD)
    wrong = msgspec.structs.replace(GOOD, **changes)

    with pytest.raises(EventError, match=words):
        check_digest(wrong)
    with pytest.raises(EventError):
        decode_digest(encode_digest(wrong))


def test_a_part_is_found_by_its_digester_and_attribute() -> None:
    low, high = Part("MAX", "a", 1, 7), Part("MAX", "b", 1, 8)
    digest = msgspec.structs.replace(GOOD, parts=(low, high))

    assert digest.part("MAX") is low
    assert digest.part("MAX", "b") is high
    assert digest.part("MIN") is None


def test_what_a_digest_costs_grows_with_its_parts() -> None:
    sketch = Part("DISTINCT", "a", 2, b"x" * 100)
    larger = msgspec.structs.replace(GOOD, parts=(*GOOD.parts, sketch))

    assert larger.size - GOOD.size == larger.wire_bytes - GOOD.wire_bytes == 100
    assert math.isclose(GOOD.wire_bytes, len(encode_digest(GOOD)), abs_tol=48)
