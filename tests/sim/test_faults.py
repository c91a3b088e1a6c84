"""Each fault does its harm, ends, and leaves nothing uncounted."""

from __future__ import annotations

import pytest

from heliograph.sim.faults import (
    Away,
    Crash,
    Cut,
    Degrade,
    Depart,
    Fault,
    Freeze,
    HalfOpen,
    Repolicy,
    Reset,
    Resubscribe,
    Shutdown,
    Stall,
    Withdraw,
)
from heliograph.sim.quality import FAST, QUALITIES
from heliograph.sim.repairs import heal
from heliograph.sim.story import SECOND
from heliograph.sim.topology import PLANET
from sim.wards import Ward

TIME = 3 * SECOND
FAULTS: list[Fault] = [
    Cut("nurse", TIME),
    Cut("ward", TIME, up=True, down=False),
    Cut("nurse", TIME, up=False, down=True),
    Cut("nurse", 30 * SECOND),
    Degrade("nurse", TIME, "lossy"),
    Reset("nurse"),
    Reset("ward"),
    HalfOpen("nurse"),
    HalfOpen("nurse", "client"),
    HalfOpen("ward", "planet"),
    HalfOpen("nurse", "", swallowing=True),
    HalfOpen("ward", "", swallowing=True),
    Crash("nurse", TIME),
    Crash("ward", TIME, power=True),
    Crash(PLANET, TIME),
    Crash(PLANET, TIME, power=True),
    Freeze("nurse", TIME),
    Freeze("ward", 20 * SECOND),
    Freeze(PLANET, TIME),
    Freeze(PLANET, 30 * SECOND),
    Stall("nurse", 0, TIME),
    Away("nurse", TIME),
    Away("ward", TIME),
    Depart("nurse", TIME),
    Depart("ward", TIME),
    Withdraw("ward", 0, TIME),
    Shutdown(PLANET, TIME),
    Repolicy("nurse", 0, "newest"),
    Resubscribe("nurse", 0),
]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_ends_and_every_number_is_settled(fault: Fault) -> None:
    ward = Ward(heartbeat_seconds=1.0, session_seconds=10.0)
    ward.publish(1_000)
    ward.run(1)
    fault.strike(ward.topology)
    ward.run(60)
    ward.publish(50)
    ward.run(10)
    ward.check()
    assert ward.ledger.position.number > 0


def test_faults_overlap() -> None:
    ward = Ward()
    for fault in FAULTS * 2:
        fault.strike(ward.topology)
        ward.run(0.3)
    ward.run(60)
    heal(ward.topology)
    ward.publish(20)
    ward.run(60)
    ward.check()


def test_a_degraded_cable_keeps_its_kernels() -> None:
    ward = Ward()
    Degrade("nurse", TIME, "thin").strike(ward.topology)
    quality = ward.topology.cable("nurse").quality
    assert (quality.up, quality.buffer) == (QUALITIES["thin"].up, FAST.buffer)
