"""What is always true (DESIGN.md), each on a run that is made for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from heliograph.client.config import ClientConfig
from heliograph.event.block import Block
from heliograph.lane.lane import Lane
from heliograph.policy.limits import Limits
from heliograph.policy.model import Policy
from heliograph.sim.application import Receiver
from heliograph.sim.checkers import check_bounds, check_isolation, check_one_meaning
from heliograph.sim.faults import Freeze, HalfOpen, Stall
from heliograph.sim.ledger import BreachError
from heliograph.sim.quality import FAST, QUALITIES
from heliograph.sim.repairs import attach
from heliograph.sim.samples import POLICIES, SCHEMA
from heliograph.sim.story import MILLISECOND, SECOND
from sim.wards import Ward

if TYPE_CHECKING:
    from heliograph.lane.entry import Entry

ENTRIES = 32


def neighbours(ward: Ward, count: int, slow: int) -> None:
    """Add receivers on links of their own, of which some are slow, dead or stalled."""
    for number in range(count):
        name = f"n{number}"
        client = ward.topology.add_client(
            ClientConfig(name=name, inbox_entries=64), QUALITIES["thin"] if number < slow else FAST
        )
        client.application.receivers.append(Receiver("pulse", "newest"))
        client.start()
    ward.run(1)
    for number in range(slow):
        fault = (
            Freeze(f"n{number}", 10**18),
            HalfOpen(f"n{number}"),
            Stall(f"n{number}", 0, 10**18),
        )[number % 3]
        fault.strike(ward.topology)


def healthy(slow: int, count: int = 6, burst: int = 4) -> tuple[int, int]:
    """Return how many events a healthy nurse got, and the greatest age of one, in microseconds."""
    ward = Ward("newest", lane_entries=ENTRIES)
    neighbours(ward, count, slow)
    ward.sender.burst, ward.sender.interval = burst, burst * MILLISECOND
    ward.publish(3_000)
    ward.run(8)
    check_bounds(ward.topology)
    check_isolation([ward.ledger], SECOND)
    return ward.ledger.events, max(ward.ledger.ages)


def test_slow_and_dead_receivers_take_nothing_from_a_healthy_one() -> None:
    alone, beside = healthy(0), healthy(6)
    assert alone[0] == beside[0] == 3_000
    assert beside[1] <= 2 * alone[1]


def test_two_hundred_receivers_of_which_fifty_are_dead_slow() -> None:
    assert healthy(50, 200, burst=30)[0] == 3_000


def test_isolation_speaks_when_a_receiver_is_slow() -> None:
    ward = Ward("newest", QUALITIES["thin"], lane_entries=ENTRIES)
    ward.sender.interval = MILLISECOND
    ward.publish(3_000)
    ward.run(10)
    with pytest.raises(BreachError, match="isolation"):
        check_isolation([ward.ledger], SECOND)


@pytest.mark.parametrize("name", ["none", "newest", "oldest", "pulse", "halves", "chance", "runs"])
def test_a_lane_alone_means_what_pack_means(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ward = Ward(name, lane_entries=ENTRIES, session_seconds=100.0)
    ward.ledger.entries = []
    assert ward.nurse.core is not None
    ward.nurse.core.detach(ward.world.now)
    ward.nurse.settle()
    ward.run(1)
    arrivals: list[tuple[int, Block]] = []
    offer = Lane.offer

    def noted(lane: Lane, entry: Entry, now: int) -> None:
        if lane.limits.entries == ENTRIES and isinstance(entry.item, Block):
            arrivals.append((now, entry.item))
        offer(lane, entry, now)

    monkeypatch.setattr(Lane, "offer", noted)
    ward.publish(500)
    ward.run(8)
    attach(ward.topology, "nurse")
    ward.run(5)
    limits = Limits(ENTRIES, ward.topology.planet.config.lane_bytes)
    policy = POLICIES[name] or Policy()
    assert len(arrivals) == 500
    check_one_meaning(ward.ledger.entries, arrivals, policy, SCHEMA, limits)
    assert ward.ledger.dropped > 100
    ward.check()


def test_memory_stays_within_its_bounds_under_overload() -> None:
    ward = Ward("pulse", QUALITIES["thin"], lane_entries=64, lane_bytes=8_192, buffer_bytes=8_192)
    neighbours(ward, 6, 6)
    ward.sender.burst, ward.sender.interval = 50, 20 * MILLISECOND
    ward.publish(20_000)
    for _ in range(20):
        ward.run(0.5)
        check_bounds(ward.topology)
