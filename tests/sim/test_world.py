from __future__ import annotations

import pytest

from heliograph.sim.story import SECOND
from heliograph.sim.world import STEPS_AT_ONCE_MAX, SimulationError, World


def test_time_jumps_to_what_is_next_and_to_the_end_of_the_run() -> None:
    world = World(1)
    seen: list[tuple[str, int]] = []
    world.after(5, lambda: seen.append(("late", world.now)))
    world.after(2, lambda: seen.append(("early", world.now)))
    world.run(10)
    assert seen == [("early", 2), ("late", 5)]
    assert world.now == 10


def test_what_is_due_at_one_time_runs_in_the_order_in_which_it_was_asked_for() -> None:
    world = World(1)
    seen: list[int] = []
    for number in range(20):
        world.at(7, lambda number=number: seen.append(number))  # type: ignore[misc]
    world.run(7)
    assert seen == list(range(20))


def test_a_cancelled_timer_does_nothing() -> None:
    world = World(1)
    seen: list[int] = []
    world.after(1, lambda: seen.append(1)).cancel()
    world.run(2)
    assert seen == []


def test_what_is_asked_for_in_the_past_runs_at_once() -> None:
    world = World(1)
    world.run(SECOND)
    seen: list[int] = []
    world.at(1, lambda: seen.append(world.now))
    world.run(0)
    assert seen == [SECOND]


def test_chance_depends_on_the_seed_alone() -> None:
    def draws(seed: int) -> list[float]:
        world = World(seed)
        return [random.random() for random in (world.derive(), world.derive())]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)
    first, second = draws(1)
    assert first != second


def test_a_world_whose_time_stands_still_says_so() -> None:
    world = World(1)

    def again() -> None:
        world.after(0, again)

    again()
    with pytest.raises(SimulationError, match="time stands still"):
        world.run(1)
    assert STEPS_AT_ONCE_MAX > 0
