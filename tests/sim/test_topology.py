from __future__ import annotations

from heliograph.client.config import ClientConfig
from heliograph.sim.application import Receiver
from heliograph.sim.ledger import Ledger
from heliograph.sim.quality import QUALITIES
from heliograph.sim.topology import PLANET, Topology


def test_a_topology_is_a_planet_and_clients_with_cables() -> None:
    topology = Topology(1)
    topology.add_planet()
    client = topology.add_client(ClientConfig(name="nurse"), QUALITIES["thin"])
    assert topology.planet.name == PLANET
    assert client.home == PLANET
    assert topology.cable("nurse").quality == QUALITIES["thin"]
    assert topology.links("nurse") == []
    client.start()
    topology.world.run(10**9)
    assert len(topology.links("nurse")) == 1


def test_receivers_and_ledgers_are_found() -> None:
    topology = Topology(1)
    client = topology.add_client(ClientConfig(name="nurse"))
    receiver = Receiver("pulse")
    client.application.receivers += [receiver, Receiver("warmth")]
    receiver.ledger = Ledger("nurse", "pulse", topology.truth)
    assert [one.stream for _, one in topology.receivers()] == ["pulse", "warmth"]
    assert list(topology.ledgers()) == [receiver.ledger]
