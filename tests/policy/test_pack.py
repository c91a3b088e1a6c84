from __future__ import annotations

from typing import Any

import pytest

from heliograph.event.block import Block
from heliograph.event.digest import Digest
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.policy.digesters import result
from heliograph.policy.limits import Limits, Load
from heliograph.policy.pack import Held, load_of, pack, pack_to_fit
from policy.runs import bound, events
from policy.strategies_policy import block

SCHEMA = Schema.declare({"a": "int64"})
UNIQ = {"name": "UNIQ", "attribute": "a"}
SKETCHES = {"digesters": [{"name": "QUANTILES", "attribute": "a"}]}


def lane(*values: Any, first: int = 1) -> Held:
    return Held([block(events(*values, first=first), SCHEMA)])


def shown(entries: list[Block | Digest]) -> list[str]:
    """Write entries down shortly: numbers of events, and what digests settle."""
    found = []
    for one in entries:
        if isinstance(one, Block):
            found += [str(number) for number in one.numbers().tolist()]
        else:
            filtered = f"+{one.filtered}" if one.filtered else ""
            found.append(f"({one.after},{one.upto}]{one.count}{filtered}")
    return found


def packed(levels: list[Any], level: int, entries: Held, **fields: Any) -> list[str]:
    return shown(pack(entries, bound(*levels, schema=SCHEMA, **fields), level).entries)


def test_levels_run_in_their_order_up_to_the_level() -> None:
    levels = [UNIQ, {"name": "EVERY", "n": 2}, {"name": "LATEST", "window": 1}]
    values = (1, 1, 2, 2, 3, 3, 4)
    assert packed(levels, 0, lane(*values)) == list("1234567")
    assert packed(levels, 1, lane(*values)) == ["1", "3", "5", "7", "(0,7]3"]
    assert packed(levels, 2, lane(*values)) == ["1", "5", "(0,7]5"]
    assert packed(levels, 3, lane(*values)) == ["5", "(0,7]6"]
    assert packed(levels, 4, lane(*values)) == ["(0,7]7"]
    assert packed(levels, 99, lane(*values)) == ["(0,7]7"]


def test_each_run_gives_a_digest_for_each_run_of_dropped_events() -> None:
    run = {"summary": {"each": "run"}}
    found = packed([{"name": "EVERY", "n": 2}], 1, lane(*range(6)), **run)
    assert found == ["1", "(0,2]1", "3", "(2,4]1", "5", "(4,6]1"]
    pieces: list[Block | Digest] = [
        block(events(1, 2), SCHEMA),
        Digest("s", 1, 0, 4, 2),
        block(events(3, first=5), SCHEMA),
    ]
    assert packed([UNIQ], 1, Held(pieces), **run) == ["1", "2", "(0,4]2", "5"]
    assert packed([{"name": "LATEST", "window": 1}], 1, Held(pieces), **run) == ["(0,4]4", "5"]


def test_an_always_level_filters_at_every_level_and_does_not_drop() -> None:
    levels = [[{"name": "GT", "attribute": "a", "value": 2}]]
    always = [{"always": True, "filters": levels[0]}, {"filters": [UNIQ]}]
    one = bound(schema=SCHEMA, levels=always)
    for level, wanted in ((0, ["2", "3", "(0,4]0+2"]), (1, ["2", "(0,4]1+2"]), (2, ["(0,4]2+2"])):
        assert shown(pack(lane(1, 5, 5, 1), one, level).entries) == wanted


def test_digests_are_transparent_to_filters() -> None:
    between = Digest("s", 1, 0, 2, 1)
    entries: list[Block | Digest] = [
        block(events(7), SCHEMA),
        between,
        block(events(7, first=3), SCHEMA),
    ]
    assert packed([UNIQ], 1, Held(entries)) == ["1", "(0,2]1", "(2,3]1"]
    assert packed([UNIQ], 1, Held(entries), summary={"each": "run"}) == ["1", "(0,3]2"]


