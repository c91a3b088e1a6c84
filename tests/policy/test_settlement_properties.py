from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from heliograph.event.block import Block
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.policy.binding import bind
from heliograph.policy.settlement import merge
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

if TYPE_CHECKING:
    from heliograph.event.digest import Digest


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
