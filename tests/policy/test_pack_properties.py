from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from heliograph.event.block import Block
from heliograph.event.digest import Digest
from heliograph.policy.binding import bind
from heliograph.policy.limits import Limits
from heliograph.policy.pack import Held, load_of, pack, pack_to_fit
from policy import twin_pack
from policy.compare import check_digest_says, check_same, one_by_one
from policy.strategies_policy import block, documents, events_of, lanes, policy_of, streams
from policy.twin import One

SUMMARY = {"digesters": [{"name": "COUNT"}, {"name": "COUNT", "attribute": "a"}]}


def packs_like_its_twin(data: st.DataObject, *, plain: bool) -> None:
    stream = data.draw(streams(plain=plain))
    policy = policy_of(data.draw(documents(stream.kinds, stream.pool, sketches=True)))
    bound = bind(policy, stream.schema)
    level = data.draw(st.integers(0, bound.top + 1))
    ordinal = data.draw(st.integers(0, 2))
    packed = pack(data.draw(lanes(stream, bound)), bound, level, ordinal=ordinal)
    wanted = twin_pack.pack(stream.lane, policy, stream.kinds, level, ordinal=ordinal)
    check_same(packed.entries, wanted.entries, policy, stream.kinds, stream.schema)
    assert len(packed.pending) == len(wanted.pending)
    for mine, told in zip(packed.pending, wanted.pending, strict=True):
        check_digest_says(mine, told, policy, stream.kinds)
    assert packed.level == level


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_a_pack_does_as_its_twin(data: st.DataObject) -> None:
    packs_like_its_twin(data, plain=False)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_a_pack_of_the_types_of_most_policies_does_as_its_twin(data: st.DataObject) -> None:
    packs_like_its_twin(data, plain=True)


def packs_again_like_its_twin(data: st.DataObject) -> None:
    stream = data.draw(streams(plain=True, min_size=2))
    schema, kinds, lane = stream.schema, stream.kinds, stream.lane
    found = data.draw(lanes(stream, bind(policy_of({"summary": SUMMARY}), schema)))
    last = stream.lane.entries[-1] if stream.lane.entries else None
    for _ in range(data.draw(st.integers(2, 3))):
        summary = SUMMARY | {"each": data.draw(st.sampled_from(["pack", "run"]))}
        policy = policy_of(data.draw(documents(kinds, stream.pool)) | {"summary": summary})
        bound = bind(policy, schema)
        level = data.draw(st.integers(0, bound.top + 1))
        packed = pack(found, bound, level)
        wanted = twin_pack.pack(lane, policy, kinds, level)
        check_same(packed.entries, wanted.entries, policy, kinds, schema)
        assert [(one.after, one.upto, one.count, one.filtered) for one in packed.pending] == [
            (one.after, one.upto, len(one.dropped), one.filtered) for one in wanted.pending
        ]
        more: list[One] = []
        if last is not None:  # With a gap in front, or none.
            number = last.number if isinstance(last, One) else last.upto
            first = number + data.draw(st.integers(1, 2))
            more = data.draw(events_of(stream.pool, epoch=last.epoch, first=first, max_size=4))
            last = more[-1] if more else last
        behind = [block(more, schema)] if more else []
        found = Held([*packed.entries, *behind], found.settled, packed.pending, found.reached)
        lane = twin_pack.Lane([*wanted.entries, *more], lane.settled, wanted.pending, lane.reached)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_packs_of_a_packed_lane_do_as_their_twin(data: st.DataObject) -> None:
    packs_again_like_its_twin(data)


@pytest.mark.slow
@settings(deadline=None, max_examples=5_000)
@given(st.data())
def test_packs_of_a_packed_lane_do_as_their_twin_over_a_long_campaign(
    data: st.DataObject,
) -> None:
    packs_again_like_its_twin(data)


@pytest.mark.slow
@settings(deadline=None, max_examples=5_000)
@given(st.data(), st.booleans())
def test_a_pack_does_as_its_twin_over_a_long_campaign(data: st.DataObject, plain: bool) -> None:  # noqa: FBT001
    packs_like_its_twin(data, plain=plain)


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_a_lane_that_is_cut_differently_packs_to_the_same(data: st.DataObject) -> None:
    stream = data.draw(streams())
    bound = bind(policy_of(data.draw(documents(stream.kinds, stream.pool))), stream.schema)
    level = data.draw(st.integers(0, bound.top + 1))
    one, other = (pack(data.draw(lanes(stream, bound)), bound, level) for _ in range(2))
    assert one_by_one(one.entries, stream.schema) == one_by_one(other.entries, stream.schema)
    assert one.pending == other.pending


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_a_pack_of_the_same_lane_is_the_same_to_the_byte(data: st.DataObject) -> None:
    stream = data.draw(streams())
    bound = bind(policy_of(data.draw(documents(stream.kinds, stream.pool))), stream.schema)
    lane = data.draw(lanes(stream, bound))
    limits = Limits(entries=max(2, lane.load().entries))
    assert pack_to_fit(lane, bound, 1, limits) == pack_to_fit(lane, bound, 1, limits)