def test_the_worst_case_is_one_digest_for_each_epoch() -> None:
    entries: list[Block | Digest] = [
        block(events(1, 2), SCHEMA),
        Digest("s", 1, 0, 5, 3),
        block(events(1, 2, 3, epoch=2), SCHEMA),
    ]
    found = pack(Held(entries), bound(schema=SCHEMA), 1)
    assert [one.epoch for one in found.entries] == [1, 2]
    assert shown(found.entries) == ["(0,5]5", "(0,3]3"]
    assert found.level == 1


def test_a_lane_begins_where_the_subscription_did() -> None:
    entries = [block(events(1, 1, first=41), SCHEMA)]
    assert packed([UNIQ], 1, Held(entries, Position(1, 40))) == ["41", "(40,42]1"]


def test_what_was_sent_on_behind_the_last_digest_is_no_gap() -> None:
    entries = [block(events(1, 1, first=41), SCHEMA)]
    behind = Held(entries, Position(1, 30), (), Position(1, 40))
    assert packed([UNIQ], 1, behind) == ["41", "(30,42]1"]
    found = pack(Held(entries, Position(1, 30)), bound(UNIQ, schema=SCHEMA), 1)
    assert shown(found.entries) == ["41"]
    assert [one.count for one in found.pending] == [1]


def test_an_empty_lane_packs_to_nothing() -> None:
    one = bound(UNIQ, schema=SCHEMA)
    for level in (0, 1, 2):
        assert pack(Held([]), one, level).entries == []
    assert pack_to_fit(Held([]), one, 1, Limits(4)).entries == []


@pytest.mark.parametrize(
    ("one", "values", "halves", "whole"),
    [
        ({"name": "LATEST", "window": 1}, (1, 2, 3, 4), ["2", "4"], ["4"]),
        ({"name": "EVERY", "n": 3}, (1, 2, 3, 4), ["1", "3"], ["1", "4"]),
        (UNIQ, (1, 2, 2, 1), ["1", "2", "3", "4"], ["1", "2", "4"]),
    ],
    ids=["LATEST", "EVERY", "UNIQ"],
)
def test_packing_in_two_halves_is_not_packing_once(
    one: dict[str, Any], values: tuple[int, ...], halves: list[str], whole: list[str]
) -> None:
    first, last = lane(*values[:2]), lane(*values[2:], first=3)
    found = [*packed([one], 1, first), *packed([one], 1, last)]
    assert [text for text in found if "(" not in text] == halves
    assert [text for text in packed([one], 1, lane(*values)) if "(" not in text] == whole


def test_packing_again_is_not_packing_once() -> None:
    one = bound({"name": "EVERY", "n": 2}, schema=SCHEMA)
    found = pack(lane(*range(8)), one, 1)
    assert shown(found.entries) == ["1", "3", "5", "7", "(0,8]4"]
    assert shown(pack(Held(found.entries), one, 1).entries) == ["1", "5", "(0,8]6"]


def test_escalation_returns_the_lowest_level_that_frees_enough() -> None:
    levels = [
        {"name": "GT", "attribute": "a", "value": 0},
        {"name": "GT", "attribute": "a", "value": 1},
        {"name": "GT", "attribute": "a", "value": 16},
    ]
    one = bound(*levels, schema=SCHEMA)
    whole = lane(*range(1, 33))
    found = pack_to_fit(whole, one, 1, Limits(32))
    assert found.level == 3
    assert load_of(found.entries).entries == 17
    assert pack_to_fit(whole, one, 1, Limits(32, least=0.9)).level == 4
    assert pack_to_fit(lane(*range(32)), one, 1, Limits(32, least=1 / 32)).level == 2


def test_a_goal_is_reached_by_the_lowest_level_that_does_or_by_the_one_that_frees_most() -> None:
    levels = [{"name": "LATEST", "window": window} for window in (28, 20, 8)]
    one = bound(*levels, schema=SCHEMA)
    found = {
        goal: pack_to_fit(lane(*range(32)), one, 1, Limits(32), goal=goal).level
        for goal in (0.0, 0.3, 0.7, 0.9)
    }
    assert found == {0.0: 1, 0.3: 2, 0.7: 3, 0.9: 3}


