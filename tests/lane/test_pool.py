from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from heliograph.event.block import Block
from heliograph.event.event import Position
from heliograph.lane.entry import Entry
from heliograph.lane.pool import Pool
from heliograph.lane.squeeze import fold_lane, pack_lane
from heliograph.policy import build
from heliograph.policy.limits import Limits
from lane.lanes import SCHEMA, check_lane, digest, events, lane_of, offer

if TYPE_CHECKING:
    from heliograph.lane.lane import Lane


def test_a_pool_begins_empty() -> None:
    assert Pool().bytes == 0


def test_a_lane_that_shares_no_pool_has_its_own() -> None:
    one, other = lane_of(), lane_of()
    offer(one, events(1, 3))
    assert one.pool.bytes == one.held_bytes > 0
    assert other.pool.bytes == 0


class Lanes:
    """Two lanes that share a pool, and what may be done to one of them."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.pool = Pool()
        policies = [build.policy(None, build.every(2)), build.policy("a", always=build.ge(5))]
        self.lanes = [lane_of(one, Limits(12, 2_000), pool=self.pool) for one in policies]
        self.number = 0

    def events(self, lane: Lane) -> None:
        first, self.number = self.number + 1, self.number + self.random.randint(1, 30)
        offer(lane, events(first, self.number))

    def digest(self, lane: Lane) -> None:
        self.number += 2
        offer(lane, digest(self.number - 2, self.number, 2))

    def mark(self, lane: Lane) -> None:
        lane.mark(1, self.number)

    def split(self, lane: Lane) -> None:
        entry = lane.head()
        if entry is not None and isinstance(entry.item, Block) and entry.count > 1:
            lane.split_head(*map(Entry, entry.item.split(1, SCHEMA)))

    def pack(self, lane: Lane) -> None:
        pack_lane(lane, 0)

    def silence(self, lane: Lane) -> None:
        lane.owed.settle(lane)

    def step(self) -> None:
        takes = [lambda lane: lane.take(), lambda lane: lane.head(), fold_lane]
        does = [self.events, self.digest, self.mark, self.split, self.pack, self.silence, *takes]
        self.random.choice(does)(self.random.choice(self.lanes))


@pytest.mark.parametrize("seed", range(20))
def test_a_pool_counts_what_all_lanes_hold_whatever_is_done_to_them(seed: int) -> None:
    run = Lanes(seed)
    for _ in range(200):
        run.step()
        for lane in run.lanes:
            check_lane(lane)
        assert run.pool.bytes == sum(lane.held_bytes for lane in run.lanes)
    run.lanes[0].discard()
    run.lanes[1].restart([Entry(events(1, 4))], Position(1, 0))
    assert run.pool.bytes == sum(lane.held_bytes for lane in run.lanes) > 0
