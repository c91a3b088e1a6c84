from __future__ import annotations

from heliograph.sim.truth import Truth


def test_epochs_begin_behind_each_other() -> None:
    truth = Truth()
    first = truth.begin("pulse")
    first.times += [1, 2, 3]
    second = truth.begin("pulse")
    assert (first.epoch, second.epoch) == (1, 2)
    assert (first.last, first.over, second.over) == (3, True, False)
    assert truth.newest("pulse") is second
    assert truth.epoch("pulse", 1) is first
    assert truth.epoch("pulse", 3) is None
    assert truth.newest("warmth") is None


def test_a_planet_that_crashes_takes_the_tails_of_senders_that_are_gone() -> None:
    truth = Truth()
    truth.begin("pulse").owed = 5
    truth.begin("pulse")
    truth.lose_planet()
    first = truth.epoch("pulse", 1)
    assert first is not None
    assert (first.owed, truth.losses) == (0, 1)