def test_a_pack_makes_room_for_the_entry_that_is_coming() -> None:
    texts = Schema.declare({"a": "string"})
    levels = [{"name": "LATEST", "window": window} for window in (3, 1)]
    whole = Held([block([event], texts) for event in events(*["x" * 500] * 4)])
    size = whole.load().bytes
    one = bound(*levels, schema=texts)
    assert pack_to_fit(whole, one, 1, Limits(None, size), coming=1).level == 1
    assert pack_to_fit(whole, one, 1, Limits(None, size), coming=size // 2).level == 2


def test_a_lane_full_of_bytes_must_free_bytes() -> None:
    texts = Schema.declare({"a": "string"})
    found = [*events("x" * 1_000, "y"), *events("z", first=3)]
    one = bound(
        {"name": "MATCH", "attribute": "a", "pattern": "y|z"},
        {"name": "MATCH", "attribute": "a", "pattern": "x"},
        schema=texts,
    )
    whole = Held([block([event], texts) for event in found])
    limits = Limits(None, whole.load().bytes, least=0.4)
    assert pack_to_fit(whole, one, 1, limits).level == 2


def test_sketches_that_are_too_large_for_a_lane_give_way_to_the_counts() -> None:
    one = bound(UNIQ, schema=SCHEMA, summary=SKETCHES)
    whole = lane(*range(80))
    size = whole.load().bytes
    (digest,) = pack_to_fit(whole, one, 1, Limits(None, size, least=0.5)).entries
    assert isinstance(digest, Digest)
    assert (digest.count, digest.parts) == (80, ())
    assert (digest.first_time, digest.last_time) == (1_000_000, 80_000_000)


def test_newest_and_oldest_keep_what_fits() -> None:
    for rest, wanted in (("newest", list("45678")), ("oldest", list("12345"))):
        one = bound(schema=SCHEMA, rest=rest)
        found = pack_to_fit(lane(*range(8)), one, 1, Limits(8, least=1 / 4)).entries
        assert [text for text in shown(found) if "(" not in text] == wanted
        assert load_of(found).entries == 6
        (digest,) = (entry for entry in found if isinstance(entry, Digest))
        assert digest.count == 3


def test_the_load_counts_events_and_digests_and_their_bytes() -> None:
    digest = Digest("s", 1, 0, 5, 3)
    one = block(events(1, 2), SCHEMA)
    assert load_of([one, digest]) == Load(3, one.size + digest.size)


def test_a_digest_says_what_the_policy_asks_of_the_dropped() -> None:
    summary = {"digesters": [{"name": "MEAN", "attribute": "a"}, {"name": "COUNT"}]}
    one = bound({"name": "LATEST", "window": 1}, schema=SCHEMA, summary=summary)
    _, digest = pack(lane(1, None, 3, 9), one, 1).entries
    assert isinstance(digest, Digest)
    assert [result(part) for part in digest.parts] == [2, 3]
    assert (digest.first_time, digest.last_time) == (1_000_000, 3_000_000)


def test_random_drops_others_in_the_next_pack() -> None:
    one = bound({"name": "RANDOM", "fraction": 0.5}, schema=SCHEMA)
    whole = lane(*range(64))
    kept = [shown(pack(whole, one, 1, ordinal=ordinal).entries) for ordinal in (0, 0, 1)]
    assert kept[0] == kept[1] != kept[2]


def test_a_kept_row_does_not_pin_the_block_that_it_came_in() -> None:
    texts = Schema.declare({"a": "string"})
    for columns in (False, True):
        whole = block(events(*("x" * 1_000 for _ in range(300))), texts, columns=columns)
        found = pack(Held([whole]), bound({"name": "LATEST", "window": 1}, schema=texts), 1)
        (one,) = (entry for entry in found.entries if isinstance(entry, Block))
        assert len(one.body) < 2_000
