from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from heliograph.experiments.transit import SECOND, PackWatch, TooShortError, Transit, mean_of


def transit() -> Transit:
    """Return 100 s of an event a second, every fourth lost, packed each ten seconds."""
    published = [at * SECOND for at in range(100)]
    found = Transit("queue", 1, published)
    found.events = [
        (at + SECOND, at, number) for number, at in enumerate(published, 1) if number % 4
    ]
    found.packs = [(at * SECOND, 2, 0.25) for at in range(10, 100, 10)]
    found.received = [(at * SECOND, at * 100) for at in range(101)]
    found.under_way = [(at * SECOND, at) for at in range(101)]
    found.digests = [(at * SECOND, 25) for at in range(0, 100, 10)]
    found.bulk = 1_000.0
    return found


def test_what_is_measured_reaches_from_pack_to_pack_once_all_is_steady() -> None:
    found = transit()
    found.settle()
    assert (found.begin, found.end) == (60 * SECOND, 90 * SECOND)
    assert found.seconds == 30


def test_a_run_without_enough_packs_is_refused() -> None:
    found = transit()
    found.packs = found.packs[:6]
    with pytest.raises(TooShortError, match="more --seconds"):
        found.settle()
    found.packs = []
    with pytest.raises(TooShortError, match="0 times"):
        found.settle()


def test_the_measures() -> None:
    found = transit()
    found.settle()
    assert found.offered == 250 * 8
    assert found.goodput == pytest.approx(800)
    assert found.share == pytest.approx(0.8)
    assert found.loss == pytest.approx(0.25, abs=0.04)
    assert found.least_loss == pytest.approx(0.5)
    assert found.excess == found.loss - found.least_loss
    assert found.told == pytest.approx(2.5 / 250)
    assert found.latency == 1
    assert found.beyond == np.mean(range(60, 90))
    assert found.beyond_most == 89
    assert found.levels() == {2: 3}
    assert found.parts(2) == [0.25] * 3
    assert found.parts(3) == []
    assert mean_of([found, found], "latency") == 1


def test_losses_are_those_of_each_second() -> None:
    seconds, losses = transit().losses()
    assert seconds == list(range(100))
    assert losses == [number % 4 == 0 for number in range(1, 101)]


def test_a_watch_notes_each_pack_once_with_the_part_that_it_took() -> None:
    packs: list[tuple[int, int, float]] = []
    watch = PackWatch(packs)
    lane = SimpleNamespace(packs=0, dropped={}, held_entries=10, level=1)
    watch.look(cast("Any", lane), 1)
    lane.packs, lane.dropped, lane.level = 1, {"levels": 30}, 2
    watch.look(cast("Any", lane), 2)
    watch.look(cast("Any", lane), 3)
    assert packs == [(2, 2, 0.75)]
