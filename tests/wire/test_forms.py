"""Schemas, policies and items of data come out of their forms as they went in, or not at all."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.block import ROWS, Block, block_of
from heliograph.event.convert import events_of
from heliograph.event.digest import Digest, encode_digest
from heliograph.event.errors import EventError, HeliographError, PolicyError, WireError
from heliograph.event.schema import Attribute, Schema
from heliograph.event.types import Type
from heliograph.lane.entry import Entry, Marker
from heliograph.policy.builtin import NEWEST, OLDEST, latest_per
from heliograph.policy.model import Digester, Each, Filter, Level, Policy
from heliograph.wire.forms import (
    check_growth,
    entry_frame,
    framed_block,
    framed_digest,
    policy_bytes,
    read_policy,
    read_schema,
    run_block,
    schema_bytes,
)
from heliograph.wire.frames import block_frame, digest_frame
from heliograph.wire.reader import BlockFrame, DigestFrame, Reader, Run
from strategies import PROPERTY, blocks, same, schemas, types, values_for
from wire.streams import NUMBERS, some_digests

if TYPE_CHECKING:
    from collections.abc import Callable

LARGE: Final = 2**20
POLICIES: Final = [
    Policy(),
    OLDEST,
    NEWEST,
    latest_per("room"),
    Policy(
        (Level((Filter("UNIQ", attribute="n"),)),),
        (Digester("MAX", "n"),),
        Each.RUN,
        always=(Filter("GE", (("value", 7.5),), "n"),),
    ),
]


@st.composite
def grown(draw: st.DrawFn) -> list[Schema]:
    """Draw the versions of a schema, from the first to the last."""
    found = [draw(schemas())]
    for _ in range(draw(st.integers(0, 3))):
        old = found[-1]
        wider = {one.tag: Type.FLOAT64 for one in old.attributes if one.type is Type.INT64}
        more = {
            f"more{len(found)}{place}": draw(types()) for place in range(draw(st.integers(0, 2)))
        }
        new = old.evolve(more | (wider if draw(st.booleans()) else {}))
        found += [new] if new is not old else []
    return found


@PROPERTY
@given(grown())
def test_a_schema_comes_out_as_it_went_in_with_all_of_its_versions(versions: list[Schema]) -> None:
    last = read_schema(schema_bytes(versions[-1]))
    assert last == versions[-1]
    assert [last.at(one.version) for one in versions] == versions


@PROPERTY
@given(grown())
def test_a_schema_may_become_each_later_version_and_none_of_the_earlier_ones(
    versions: list[Schema],
) -> None:
    for place, old in enumerate(versions):
        for new in versions[place:]:
            check_growth(old, new)
        for new in versions[:place]:
            with pytest.raises(EventError, match="none that"):
                check_growth(old, new)


@pytest.mark.parametrize(
    "new",
    [
        Schema(),
        Schema.declare({"a": "string"}),
        Schema((Attribute("a", Type.STRING),), declared=True, version=2),
        Schema((Attribute("b", Type.INT64),), declared=True, version=2),
        Schema((Attribute("b", Type.INT64, since=2),), declared=True, version=2),
        Schema((Attribute("a", Type.INT64),), declared=False, version=2),
        Schema((Attribute("a", Type.FLOAT64),), declared=True, version=2),
    ],
)
def test_a_schema_only_adds_attributes_and_widens_integers(new: Schema) -> None:
    with pytest.raises(EventError, match="only add attributes"):
        check_growth(NUMBERS, new)


@pytest.mark.parametrize(
    "rows",
    [
        (True, 0, []),
        (True, 1, [("a", "int64", 0, 0)]),
        (True, 1, [("a", "int64", 2, 0)]),
        (True, 1, [("a", "int63", 1, 0)]),
        (True, 1, [("a", "int64", 1, 0), ("a", "int64", 1, 0)]),
        (True, 1, [("_number", "int64", 1, 0)]),
        (True, 1),
        "schema",
    ],
)
def test_a_schema_that_contradicts_itself_is_refused(rows: Any) -> None:
    with pytest.raises(EventError):
        read_schema(msgspec.msgpack.encode(rows))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_comes_out_as_it_went_in(policy: Policy) -> None:
    assert read_policy(policy_bytes(policy)) == policy


def test_no_policy_is_the_worst_case_alone_and_costs_nothing() -> None:
    assert policy_bytes(None) == b""
    assert read_policy(b"") == Policy()


@pytest.mark.parametrize("data", [b"\xff", b"{", b"[]", b'{"levels": 7}', b"<policy>"])
def test_what_is_no_policy_is_refused(data: bytes) -> None:
    with pytest.raises(PolicyError):
        read_policy(data)


@PROPERTY
@given(st.binary(max_size=60), st.binary(max_size=8), st.data())
def test_bytes_from_outside_raise_what_their_peer_pays_for_and_nothing_else(
    noise: bytes, patch: bytes, data: st.DataObject
) -> None:
    forms: list[tuple[Callable[[bytes], object], bytes]] = [
        (read_schema, schema_bytes(NUMBERS)),
        (read_policy, policy_bytes(POLICIES[-1])),
        (lambda body: framed_digest(DigestFrame(1, body), "s", 1), encode_digest(DIGEST)),
    ]
    for read, whole in forms:
        place = data.draw(st.integers(0, len(whole)))
        for broken in (noise, whole[:place] + patch + whole[place + len(patch) :]):
            try:
                read(broken)
            except HeliographError:
                continue


DIGEST: Final = Digest("s", 1, 3, 9, 4, 1, 5, 6)


@PROPERTY
@given(st.data(), st.integers(0, 5), st.booleans())
def test_a_block_comes_out_of_its_frames_as_it_went_in(
    data: st.DataObject,
    place: int,
    alone: bool,  # noqa: FBT001 - drawn by Hypothesis
) -> None:
    schema = data.draw(schemas())
    block = data.draw(blocks(schema))
    parts = block.singles(schema) if alone else [block]
    base = block.time if place else block.time + 7
    found: list[Block] = []
    for item in Reader(LARGE).feed(b"".join(block_frame(one, 3, base) for one in parts)):
        if isinstance(item, Run):
            assert base == block.time
            found.append(run_block(item, "s", 1, schema.version, base))
        else:
            assert isinstance(item, BlockFrame)
            found.append(framed_block(item, "s", 1))
    if not alone and block.count > 1:
        assert found == [block]
    expected = events_of(block, schema)
    assert same([one for part in found for one in events_of(part, schema)], expected)
    assert not alone or len(found) == (len(parts) if place == 0 else runs_of(block))


def runs_of(block: Block) -> int:
    """Count the runs of neighbouring numbers in a block, one after the other."""
    numbers: list[int] = block.numbers().tolist()
    return 1 + sum(after != before + 1 for before, after in pairwise(numbers))


@PROPERTY
@given(some_digests(), st.text(min_size=1, max_size=9), st.integers(0, 2**62))
def test_a_digest_is_of_the_stream_and_epoch_that_its_alias_says(
    digest: Digest, stream: str, epoch: int
) -> None:
    (item,) = Reader(LARGE).feed(digest_frame(digest, 1))
    assert isinstance(item, DigestFrame)
    found = framed_digest(item, stream, epoch)
    assert found == msgspec.structs.replace(digest, stream=stream, epoch=epoch)


@pytest.mark.parametrize(
    "changes",
    [
        {"span": 5},
        {"count": 2},
        {"count": 4},
        {"presence": b"\xc0"},
        {"presence": b"\xf0"},
        {"presence": b"\xa0", "count": 2, "span": 4},
        {"first": 0},
        {"first": 2**63 - 2},
        {"version": 0},
        {"form": 9},
        {"time": 2**62},
        {"body": b"\x01"},
        {"body": b"\x07\x01\x01\x01"},
    ],
)
def test_a_block_frame_that_contradicts_itself_is_refused(changes: dict[str, Any]) -> None:
    block = block_of("s", 1, [4, 5, 6], [0, 0, 0], [[1], [2], [3]], NUMBERS)
    frame = BlockFrame(
        1, block.first, block.span, block.count, block.version, block.form, block.time,
        block.presence, block.body,
    )  # fmt: skip
    assert framed_block(frame, "s", 1) == block
    with pytest.raises(WireError):
        framed_block(msgspec.structs.replace(frame, **changes), "s", 1)


@pytest.mark.parametrize(
    "digest",
    [
        Digest("s", 1, 3, 2, 0),
        Digest("s", 1, 3, 9, 7),
        Digest("s", 1, 3, 9, 6, 1),
        Digest("s", 1, 3, 9, 4, gap=5),
        Digest("s", 1, -1, 9, 4),
    ],
)
def test_a_digest_frame_that_contradicts_itself_is_refused(digest: Digest) -> None:
    with pytest.raises(WireError):
        framed_digest(DigestFrame(1, encode_digest(digest)), "s", 1)


def test_a_frame_is_made_once_for_all_links() -> None:
    for item in (block_of("s", 1, [4], [0], [[1]], NUMBERS), DIGEST):
        entry = Entry(item)
        assert entry_frame(entry, 1, 0) is entry_frame(entry, 1, 0) is entry.frame
        whole = block_frame(item, 1, 0) if isinstance(item, Block) else digest_frame(item, 1)
        assert entry.frame == whole


def test_a_marker_has_no_frame() -> None:
    with pytest.raises(TypeError, match="stay in lanes"):
        entry_frame(Entry(Marker(1, 9)), 1, 0)


@PROPERTY
@given(st.data())
def test_one_event_costs_its_values_and_little_more(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    values = schema.row(data.draw(values_for(schema)))
    lone = block_of("s", 1, [2**40], [10**15], [values], schema)
    size = sum(len(msgspec.msgpack.encode(one)) for one in values)
    assert len(block_frame(lone, 2**31, 10**15)) <= 16 + size + 4


def test_an_event_of_many_costs_its_values_and_two_or_three_bytes() -> None:
    count = 200
    numbers = range(1, count + 1)
    block = block_of("s", 1, numbers, [0] * count, [[7]] * count, NUMBERS)
    assert block.form == ROWS
    assert len(block_frame(block, 1, 0)) <= count * (1 + 3) + 40


def test_a_time_near_the_base_costs_less_than_one_that_is_far() -> None:
    row = [7]
    sizes = [
        len(block_frame(Block("s", 1, 1, 1, 1, 1, 0, ROWS, b"", body), 1, 0))
        for body in (block_of("s", 1, [1, 2], [0, at], [row, row], NUMBERS).singles(NUMBERS)[1].body
                     for at in (5, 10**6, 10**15))
    ]  # fmt: skip
    assert sizes == [19, 23, 27]
