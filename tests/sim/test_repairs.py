"""Whatever went wrong is undone, whether it struck a cable, a host or an application."""

from __future__ import annotations

from heliograph.sim.cable import DOWN, UP
from heliograph.sim.faults import Crash, Cut, Degrade, Freeze, Stall
from heliograph.sim.quality import FAST
from heliograph.sim.repairs import heal, host_of
from heliograph.sim.topology import PLANET
from sim.wards import Ward


def test_everything_is_healed_at_once() -> None:
    ward = Ward()
    for fault in (
        Cut("nurse", 10**18),
        Degrade("ward", 10**18, "thin"),
        Stall("nurse", 0, 10**18),
        Freeze("nurse", 10**18),
        Crash(PLANET, 10**18),
        Crash("ward", 10**18),
    ):
        fault.strike(ward.topology)
    heal(ward.topology)
    cable = ward.topology.cable("nurse")
    assert (cable.cut[UP], cable.cut[DOWN]) == (False, False)
    assert ward.topology.cable("ward").quality == FAST
    assert all(host.running and not host.frozen for host in ward.topology.network.hosts.values())
    assert not ward.receiver.stalled


def test_hosts_are_found_by_name() -> None:
    ward = Ward()
    assert host_of(ward.topology, PLANET) is ward.topology.planet
