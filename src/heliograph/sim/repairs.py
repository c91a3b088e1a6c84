"""Repairs: what undoes a fault. What is whole already stays as it is, as faults may overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heliograph.sim.application import Receiver
    from heliograph.sim.host import Host
    from heliograph.sim.topology import Topology


def host_of(topology: Topology, name: str) -> Host[Any]:
    """Return a host of any kind by its name."""
    return topology.network.hosts[name]


def mend(topology: Topology, client: str) -> None:
    """Make a cable whole."""
    cable = topology.cable(client)
    if any(cable.cut) or cable.quality is not cable.laid:
        cable.cut[:] = [False, False]
        cable.quality = cable.laid
        topology.world.tell(client, "has its cable mended")


def revive(host: Host[Any]) -> None:
    """Start a host that is down."""
    if not host.running:
        host.start()


def thaw(host: Host[Any]) -> None:
    """Let a host go on that stands still."""
    if host.running and host.frozen:
        host.thaw()


def unstall(topology: Topology, client: str, receiver: Receiver) -> None:
    """Let a receiver take again."""
    if receiver.stalled:
        topology.clients[client].application.resume(receiver)


def attach(topology: Topology, client: str) -> None:
    """Attach a client; one that is attached already stays so."""
    host = topology.clients[client]
    if host.core is not None and not host.frozen:
        topology.world.tell(client, "attaches")
        host.core.attach(topology.world.now)
        host.settle()


def heal(topology: Topology) -> None:
    """Undo everything that is still wrong."""
    for host in topology.network.hosts.values():
        thaw(host)
        revive(host)
    for name, client in topology.clients.items():
        mend(topology, name)
        attach(topology, name)
        for receiver in client.application.receivers:
            unstall(topology, name, receiver)