@settings(deadline=None, max_examples=120)
@given(st.data())
def test_a_pack_to_fit_frees_its_least_or_ends_in_the_worst_case(data: st.DataObject) -> None:
    stream = data.draw(streams())
    policy = policy_of(data.draw(documents(stream.kinds, stream.pool, sketches=True)))
    bound = bind(policy, stream.schema)
    lane = data.draw(lanes(stream, bound))
    limits = data.draw(_limits(lane))
    before = lane.load()
    level = data.draw(st.integers(1, 4))
    goal = data.draw(st.sampled_from([0.0, 0.3, 0.8]))
    packed = pack_to_fit(lane, bound, level, limits, goal=goal)
    freed = limits.enough(before, load_of(packed.entries))
    if packed.level <= bound.top:
        assert freed
        assert packed.entries == pack(lane, bound, packed.level).entries
    else:
        assert packed.level == bound.top + 1
        _check_remainder(packed.entries, freed=freed, rest=str(policy.rest))
    event(f"{packed.level - level} above")


def _check_remainder(entries: list[Any], *, freed: bool, rest: str) -> None:
    """The worst case is one digest for each epoch; a built-in keeps events too, if they fit."""
    digests = [entry.epoch for entry in entries if isinstance(entry, Digest)]
    events = [entry for entry in entries if isinstance(entry, Block)]
    assert freed or not events
    if rest == "nothing":
        assert not events
        assert len(digests) == len(set(digests)) or freed


@st.composite
def _limits(draw: st.DrawFn, lane: Held) -> Limits:
    """Draw limits that the lane has reached, in entries, in bytes, in both or in none."""
    before = lane.load()
    entries = draw(st.sampled_from([None, max(2, before.entries), max(2, before.entries - 3)]))
    size = draw(st.sampled_from([None, max(512, before.bytes), max(512, before.bytes - 99)]))
    if entries is None and size is None:
        entries = 4
    return Limits(entries, size, draw(st.sampled_from([1 / 16, 1 / 2, 1.0])))


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_the_level_is_the_lowest_from_the_asked_one_on_that_frees_enough(
    data: st.DataObject,
) -> None:
    stream = data.draw(streams(plain=True, min_size=6))
    shares = data.draw(st.lists(st.sampled_from([0, 0.05, 0.3, 0.6]), min_size=1, max_size=4))
    chains = [{"filters": [{"name": "RANDOM", "fraction": share}]} for share in shares]
    bound = bind(policy_of({"levels": chains}), stream.schema)
    lane = data.draw(lanes(stream, bound))
    least = data.draw(st.sampled_from([1 / 16, 1 / 3, 2 / 3]))
    limits = Limits(max(2, lane.load().entries), least=least)
    asked = data.draw(st.integers(1, bound.top + 1))
    goal = data.draw(st.sampled_from([0.0, 0.3, 0.8]))
    before = lane.load()
    after = {
        level: load_of(pack(lane, bound, level).entries) for level in range(asked, bound.top + 1)
    }
    enough = [level for level in after if limits.enough(before, after[level])]
    reached = [level for level in enough if limits.enough(before, after[level], goal)]
    most = min(enough, key=lambda one: limits.pressure(before, after[one]), default=bound.top + 1)
    level = pack_to_fit(lane, bound, asked, limits, goal=goal).level
    assert level == min(reached, default=most)
    event(f"{level - asked} above")


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_rows_and_columns_of_a_schema_that_has_grown_pack_alike(data: st.DataObject) -> None:
    stream = data.draw(streams(plain=True, max_size=6, whole=True))
    old = stream.schema
    new = old.evolve({"d": data.draw(st.sampled_from(list(old.types)))})
    bound = bind(policy_of(data.draw(documents(stream.kinds, stream.pool))), new)
    level = data.draw(st.integers(0, bound.top + 1))
    events = stream.events
    made = [
        Held([block([one], schema, columns=columns) for one in events])
        for schema in (old, new)
        for columns in (False, True)
    ]
    found = [pack(lane, bound, level) for lane in made]
    assert all(one_by_one(one.entries, new) == one_by_one(found[0].entries, new) for one in found)
    assert all(one.pending == found[0].pending for one in found)
