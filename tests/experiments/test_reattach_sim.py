"""PACK's Figure 9, simulated: who comes back gets what waited, all of it, once, and soon."""

from __future__ import annotations

from heliograph.experiments.reattach_sim import TURNS, simulate


def test_nothing_is_lost_or_doubled_by_coming_and_going() -> None:
    found = simulate(4, 1.0, 1)
    assert (found.lost, found.doubled) == (0, 0)
    assert [len(one) for one in found.delays] == [TURNS] * 4


def test_what_waited_comes_within_a_second() -> None:
    assert max(one for each in simulate(3, 1.0, 2).delays for one in each) < 1


def test_one_seed_gives_one_run() -> None:
    assert simulate(2, 1.0, 3) == simulate(2, 1.0, 3)
