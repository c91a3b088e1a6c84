"""Union: what goes for all receivers is what goes for each of them; each alone is the slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.block import Block, block_of
from heliograph.event.columns import Columns
from heliograph.event.digest import Digest
from heliograph.event.schema import Schema
from heliograph.policy import build
from heliograph.policy.binding import BoundFilter, BoundPolicy, bind
from heliograph.policy.limits import Limits
from heliograph.policy.model import Each, Policy
from heliograph.policy.pack import Held, pack, pack_to_fit
from heliograph.policy.union import bind_union
from policy.runs import events
from policy.strategies_policy import block
from strategies import PROPERTY

SCHEMA = Schema.declare({"a": "int64", "t": "string"})
EVERY = build.policy(None, build.every(2), build.every(2), summary=[build.digester("MAX", "a")])
HIGH = build.policy(
    "a", build.gt(3), summary=[build.digester("MAX", "a"), build.digester("COUNT", "t")]
)
TEXT = build.policy("a", build.match("x"))  # It cannot apply: the attribute holds numbers.


def kept(one: BoundPolicy, values: list[int], level: int, ordinal: int = 0) -> list[int]:
    """Return which events a bound policy keeps at a level."""
    columns = Columns([block(events(*values), SCHEMA)], SCHEMA)
    places = None
    for chain in one.levels[:level]:
        for each in chain:
            places = each.run(columns, places, ordinal)
    return list(range(len(values))) if places is None else places.tolist()


POLICIES = [
    EVERY,
    HIGH,
    build.policy("a", build.uniq(), build.latest(4), build.latest(2)),
    build.policy("a", [build.ge(2), build.every(2)], build.within(3, 5)),
    build.policy(None, build.random(0.3, seed=1), build.random(0.7, seed=2)),
    build.policy("a", build.delta(2), each="run"),
]


@PROPERTY
@given(
    st.lists(st.sampled_from([*POLICIES, TEXT]), min_size=1, max_size=5),
    st.lists(st.integers(0, 8), min_size=1, max_size=30),
    st.integers(1, 4),
    st.integers(0, 2),
)
def test_an_event_is_dropped_where_every_receiver_alone_would_drop_it(
    policies: list[Policy], values: list[int], level: int, ordinal: int
) -> None:
    union = bind_union(policies, SCHEMA)
    able = [bind(one, SCHEMA) for one in policies if one is not TEXT]
    wanted = {place for one in able for place in kept(one, values, level, ordinal)}
    if not able:
        wanted = set(range(len(values)))
    assert kept(union, values, level, ordinal) == sorted(wanted)
    assert union.top == max((one.top for one in able), default=0)


def test_a_union_has_as_many_levels_as_the_longest_policy() -> None:
    assert bind_union([EVERY, HIGH], SCHEMA).top == 2
    assert bind_union([POLICIES[2], HIGH], SCHEMA).top == 3


@pytest.mark.parametrize("order", [1, -1])
def test_a_receiver_that_gives_up_nothing_but_in_the_worst_case_keeps_all_for_all(
    order: int,
) -> None:
    union = bind_union([EVERY, Policy()][::order], SCHEMA)
    assert union.top == 0
    packed = pack_to_fit(Held([block(events(*range(8)), SCHEMA)]), union, 1, Limits(8))
    assert [type(one) for one in packed.entries] == [Digest]


def test_one_receiver_has_its_own_policy() -> None:
    for policies in ([HIGH], [TEXT, HIGH]):
        one = bind_union(policies, SCHEMA)
        assert one.policy == HIGH
        assert [type(each) for each in one.levels[0]] == [BoundFilter]


def test_no_receiver_at_all_has_the_worst_case_only() -> None:
    for policies in ([], [TEXT]):
        one = bind_union(policies, SCHEMA)
        assert (one.top, one.policy, one.digesters) == (0, Policy(), ())


def test_a_digest_says_what_the_digesters_of_all_ask_for_each_once() -> None:
    union = bind_union([EVERY, HIGH], SCHEMA)
    wanted = [("MAX", "a"), ("COUNT", "t")]
    assert [(one.name, one.attribute) for one, _ in union.digesters] == wanted
    assert [(one.name, one.attribute) for one in union.policy.digesters] == wanted
    packed = pack(Held([block(events(3, 2, 1, 0, 9), SCHEMA)]), union, 1)
    (told,) = [one for one in packed.entries if isinstance(one, Digest)]
    assert [(part.digester, part.known, part.value) for part in told.parts] == [
        ("MAX", 2, 2),
        ("COUNT", 0, None),
    ]


@pytest.mark.parametrize(
    ("rests", "left"),
    [
        (["newest"], range(6, 8)),
        (["oldest"], range(2)),
        (["newest", "nothing"], range(6, 8)),
        (["nothing", "oldest"], range(2)),
        (["oldest", "newest"], range(6, 8)),
        (["nothing", "nothing"], range(0)),
    ],
)
def test_when_no_level_frees_enough_that_is_left_which_any_receiver_keeps(
    rests: list[str], left: range
) -> None:
    policies = [build.policy("a", rest=rest) for rest in rests]
    packed = pack_to_fit(
        Held([block(events(*range(8)), SCHEMA)]), bind_union(policies, SCHEMA), 1,
        Limits(8, least=5 / 8),
    )  # fmt: skip
    kept = [one for entry in packed.entries if isinstance(entry, Block) for one in entry.numbers()]
    assert kept == [one + 1 for one in left]


def test_always_levels_are_the_planets_to_run() -> None:
    strict = build.policy("a", build.every(2), always=build.gt(100))
    for policies in ([strict], [strict, EVERY]):
        one = bind_union(policies, SCHEMA)
        assert one.always == ()
        assert one.policy.always == ()
        found = pack(Held([block(events(1, 2, 3, 4), SCHEMA)]), one, 1)
        assert sum(entry.filtered for entry in found.entries if isinstance(entry, Digest)) == 0
    assert bind_union([build.policy(None, build.every(2), each="run")], SCHEMA).policy.each is (
        Each.RUN
    )


def test_a_level_says_the_same_whatever_the_levels_below_it_left() -> None:
    (first,), (second,) = bind_union([EVERY, HIGH], SCHEMA).levels
    held = [block_of("s", 1, range(1, 13), [0] * 12, [[n % 6, ""] for n in range(12)], SCHEMA)]
    columns = Columns(held, SCHEMA)
    below = first.run(columns, None, 0)
    assert set(second.run(columns, below, 0).tolist()) < set(below.tolist())
    assert np.array_equal(second.run(columns, below, 0), second.run(columns, None, 0))
