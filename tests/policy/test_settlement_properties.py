from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from heliograph.event.block import Block
from heliograph.event.digest import Digest
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.policy.binding import bind
from heliograph.policy.merge import merge
from policy.compare import check_digest_says, one_by_one
from policy.hosts import Host, check_received
from policy.strategies_policy import (
    block,
    digest,
    digesters,
    documents,
    events_of,
    kinds_of,
    lanes,
    policy_of,
    pools,
    streams,
)
from policy.twin import One, Told


def run_along_a_path(data: st.DataObject) -> None:
    """Send a stream over some hosts, of which each packs now and then, with its own policy."""
    kinds = data.draw(kinds_of(plain=True))
    pool = data.draw(pools(kinds))
    schema = Schema.declare(kinds)
    start = data.draw(st.sampled_from([0, 50]))
    begin = Position(1, start)
    hosts = [
        Host(bind(policy_of(data.draw(documents(kinds, pool))), schema), [], begin, begin)
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    everything: list[One] = []
    for epoch in range(1, data.draw(st.integers(1, 2)) + 1):
        first = start + 1 if epoch == 1 else 1
        everything += data.draw(events_of(pool, epoch=epoch, first=first, min_size=4, max_size=24))
    received: list[Block | Digest] = []
    waiting = list(everything)
    while waiting:
        count = data.draw(st.integers(1, 8))
        run = [one for one in waiting[:count] if one.epoch == waiting[0].epoch]
        waiting = waiting[len(run) :]
        hosts[0].take(block(run, schema, columns=data.draw(st.booleans())))
        for _ in range(data.draw(st.integers(0, 4))):
            place = data.draw(st.integers(0, len(hosts) - 1))
            act(data, hosts, place, received)
    for place in range(len(hosts)):
        forward(hosts, place, 1_000, received)
        assert not hosts[place].pending
    counted = check_received(received, start)
    assert sum(counted) == len(everything)
    sent = one_by_one([block([one], schema) for one in everything], schema)
    found = one_by_one([entry for entry in received if isinstance(entry, Block)], schema)
    assert [text for text in sent if text in found] == found
    event(f"{len(hosts)} hosts, waited: {any(host.waited for host in hosts)}")


def act(data: st.DataObject, hosts: list[Host], place: int, received: list[Block | Digest]) -> None:
    """Let one host pack or send."""
    host = hosts[place]
    packs: bool = data.draw(st.booleans())
    if host.entries and packs:
        host.pack(data.draw(st.integers(0, host.bound.top + 1)))
    else:
        forward(hosts, place, data.draw(st.integers(1, 6)), received)


def forward(hosts: list[Host], place: int, count: int, received: list[Block | Digest]) -> None:
    for entry in hosts[place].send(count):
        if place + 1 < len(hosts):
            hosts[place + 1].take(entry)
        else:
            received.append(entry)


EAGER: list[dict[str, Any]] = [
    {"name": "EVERY", "n": 2},
    {"name": "EVERY", "n": 3, "action": "drop"},
    {"name": "RANDOM", "fraction": 0.4},
    {"name": "LATEST", "window": 3},
    {"name": "LT", "attribute": "a", "value": 6},
]
NUMBERS = Schema.declare({"a": "int64"})


def eager(random: Random) -> Host:
    """Return a host that drops something whenever it packs."""
    levels: list[dict[str, Any]] = [{"filters": [random.choice(EAGER)]} for _ in range(2)]
    if random.random() < 0.3:
        levels.insert(0, {"always": True, "filters": [EAGER[-1]]})
    summary = {"each": random.choice(["pack", "run"]), "digesters": [{"name": "COUNT"}]}
    return Host(bind(policy_of({"levels": levels, "summary": summary}), NUMBERS))


def run_eagerly(seed: int) -> bool:
    """Send small numbers over hosts that pack much and send little; say whether one had to wait."""
    random = Random(seed)
    hosts = [eager(random) for _ in range(random.randint(2, 4))]
    everything: list[One] = []
    received: list[Block | Digest] = []
    for epoch in range(1, random.randint(1, 3) + 1):
        for number in range(1, random.randint(4, 40) + 1):
            one = One(epoch, number, number, {"a": random.randint(0, 9)})
            everything.append(one)
            hosts[0].take(block([one], NUMBERS))
            for place, host in enumerate(hosts):
                if host.entries and random.random() < 0.25:
                    host.pack(random.choice([0, 1, 1, 1, 2, 2, 3]))
                if random.random() < 0.4:
                    forward(hosts, place, random.randint(1, 2), received)
    for place in range(len(hosts)):
        forward(hosts, place, 1_000, received)
        assert not hosts[place].pending
    assert sum(check_received(received, 0)) == len(everything)
    for entry in received:
        if isinstance(entry, Digest):
            assert entry.part("COUNT") == (None if not entry.parts else entry.parts[0])
            assert sum(part.known for part in entry.parts) == entry.count
    return any(host.waited for host in hosts)


def test_what_is_dropped_before_the_digest_of_an_earlier_host_arrives_waits_for_it() -> None:
    waited = sum(run_eagerly(seed) for seed in range(150))
    assert waited > 40


@pytest.mark.slow
def test_what_is_dropped_waits_for_the_digest_over_a_long_campaign() -> None:
    assert sum(run_eagerly(seed) for seed in range(5_000)) > 1_200


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_every_number_is_delivered_or_counted_along_any_path(data: st.DataObject) -> None:
    run_along_a_path(data)


@pytest.mark.slow
@settings(deadline=None, max_examples=5_000)
@given(st.data())
def test_every_number_is_delivered_or_counted_over_a_long_campaign(data: st.DataObject) -> None:
    run_along_a_path(data)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_digests_of_one_dropped_set_merge_alike_in_any_grouping_and_order(
    data: st.DataObject,
) -> None:
    kinds = data.draw(kinds_of())
    pool = data.draw(pools(kinds))
    schema = Schema.declare(kinds)
    dropped = data.draw(events_of(pool, min_size=2, max_size=12))
    document = {"summary": {"digesters": data.draw(digesters(kinds, sketches=True))}}
    bound = bind(policy_of(document), schema)
    for _ in range(2):
        waiting = [
            digest(Told(1, one.number - 1, one.number, (one,)), bound)
            for one in data.draw(st.permutations(dropped))
        ]
        while len(waiting) > 1:
            place = data.draw(st.integers(0, len(waiting) - 2))
            waiting[place : place + 2] = [merge(*waiting[place : place + 2])]
        told = Told(1, 0, len(dropped), tuple(dropped))
        check_digest_says(waiting[0], told, bound.policy, kinds)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_packing_again_and_again_never_changes_what_is_accounted_for(
    data: st.DataObject,
) -> None:
    stream = data.draw(streams(whole=True, min_size=2))
    bound = bind(policy_of(data.draw(documents(stream.kinds, stream.pool))), stream.schema)
    lane = data.draw(lanes(stream, bound))
    host = Host(bound, list(lane.entries), lane.settled, lane.reached)
    start, gone = stream.lane.settled[1], stream.lane.reached[1]
    sent: list[Block | Digest] = []
    if gone > start:  # What was sent before this lane began.
        numbers = range(start + 1, gone + 1)
        sent = [block([One(1, number, 0, {}) for number in numbers], stream.schema)]
    total = check_received([*sent, *host.entries], start)
    for level in data.draw(st.lists(st.integers(0, bound.top + 1), max_size=4)):
        host.pack(level)
        counted = check_received([*sent, *host.entries], start)
        assert sum(counted) == sum(total)
        assert counted[0] <= total[0]
        assert not host.pending
