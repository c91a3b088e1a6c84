from __future__ import annotations

from random import Random

from heliograph.sim import faults
from heliograph.sim.mishaps import mishap
from heliograph.sim.topology import PLANET
from sim.wards import Ward


def test_every_kind_of_fault_is_drawn() -> None:
    ward = Ward()
    random = Random(1)
    drawn = [mishap(random, ward.topology) for _ in range(1_000)]
    assert {type(fault).__name__ for fault, _ in drawn} == {
        "Away", "Crash", "Cut", "Degrade", "Depart", "Freeze", "HalfOpen", "Repolicy", "Reset",
        "Resubscribe", "Shutdown", "Stall", "Withdraw",
    }  # fmt: skip
    assert {name for _, name in drawn} == {"ward", "nurse", PLANET}
    assert any(isinstance(fault, faults.Crash) and fault.power for fault, _ in drawn)


def test_a_client_without_receivers_has_no_mishaps_of_receivers() -> None:
    ward = Ward()
    ward.nurse.application.receivers.clear()
    drawn = [mishap(Random(seed), ward.topology)[0] for seed in range(300)]
    assert not any(
        isinstance(fault, faults.Stall | faults.Repolicy | faults.Resubscribe) for fault in drawn
    )
