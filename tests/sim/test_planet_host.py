from __future__ import annotations

from sim.wards import Ward


def test_a_planet_starts_again_with_its_configuration_and_nothing_else() -> None:
    ward = Ward(lane_entries=77)
    ward.publish(10)
    ward.run(1)
    old = ward.topology.planet.core
    ward.topology.planet.crash()
    ward.topology.planet.start()
    core = ward.topology.planet.core
    assert core is not None
    assert core is not old
    assert core.config.lane_entries == 77
    assert core.status(ward.world.now)["streams"] == []
    assert ward.topology.truth.losses == 1


def test_a_session_that_a_planet_gives_up_counts_as_a_loss() -> None:
    ward = Ward(session_seconds=2.0)
    ward.nurse.freeze()
    ward.run(20)
    assert ward.topology.truth.losses == 1
