"""Policies in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from heliograph.policy import build
from heliograph.policy.builtin import NEWEST, OLDEST, latest_per
from heliograph.policy.catalogue import FILTERS
from heliograph.policy.reading import describe, read

if TYPE_CHECKING:
    from heliograph.policy.element import Element

WORDS = [
    (build.gt(5), "drops events whose x is not above 5"),
    (build.gt(5, action="drop"), "drops events whose x is above 5"),
    (build.ge(5), "drops events whose x is not 5 or above"),
    (build.lt(5), "drops events whose x is not below 5"),
    (build.le(5), "drops events whose x is not 5 or below"),
    (build.eq("Info"), "drops events whose x is not 'Info'"),
    (build.ne("Info", action="drop"), "drops events whose x is other than 'Info'"),
    (build.within(50, 100), "drops events whose x is between 50 and 100"),
    (build.within(50, 100, action="keep"), "drops events whose x is not between 50 and 100"),
    (build.inset(["a", "b"]), "drops events whose x is one of 'a', 'b'"),
    (build.match("^ap-"), "drops events whose x matches /^ap-/"),
    (build.match("^ap-", action="keep"), "drops events whose x does not match /^ap-/"),
    (build.contain(3), "drops events whose x contains 3"),
    (build.subset([]), "drops events whose x lies within nothing"),
    (build.supset([1, 2], action="keep"), "drops events whose x does not hold all of 1, 2"),
    (build.first(["a"]), "drops all but the first of the events whose x is one of 'a'"),
    (build.last(["a"]), "drops all but the last of the events whose x is one of 'a'"),
    (build.uniq(by="p"), ("drops events whose x equals that of the event before, "
     "separately for each p")),
    (build.guniq(), "drops all but the first event of each x"),
    (build.delta(2.5), ("drops events whose x differs by less than 2.5 from that of the last "
     "kept one")),
    (build.latest(10), "drops all but the last 10 events"),
    (build.latest(1, attribute="x", by="p"), ("drops all but the last event that have a x, "
     "separately for each p")),
    (build.every(3), "keeps one event out of every 3"),
    (build.every(3, action="drop"), "drops one event out of every 3"),
    (build.random(0.25), "drops about 25 % of the events at random"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "words"), WORDS, ids=[words for _, words in WORDS])
def test_a_filter_is_read_aloud(made: Element, words: str) -> None:
    (level,) = build.policy("x", made).levels

    assert describe(level.filters[0]) == words


def test_every_filter_is_read_aloud_somewhere_above() -> None:
    assert {made.fields["name"][0] for made, _ in WORDS} == set(FILTERS)


def test_a_policy_is_read_level_by_level() -> None:
    policy = build.policy(
        "x", build.uniq(), [build.within(1, 2), build.every(2)],
        always=build.gt(0), summary=[build.digester("MEAN"), build.digester("DISTINCT", "y")],
    )  # fmt: skip

    assert read(policy) == [
        "Always, before anything waits: drops events whose x is not above 0.",
        "When a queue is full, as far as needed:",
        "  level 1 drops events whose x equals that of the event before.",
        "  level 2 drops events whose x is between 1 and 2, then keeps one event out of every 2.",
        "If that is not enough, all that waits is folded into one digest.",
        (
            "For each pack a digest tells how many events were dropped, from when to when, "
            "the mean x, "
            "about how many different values y had."
        ),
    ]


def test_built_in_policies_say_what_they_keep() -> None:
    assert "When a queue is full, the newest events are kept" in "\n".join(read(NEWEST))
    assert "When a queue is full, the oldest events are kept" in "\n".join(read(OLDEST))
    assert "drops all but the last event, separately for each room" in read(latest_per("room"))[1]
