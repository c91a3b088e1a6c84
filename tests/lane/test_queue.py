"""A queue with a clock: what leaves it, when, and what is told of the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heliograph.event.block import Block, block_of
from heliograph.event.digest import Digest, settles
from heliograph.event.errors import UsageError
from heliograph.event.schema import Schema
from heliograph.lane.owed import OWED_MAX
from heliograph.lane.queue import (
    NANOSECONDS,
    BrokerQueue,
    PolicyQueue,
    Rate,
    Server,
)
from heliograph.policy import build
from heliograph.policy.aim import Aim
from heliograph.policy.builtin import NEWEST, OLDEST
from heliograph.policy.ladder import Flow, Ladder
from heliograph.policy.limits import Limits

if TYPE_CHECKING:
    from heliograph.policy.model import Policy

SCHEMA = Schema.declare({"v": "float64"})
SECOND = NANOSECONDS


class Log:
    """Writes down everything that a queue tells."""

    def __init__(self) -> None:
        self.got: list[tuple[int, int, Block | Digest]] = []
        self.dropped_events = 0
        self.levels: list[int] = []
        self.offered = 0

    def arrived(self, now: int) -> None:
        del now
        self.offered += 1

    def delivered(self, now: int, since: int, entry: Block | Digest) -> None:
        self.got.append((now, since, entry))

    def dropped(self, now: int, since: int) -> None:
        assert since <= now
        self.dropped_events += 1

    def packed(self, now: int, level: int, fraction: float) -> None:
        del now
        assert 0 <= fraction <= 1
        self.levels.append(level)

    @property
    def numbers(self) -> list[int]:
        return [entry.first for _, _, entry in self.got if isinstance(entry, Block)]

    @property
    def digests(self) -> list[Digest]:
        return [entry for _, _, entry in self.got if isinstance(entry, Digest)]


def event(number: int, value: float = 0.0, epoch: int = 1) -> Block:
    return block_of("s", epoch, [number], [number * 1_000_000], [[value]], SCHEMA)


def queue(
    policy: Policy, limits: Limits, rate: Rate, control: type = Ladder
) -> tuple[PolicyQueue, Log]:
    log = Log()
    return PolicyQueue(policy, control, limits, Server(rate, log)), log


def test_an_event_leaves_when_it_has_been_served() -> None:
    lane, log = queue(build.policy(), Limits(8), Rate(2))
    lane.offer(0, event(1), SCHEMA)
    lane.offer(0, event(2), SCHEMA)
    lane.drain(None)

    assert [(now, since) for now, since, _ in log.got] == [(SECOND // 2, 0), (SECOND, 0)]


def test_a_server_that_was_idle_begins_when_the_event_comes() -> None:
    lane, log = queue(build.policy(), Limits(8), Rate(1))
    lane.offer(0, event(1), SCHEMA)
    lane.offer(10 * SECOND, event(2), SCHEMA)
    lane.drain(None)

    assert [now for now, _, _ in log.got] == [SECOND, 11 * SECOND]


def test_bits_take_as_long_as_the_event_is_large() -> None:
    one = event(1)

    assert Rate(one.wire_bytes * 8, bits=True).duration(one) == SECOND
    assert Rate(4).duration(one) == SECOND // 4


def test_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="a rate is above 0, not 0"):
        Rate(0)


def test_nothing_is_packed_while_there_is_room() -> None:
    lane, log = queue(build.policy("v", build.within(-1, 1)), Limits(8), Rate(1))
    for number in range(1, 9):
        lane.offer(0, event(number), SCHEMA)
    lane.drain(None)

    assert log.levels == []
    assert log.numbers == list(range(1, 9))


def test_one_more_event_than_fits_is_what_packs() -> None:
    lane, log = queue(build.policy("v", build.within(-1, 1)), Limits(8), Rate(1))
    for number in range(1, 11):
        lane.offer(0, event(number, 5.0 if number == 3 else 0.0), SCHEMA)
    lane.drain(None)

    assert log.levels == [1]
    assert log.numbers == [1, 3, 10]  # The first was being served when the lane filled.
    assert [(digest.after, digest.upto, digest.count) for digest in log.digests] == [(0, 9, 7)]


def test_the_receiver_is_told_while_the_overload_goes_on() -> None:
    # A level that frees less than must be dropped would push a lone digest back for ever.
    lane, log = queue(build.policy(None, build.every(8, action="drop")), Limits(32), Rate(10))
    for number in range(1, 1_001):
        lane.offer(number * SECOND // 14, event(number), SCHEMA)

    assert len(log.levels) > 20
    assert len(log.digests) > 5


def test_what_an_always_level_removed_is_settled_as_filtered() -> None:
    policy = build.policy("v", build.every(2), always=build.gt(0))
    lane, log = queue(policy, Limits(4), Rate(1))
    for number in range(1, 21):
        value = float(number % 2)
        lane.offer(0, event(number, value), SCHEMA)
    lane.drain(None)

    assert sum(digest.filtered for digest in log.digests) == 10
    assert accounted(log, 20)


def test_a_receiver_is_told_of_what_is_filtered_though_nothing_overflows() -> None:
    lane, log = queue(build.policy("v", always=build.gt(0)), Limits(4), Rate(1_000))
    for number in range(1, 2 * OWED_MAX + 10):
        lane.offer(number * SECOND, event(number), SCHEMA)

    assert [digest.filtered for digest in log.digests] == [OWED_MAX, OWED_MAX]


def test_what_was_filtered_is_settled_in_its_own_epoch() -> None:
    lane, log = queue(build.policy("v", always=build.gt(0)), Limits(8), Rate(1))
    for epoch in (1, 2):
        lane.offer(0, event(1, 0.0, epoch), SCHEMA)
        lane.offer(0, event(2, 1.0, epoch), SCHEMA)
    lane.drain(None)

    told = [(one.epoch, one.after, one.upto, one.filtered) for one in log.digests]
    assert told == [(1, 0, 2, 1), (2, 0, 2, 1)]


class Watched(Aim):
    """An Aim that remembers what it was told."""

    flows: ClassVar[list[Flow]] = []

    def choose(self, now: int, flow: Flow) -> int:
        self.flows.append(flow)
        return super().choose(now, flow)


def test_a_controller_is_told_what_came_what_left_and_whether_the_lane_stood_empty() -> None:
    Watched.flows.clear()
    lane, _ = queue(build.policy("v", build.every(2)), Limits(4), Rate(1), Watched)
    for number in range(1, 9):
        lane.offer(0, event(number), SCHEMA)
    for number in range(9, 15):
        lane.offer(1_000 * SECOND, event(number), SCHEMA)

    assert Watched.flows[0] == Flow(5, 1, 4, emptied=True)
    assert [flow.emptied for flow in Watched.flows] == [True, False, False, True]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 3_000), min_size=1, max_size=60), st.sampled_from([512, 1_500, 4_000])
)
def test_a_lane_never_holds_more_bytes_than_it_may(sizes: list[int], most: int) -> None:
    schema = Schema.declare({"text": "string"})
    policy = build.policy(None, build.every(2), summary=[build.digester("DISTINCT", "text")])
    log = Log()
    limits = Limits(None, most)
    lane = PolicyQueue(policy, Ladder, limits, Server(Rate(1), log))
    for number, size in enumerate(sizes, 1):
        one = block_of("s", 1, [number], [0], [["x" * size]], schema)
        lane.offer(0, one, schema)

        assert lane.load.bytes <= most
    lane.drain(None)

    assert accounted(log, len(sizes))


def accounted(log: Log, offered: int) -> bool:
    """Say whether every number came as an event or stands in exactly one digest."""
    after = 0
    for digest in log.digests:
        assert digest.after == after
        inside = sum(digest.after < number <= digest.upto for number in log.numbers)
        assert settles(inside, digest)
        after = digest.upto
    tail = [number for number in log.numbers if number > after]
    return tail == list(range(after + 1, offered + 1))


policies = st.sampled_from(
    [
        build.policy(),
        NEWEST,
        OLDEST,
        build.policy(None, build.random(0.1), build.random(0.25), build.random(0.5)),
        build.policy("v", build.delta(1), build.within(-1, 1), build.latest(3)),
        build.policy("v", build.uniq(), build.every(2), each="run"),
        build.policy("v", build.guniq(), always=build.gt(-1)),
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    policies,
    st.sampled_from([Ladder, Aim]),
    st.sampled_from([Limits(2), Limits(5), Limits(16), Limits(None, 4_000), Limits(12, 3_000)]),
    st.lists(st.tuples(st.integers(0, 300), st.integers(-2, 2)), max_size=120),
)
def test_every_event_is_delivered_or_counted_and_in_order(
    policy: Policy, control: type, limits: Limits, steps: list[tuple[int, int]]
) -> None:
    lane, log = queue(policy, limits, Rate(10), control)
    now = 0
    for number, (wait, value) in enumerate(steps, 1):
        now += wait * 1_000_000
        lane.offer(now, event(number, float(value)), SCHEMA)
    lane.drain(None)

    assert log.numbers == sorted(set(log.numbers))
    assert accounted(log, len(steps))
    told = sum(digest.count for digest in log.digests)
    assert told == log.dropped_events
    assert all(since < when for when, since, _ in log.got)
    assert [when for when, _, _ in log.got] == sorted(when for when, _, _ in log.got)


def broker(*, newest: bool) -> list[int]:
    log = Log()
    lane = BrokerQueue(Limits(4), Server(Rate(1), log), newest=newest)
    for number in range(1, 11):
        lane.offer(0, event(number), SCHEMA)
    lane.drain(None)
    assert log.dropped_events + len(log.numbers) == log.offered == 10
    return log.numbers


def test_brokers_keep_the_newest_or_the_oldest_one_by_one() -> None:
    assert broker(newest=True) == [1, 7, 8, 9, 10]
    assert broker(newest=False) == [1, 2, 3, 4, 5]
