from __future__ import annotations

import pytest

from heliograph.policy.binding import bind
from heliograph.policy.model import Policy
from heliograph.sim.samples import POLICIES, SCHEMA, values_of


def test_an_event_follows_from_its_position() -> None:
    assert values_of("pulse", 1, 7) == values_of("pulse", 1, 7)
    assert values_of("pulse", 1, 7) != values_of("pulse", 1, 8)
    assert values_of("pulse", 1, 7) != values_of("pulse", 2, 7)


def test_the_events_have_something_for_every_policy() -> None:
    values = [values_of("pulse", 1, number) for number in range(1, 400)]
    for event in values:
        SCHEMA.row(event)
    assert 5 < sum(event["alarm"] for event in values) < 100
    assert len({event["ward"] for event in values}) == 4
    assert any("warmth" not in event for event in values)


@pytest.mark.parametrize("name", list(POLICIES))
def test_a_policy_suits_the_events(name: str) -> None:
    assert bind(POLICIES[name] or Policy(), SCHEMA)
