from __future__ import annotations

import pytest

from heliograph.event.convert import blocks_of
from heliograph.event.event import Event
from heliograph.experiments.load import (
    EVENT_BYTES,
    SCHEMA,
    capacity,
    levels,
    padding,
    tail,
    values,
)
from heliograph.lane.entry import Entry
from heliograph.wire.forms import entry_frame


def entry(sent: int) -> Entry:
    event = Event("load", 1, 1, 1_000_000, values(sent, padding()))
    (block,) = blocks_of([event], SCHEMA)
    return Entry(block)


@pytest.mark.parametrize("sent", [2**40, 2**50, 2**62])
def test_an_event_is_as_long_on_the_wire_as_the_papers(sent: int) -> None:
    one = entry(sent)
    assert isinstance(one.item.time, int)  # type: ignore[union-attr]
    assert abs(len(entry_frame(one, 1, 1_000_000)) - EVENT_BYTES) <= 4


def test_a_capacity_holds_as_many_events_as_it_says() -> None:
    assert 127 <= capacity(128) // entry(2**62).size <= 129


def test_the_levels_are_those_of_the_paper() -> None:
    found = levels("run", seed=3)
    fractions = [one.filters[0]["fraction"] for one in found.levels]
    assert fractions == [0.10, 0.25, 0.50]
    assert found.each == "run"
    assert levels(seed=1).identity != levels(seed=2).identity


def test_no_two_receivers_drop_alike_from_the_tail() -> None:
    found = [tail(128, receiver) for receiver in range(16)]
    assert len({one.identity for one in found}) == 16
    windows = [one.filters[0]["window"] for one in found[0].levels]
    assert windows == [115, 86, 43]
