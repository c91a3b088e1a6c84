from __future__ import annotations

from heliograph.sim.cable import DOWN, UP, Cable
from heliograph.sim.quality import QUALITIES, Quality
from heliograph.sim.story import MILLISECOND, SECOND
from heliograph.sim.world import World


def test_what_leaves_waits_for_what_left_before_it() -> None:
    world = World(1)
    cable = Cable(world, "a-b", QUALITIES["thin"])
    assert cable.transmit(UP, 625) == 100 * MILLISECOND
    assert cable.transmit(UP, 625) == 200 * MILLISECOND
    assert cable.transmit(DOWN, 625) == 100 * MILLISECOND, "directions do not share the rate"
    world.run(SECOND)
    assert cable.transmit(UP, 625) == 1_100 * MILLISECOND, "an idle cable saves nothing up"


def test_a_cut_cable_passes_nothing_in_that_direction() -> None:
    cable = Cable(World(1), "a-b", QUALITIES["fast"])
    cable.cut[DOWN] = True
    assert cable.passes(UP)
    assert not cable.passes(DOWN)


def test_a_lossy_cable_loses_its_part() -> None:
    cable = Cable(World(1), "a-b", Quality(1, 1, 1, loss=0.25))
    lost = sum(not cable.passes(UP) for _ in range(4_000))
    assert 900 < lost < 1_100


def test_jitter_is_added_to_latency() -> None:
    cable = Cable(World(1), "a-b", Quality(10, 1, 1, jitter=5))
    assert {cable.delay() for _ in range(200)} == set(range(10, 15))


def test_patience_doubles_up_to_ten_seconds() -> None:
    cable = Cable(World(1), "a-b", QUALITIES["fast"])
    waits = [cable.patience(attempt) for attempt in range(12)]
    assert waits[:3] == [200 * MILLISECOND, 400 * MILLISECOND, 800 * MILLISECOND]
    assert waits[-1] == 10 * SECOND
