from __future__ import annotations

from heliograph.event.block import Block
from heliograph.sim.story import SECOND
from sim.wards import Ward


def test_a_client_attaches_to_its_home_when_it_starts() -> None:
    ward = Ward()
    assert len(ward.nurse.ends) == 1
    assert ward.nurse.core is not None
    assert ward.nurse.core.attached


def test_a_client_that_is_refused_tries_again() -> None:
    ward = Ward()
    ward.topology.planet.crash()
    ward.run(3)
    assert any("nobody listens" in line for line in ward.world.story.lines)
    ward.topology.planet.start()
    ward.run(10)
    assert len(ward.nurse.ends) == 1


def test_a_refusal_reaches_a_client_that_stands_still_when_it_goes_on() -> None:
    ward = Ward()
    ward.topology.planet.crash()
    ward.run(0.06)
    ward.nurse.freeze()
    ward.run(20)
    ward.topology.planet.start()
    ward.nurse.thaw()
    ward.run(10)
    assert len(ward.nurse.ends) == 1


def test_who_asks_is_told_what_receivers_take() -> None:
    ward = Ward()
    seen: list[int] = []
    ward.nurse.report = lambda _, entries: seen.extend(
        entry.first for entry in entries if isinstance(entry, Block)
    )
    ward.publish(3)
    ward.run(1)
    assert seen == [1, 2, 3]


def test_a_crash_of_a_client_counts_as_a_loss() -> None:
    ward = Ward()
    ward.nurse.crash(power=True)
    assert ward.topology.truth.losses == 1
    ward.world.run(SECOND)
    assert not ward.nurse.running
