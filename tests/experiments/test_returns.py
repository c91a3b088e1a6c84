from __future__ import annotations

import pytest

from heliograph.experiments.returns import Returns

MS = 1_000_000


def test_a_delay_lasts_from_the_attach_to_the_first_event_behind_it() -> None:
    found = Returns(1, 4)
    events = [(1 * MS, 0, 1), (12 * MS, 2, 2), (12 * MS, 3, 3), (25 * MS, 4, 4)]
    found.enter([10 * MS, 20 * MS], events)
    assert found.delays == [[pytest.approx(0.002), pytest.approx(0.005)]]
    assert (found.lost, found.doubled) == (0, 0)


def test_what_was_lost_or_doubled_is_counted() -> None:
    found = Returns(1, 5)
    found.enter([], [(1, 0, 1), (2, 0, 3), (3, 0, 3), (4, 0, 2)])
    assert (found.lost, found.doubled) == (2, 2)


def test_a_return_without_an_event_has_no_delay() -> None:
    found = Returns(1, 1)
    found.enter([10], [(1, 0, 1)])
    assert found.delays == [[]]
