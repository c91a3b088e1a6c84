"""Each checker speaks when what it looks at is broken, and is silent when it is not."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from heliograph.event.digest import Digest
from heliograph.planet.config import PlanetConfig
from heliograph.policy.limits import Limits
from heliograph.policy.model import Policy
from heliograph.sim.checkers import (
    check_determinism,
    check_isolation,
    check_one_meaning,
    check_status,
    replay,
)
from heliograph.sim.ledger import BreachError
from heliograph.sim.samples import POLICIES, SCHEMA
from heliograph.sim.story import MILLISECOND, SECOND
from sim.books import Entries, digest, enter, events, published

LANE = {
    "stream": "pulse", "name": "nurse", "entries": 64, "capacity_entries": 64, "bytes": 9_000,
    "capacity_bytes": 10_000,
}  # fmt: skip
CLIENT = {"name": "nurse", "senders": 1, "receivers": 2, "under_way": 4_096}
STATUS: dict[str, Any] = {
    "lanes": [LANE], "clients": [CLIENT], "streams": [{}], "connections": 1,
    "buffer": {"bytes": 9_000, "capacity": 10**6},
}  # fmt: skip


def test_a_planet_within_its_limits_is_in_order() -> None:
    check_status(STATUS, PlanetConfig())


@pytest.mark.parametrize(
    "change",
    [
        {"lanes": [LANE | {"entries": 90}]},
        {"lanes": [LANE | {"bytes": 20_000}]},
        {"buffer": {"bytes": 10**6 + 1, "capacity": 10**6}},
        {"connections": 10_002},
        {"clients": [CLIENT | {"receivers": 1_001}]},
        {"clients": [CLIENT | {"under_way": 2 * 2**20}]},
    ],
    ids=str,
)
def test_what_is_larger_than_its_limit_is_told(change: dict[str, Any]) -> None:
    with pytest.raises(BreachError, match=r"bounds: .* of at most"):
        check_status(STATUS | change, PlanetConfig())


def test_a_healthy_receiver_loses_nothing_and_waits_little() -> None:
    ledger = enter([events(1, 12)], published(12))
    ledger.ages = [1_000, 900_000]
    check_isolation([ledger], SECOND)
    with pytest.raises(BreachError, match=r"isolation.*0.900 s old"):
        check_isolation([ledger], 500 * MILLISECOND)
    lossy = enter([digest(0, 3, 3), events(4, 12)], published(12))
    with pytest.raises(BreachError, match=r"isolation.*3 of pulse dropped"):
        check_isolation([lossy], SECOND)


def test_a_run_that_differs_from_itself_is_told() -> None:
    runs = count()
    assert check_determinism(lambda: "same") == "same"
    with pytest.raises(BreachError, match="determinism"):
        check_determinism(lambda: str(next(runs)))


@pytest.mark.parametrize("policy", ["none", "newest", "pulse", "halves", "chance", "runs"])
def test_a_replayed_lane_is_within_its_limits_and_whole(policy: str) -> None:
    limits = Limits(32)
    arrivals = [(number * MILLISECOND, events(number, number)) for number in range(1, 300)]
    entries = replay(arrivals, POLICIES[policy] or Policy(), SCHEMA, limits)
    assert sum(1 if isinstance(one, Digest) else one.count for one in entries) <= 32
    ledger = enter(entries, published(299))
    ledger.check_all_came()
    assert ledger.dropped


def test_a_lane_that_holds_something_else_than_pack_makes_is_told() -> None:
    limits, policy = Limits(32), POLICIES["pulse"]
    assert policy is not None
    arrivals = [(number * MILLISECOND, events(number, number)) for number in range(1, 200)]
    entries: Entries = replay(arrivals, policy, SCHEMA, limits)
    check_one_meaning(entries, arrivals, policy, SCHEMA, limits)
    with pytest.raises(BreachError, match="one meaning"):
        check_one_meaning(entries[:-1], arrivals, policy, SCHEMA, limits)
    with pytest.raises(BreachError, match="one meaning"):
        check_one_meaning(entries, arrivals, policy, SCHEMA, Limits(40))
