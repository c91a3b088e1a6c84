"""Receivers behind one thin link: nobody starves, and equal policies cost no more than one."""

from __future__ import annotations

from functools import cache

import pytest

from heliograph.experiments import crowd, namespaces
from heliograph.experiments.crowd import Crowd, policies

REASON = namespaces.unavailable()
needs_namespaces = pytest.mark.skipif(bool(REASON), reason=REASON or "namespaces work here")


@cache
def ran(kind: str, receivers: int) -> Crowd:
    return crowd.simulate(kind, receivers, 90.0, 1)


def test_policies_are_equal_or_not() -> None:
    for kind, count in (("own", 16), ("equal", 1), ("scattered", 16)):
        assert len({one.identity for one in policies(kind, 16, 1)}) == count


def test_equal_policies_cost_no_more_than_one_receiver() -> None:
    one, many = ran("equal", 1), ran("equal", 8)
    assert many.latency == pytest.approx(one.latency, rel=0.02)
    assert many.delivered == pytest.approx(one.delivered, rel=0.02)
    assert many.least == 1


@pytest.mark.parametrize("kind", ["own", "scattered"])
def test_no_receiver_starves(kind: str) -> None:
    one, many = ran("equal", 1), ran(kind, 8)
    assert min(many.came) >= one.came[0] / 8, "an equal part of the link at least"


def test_own_policies_cost_latency() -> None:
    assert ran("own", 8).latency > ran("own", 1).latency


def test_only_the_second_half_counts() -> None:
    published = [at * 1_000_000_000 for at in range(11)]
    events = [[(at + 500_000_000, at, number) for number, at in enumerate(published, 1)], []]
    found = crowd.crowd("own", 1, published, events)
    assert (found.seconds, found.published, found.came) == (5.0, 5, [5, 0])
    assert found.late == [0.5, 0.0]
    assert found.receivers == 2


@needs_namespaces
def test_a_real_crowd_gets_its_events() -> None:
    found = crowd.measure("equal", 3, 2.0, 1)
    assert found.receivers == 3
    assert min(found.came) > 0
