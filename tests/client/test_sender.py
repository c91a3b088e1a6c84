"""A sender gathers what is published, and its lane gives up what its receivers would give up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.played import NUMBERS
from heliograph.client.sender import GATHER_BYTES_MAX, GATHER_EVENTS_MAX, Sender
from heliograph.event.block import Block, block_of
from heliograph.event.convert import events_of
from heliograph.event.digest import Digest
from heliograph.event.errors import EventError
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.event.types import INT64_MAX, INT64_MIN, TIME_MAX, TIME_MIN
from heliograph.lane.account import Account
from heliograph.policy.ladder import Ladder
from heliograph.policy.limits import Limits
from planet.policies import EVERY, NEWEST, above
from strategies import PROPERTY, same, schemas, times, values_for

if TYPE_CHECKING:
    from heliograph.policy.model import Policy

DECLARED = Schema.declare({"a": "int64", "b": "string"})


def sender(schema: Schema = NUMBERS, entries: int = 100, epoch: int = 1) -> Sender:
    return Sender(1, "s", schema, epoch, Limits(entries), Ladder)


def publish(one: Sender, count: int) -> None:
    for _ in range(count):
        one.publish({"n": one.last + 1}, one.last, 0)
    one.flush(0)


def taken(one: Sender) -> list[Block | Digest]:
    """Take all that waits in the lane, as a link does."""
    found: list[Block | Digest] = []
    while (entry := one.lane.take()) is not None:
        assert isinstance(entry.item, Block | Digest)
        found.append(entry.item)
    return found


def numbers(items: list[Block | Digest]) -> list[int]:
    return [n for one in items if isinstance(one, Block) for n in one.numbers().tolist()]


def account(items: list[Block | Digest], begin: int = 0) -> Account:
    """Enter what was taken into books, which must add up."""
    books = Account("s", Position(1, begin))
    for one in items:
        if isinstance(one, Block):
            assert books.take(one, NUMBERS) is one
        else:
            books.settle(one)
    return books


@st.composite
def published(draw: st.DrawFn) -> tuple[Schema, list[tuple[int, dict[str, Any]]]]:
    schema = draw(schemas())
    return schema, draw(st.lists(st.tuples(times(), values_for(schema)), min_size=1, max_size=9))


@PROPERTY
@given(published(), st.booleans())
def test_what_is_published_comes_out_as_it_went_in(
    drawn: tuple[Schema, list[tuple[int, dict[str, Any]]]],
    open_: bool,  # noqa: FBT001 - drawn by Hypothesis
) -> None:
    schema, events = drawn
    one = sender(Schema() if open_ else schema)
    for number, (time, values) in enumerate(events, 1):
        if open_:
            values = {tag: value for tag, value in values.items() if value != []}  # noqa: PLW2901 - of no type
        assert one.publish(values, time, 0) == number
    one.flush(0)
    (block,) = taken(one)
    assert isinstance(block, Block)
    found = events_of(block, one.schema)
    assert [event.time for event in found] == [time for time, _ in events]
    if not open_:
        expected = [schema.row(values) for _, values in events]
        assert same([schema.row(event.values) for event in found], expected)


def test_events_are_gathered_until_they_are_asked_for() -> None:
    one = sender()
    for _ in range(9):
        one.publish({"n": 1}, 0, 0)
    assert one.gathering
    assert not one.lane.entries
    one.flush(0)
    one.flush(0)
    assert not one.gathering
    assert [entry.count for entry in one.lane.entries] == [9]


def test_a_block_that_is_gathered_has_bounds() -> None:
    one = sender(entries=10_000)
    for _ in range(GATHER_EVENTS_MAX + 1):
        one.publish({"n": 1}, 0, 0)
    assert [entry.count for entry in one.lane.entries] == [GATHER_EVENTS_MAX]
    many = sender(Schema(), entries=10_000)
    for _ in range(100):
        many.publish({"t": "x" * 1_000}, 0, 0)
    many.flush(0)
    assert max(entry.size for entry in many.lane.entries) < GATHER_BYTES_MAX + 1_000
    assert len(many.lane.entries) == 4


def test_whoever_gathers_is_told_when_there_is_a_block_of_it() -> None:
    one = sender(entries=10**6)
    for number in range(1, GATHER_EVENTS_MAX):
        assert one.gather({"n": number}, 0) == number
    assert not one.full
    one.gather({"n": 0}, 0)
    assert one.full
    assert not one.lane.entries
    one.flush(0)
    assert not one.full
    assert [entry.count for entry in one.lane.entries] == [GATHER_EVENTS_MAX]


@pytest.mark.parametrize("time", [TIME_MIN - 1, TIME_MAX + 1])
def test_a_time_beyond_the_years_1_to_9999_is_refused(time: int) -> None:
    one = sender()
    with pytest.raises(EventError, match="years 1 to 9999"):
        one.publish({"n": 1}, time, 0)
    assert one.last == 0


@pytest.mark.parametrize(
    "values",
    [
        {"a": "text"},
        {"a": INT64_MAX + 1},
        {"a": INT64_MIN - 1, "b": "x"},
        {"a": 1, "b": "\ud800"},
        {"c": 1},
        {"a": 1, "b": 2},
    ],
)
def test_what_does_not_fit_a_declared_schema_is_not_published(values: dict[str, Any]) -> None:
    one = sender(DECLARED)
    with pytest.raises(EventError):
        one.publish(values, 0, 0)
    assert (one.last, one.gathering, one.grown) == (0, False, False)
    assert one.publish({"b": "x"}, 0, 0) == 1


def test_an_open_schema_grows_with_what_is_published() -> None:
    one = sender(Schema())
    for values in ({"a": 1}, {"a": 2.5}, {"b": "x"}):
        one.publish(values, 0, 0)
    one.flush(0)
    (block,) = taken(one)
    assert isinstance(block, Block)
    assert one.grown
    assert (one.schema.version, block.version) == (4, 4)
    assert [event.values for event in events_of(block, one.schema)] == [
        {"a": 1.0}, {"a": 2.5}, {"b": "x"},
    ]  # fmt: skip


def test_a_block_goes_behind_what_was_gathered() -> None:
    one = sender()
    one.publish({"n": 1}, 0, 0)
    one.offer(block_of("s", 1, [2, 3], [0, 0], [[2], [3]], NUMBERS), 0)
    assert one.publish({"n": 4}, 0, 0) == 4
    one.flush(0)
    assert numbers(taken(one)) == [1, 2, 3, 4]


@pytest.mark.parametrize("epoch", [1, 2**61])
def test_times_count_from_when_the_epoch_began(epoch: int) -> None:
    assert sender(epoch=epoch).base == min(epoch, TIME_MAX)


@pytest.mark.parametrize(
    ("policies", "kept"),
    [
        ([], []),
        ([NEWEST], list(range(986, 1_001))),
        ([above(990)], list(range(990, 1_001))),
        ([above(995), above(990)], list(range(990, 1_001))),
    ],
)
def test_a_full_lane_gives_up_what_every_receiver_would_give_up(
    policies: list[Policy], kept: list[int]
) -> None:
    one = sender(entries=16)
    one.demand(policies, len(policies))
    for _ in range(1_000):
        publish(one, 1)
        assert one.lane.held_entries <= 16
    items = taken(one)
    found = numbers(items)
    if len(policies) == 1 and policies[0] is NEWEST:
        assert found
        assert found == list(range(1_001 - len(found), 1_001))
    else:
        assert set(kept) <= set(found)
        assert all(n in kept or n > 980 for n in found)
    assert account(items).position.number == 1_000
    assert account(items).missing == 0


@PROPERTY
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3)), max_size=12),
    st.integers(0, 12),
    st.sampled_from([[], [EVERY], [above(10)], [NEWEST, EVERY]]),
)
def test_whatever_a_planet_took_with_it_what_follows_adds_up(
    turns: list[tuple[int, int]], kept: int, policies: list[Policy]
) -> None:
    one = sender(entries=8)
    one.demand(policies, 1)
    out: list[Block | Digest] = []
    for count, take in turns:
        publish(one, count)
        for _ in range(take):
            entry = one.lane.take()
            if entry is not None:
                assert isinstance(entry.item, Block | Digest)
                out.append(entry.item)
    lost = out[max(0, len(out) - kept) :]
    begin = one.restart(lost) - 1
    assert 0 <= begin <= one.last
    items = taken(one)
    books = account(items, begin)
    assert (books.position.number, books.missing) == (one.last, 0)
    told = set(numbers(items))
    assert set(numbers(lost)) <= told


def test_a_sender_of_which_nothing_has_left_begins_with_its_first_event() -> None:
    one = sender(entries=8)
    publish(one, 100)
    assert one.restart([]) == 1
    assert account(taken(one)).position.number == 100


def test_what_waits_to_be_gathered_is_no_loss() -> None:
    one = sender()
    publish(one, 3)
    taken(one)
    one.publish({"n": 4}, 0, 0)
    assert one.restart([]) == 4
    one.flush(0)
    assert numbers(taken(one)) == [4]
