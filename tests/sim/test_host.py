from __future__ import annotations

import pytest

from heliograph.sim.quality import QUALITIES
from heliograph.sim.story import SECOND
from heliograph.sim.world import SimulationError
from heliograph.wire.core import Answered, Log
from sim.toys import Pair, Toy, ToyHost, lines


def test_a_tick_comes_at_the_deadline_and_once() -> None:
    pair = Pair()
    pair.left.toy.alarm = 3 * SECOND
    pair.left.settle()
    pair.world.run(10 * SECOND)
    assert pair.left.toy.ticks == [3 * SECOND]


def test_a_deadline_that_moves_is_followed() -> None:
    pair = Pair()
    for alarm in (5 * SECOND, 2 * SECOND, 4 * SECOND):
        pair.left.toy.alarm = alarm
        pair.left.settle()
    pair.world.run(10 * SECOND)
    assert pair.left.toy.ticks == [4 * SECOND]


def test_a_killed_host_loses_its_state_and_its_peer_hears_of_it() -> None:
    pair = Pair()
    old = pair.right.toy
    pair.right.crash()
    pair.world.run(SECOND)
    assert pair.left.toy.gone == [1]
    pair.right.start()
    assert pair.right.toy is not old
    assert pair.right.starts == 2


def test_a_host_that_loses_power_tells_nobody_until_it_is_back() -> None:
    pair = Pair()
    pair.right.crash(power=True)
    pair.left.send(10)
    pair.world.run(5 * SECOND)
    assert pair.left.toy.links == [1]
    pair.right.start()
    pair.world.run(10 * SECOND)
    assert pair.left.toy.gone == [1], "a machine that knows of no link answers with a reset"


def test_no_timer_of_a_dead_or_frozen_host_fires() -> None:
    pair = Pair()
    for host in (pair.left, pair.right):
        host.toy.alarm = SECOND
        host.settle()
    frozen, dead = pair.left.toy, pair.right.toy
    pair.left.freeze()
    pair.right.crash()
    pair.world.run(5 * SECOND)
    assert (frozen.ticks, dead.ticks) == ([], [])
    pair.left.thaw()
    assert frozen.ticks == [pair.world.now]


def test_a_frozen_host_hears_of_the_end_of_a_link_later() -> None:
    pair = Pair(QUALITIES["mobile"])
    pair.right.freeze()
    pair.left.send(20)
    pair.left.close(1)
    pair.world.run(20 * SECOND)
    assert pair.right.toy.gone == []
    pair.right.thaw()
    assert pair.right.toy.gone == [1]
    assert pair.heard(pair.right) == lines(20)


def test_the_log_of_a_core_is_part_of_the_story() -> None:
    pair = Pair()
    pair.left.say(Log("info", "packed", {"stream": "pulse", "level": 2}))
    assert pair.world.story.lines[-1].endswith("left      packed stream=pulse level=2")


def test_an_effect_that_a_host_cannot_perform_is_an_error() -> None:
    pair = Pair()
    with pytest.raises(SimulationError, match="cannot perform"):
        pair.left.say(Answered(1))


def test_a_host_that_runs_is_not_started_again() -> None:
    pair = Pair()
    with pytest.raises(SimulationError, match="already"):
        pair.left.start()
    assert isinstance(pair.left, ToyHost)
    assert isinstance(pair.left.make(), Toy)
