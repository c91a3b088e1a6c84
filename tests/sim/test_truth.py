from __future__ import annotations

from heliograph.sim.truth import Truth


def test_epochs_begin_behind_each_other() -> None:
    truth = Truth()
    first = truth.begin("pulse", 1)
    first.times += [1, 2, 3]
    second = truth.begin("pulse", 1)
    assert (first.epoch, second.epoch) == (1, 2)
    assert (first.last, first.over, second.over) == (3, True, False)
    assert (first.due, second.due) == (0, 0)
    assert truth.newest("pulse") is second
    assert truth.epoch("pulse", 1) is first
    assert truth.epoch("pulse", 3) is None
    assert truth.begin("pulse", 700).epoch == 700
    assert truth.ordinal("pulse", 700) == 3
    assert truth.newest("pulse") is truth.epoch("pulse", 700)
    assert truth.newest("warmth") is None


def test_a_planet_that_crashes_takes_the_tails_of_senders_that_are_gone() -> None:
    truth = Truth()
    truth.begin("pulse", 1).owed = 5
    truth.begin("pulse", 1)
    truth.lose_planet()
    first = truth.epoch("pulse", 1)
    assert first is not None
    assert (first.owed, truth.losses) == (0, 1)
