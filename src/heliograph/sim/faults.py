"""Faults: what can go wrong in a simulated run, as values; each does its harm and undoes it later.

Faults may overlap, on one host too. Undoing is repairing: what is whole already stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from heliograph.sim.cable import DOWN, UP
from heliograph.sim.quality import QUALITIES
from heliograph.sim.repairs import attach, host_of, mend, revive, thaw, unstall
from heliograph.sim.story import MILLISECOND

if TYPE_CHECKING:
    from heliograph.sim.topology import Topology


# How often it is looked whether a planet has ended.
_PATIENCE: Final = 100 * MILLISECOND


class Fault(Protocol):
    """Something that goes wrong."""

    def strike(self, topology: Topology) -> None:
        """Do the harm; what ends it is put into the world's heap."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Nothing passes a client's cable, in one direction or both, for a while."""

    client: str
    duration: int
    up: bool = True
    down: bool = True

    def strike(self, topology: Topology) -> None:
        """Cut the cable."""
        cable = topology.cable(self.client)
        cable.cut[UP] = cable.cut[UP] or self.up
        cable.cut[DOWN] = cable.cut[DOWN] or self.down
        which = "both ways" if self.up and self.down else "upwards" if self.up else "downwards"
        topology.world.tell(self.client, f"has its cable cut {which}")
        topology.world.after(self.duration, partial(mend, topology, self.client))


@dataclass(frozen=True, slots=True)
class Degrade:
    """A client's cable has another quality for a while."""

    client: str
    duration: int
    quality: str

    def strike(self, topology: Topology) -> None:
        """Change the quality."""
        cable = topology.cable(self.client)
        cable.quality = replace(QUALITIES[self.quality], buffer=cable.laid.buffer)
        topology.world.tell(self.client, f"has a {self.quality} cable")
        topology.world.after(self.duration, partial(mend, topology, self.client))


@dataclass(frozen=True, slots=True)
class Reset:
    """A client's links are reset; whoever can be told is told."""

    client: str

    def strike(self, topology: Topology) -> None:
        """Reset both ends, as a middlebox does."""
        topology.world.tell(self.client, "has its links reset")
        for link in topology.links(self.client):
            for end in link.ends:
                end.finish("reset")


@dataclass(frozen=True, slots=True)
class HalfOpen:
    """A client's links carry nothing more; of their ends one is told so, or none.

    `swallowing` links seem to take what is sent; the others fill up, and are given up in the end.
    """

    client: str
    told: str = ""  # "client", "planet" or nobody.
    swallowing: bool = False

    def strike(self, topology: Topology) -> None:
        """Silence the links."""
        told = f"the {self.told} is told" if self.told else "nobody is told"
        how = "swallow everything" if self.swallowing else "carry nothing"
        topology.world.tell(self.client, f"has links that {how}; {told}")
        for link in topology.links(self.client):
            link.swallowing = link.swallowing or self.swallowing
            link.severed = not link.swallowing
            if self.told:
                link.ends[UP if self.told == "client" else DOWN].finish("reset")


@dataclass(frozen=True, slots=True)
class Crash:
    """A host loses its state, and starts again with a fresh core after a while."""

    host: str
    duration: int
    power: bool = False

    def strike(self, topology: Topology) -> None:
        """Kill the process, or cut the power."""
        host = host_of(topology, self.host)
        if host.running:
            host.crash(power=self.power)
            topology.world.after(self.duration, partial(revive, host))


@dataclass(frozen=True, slots=True)
class Freeze:
    """A host stands still for a while: it reads nothing, and no timer fires."""

    host: str
    duration: int

    def strike(self, topology: Topology) -> None:
        """Stop the process."""
        host = host_of(topology, self.host)
        if host.running and not host.frozen:
            host.freeze()
            topology.world.after(self.duration, partial(thaw, host))


@dataclass(frozen=True, slots=True)
class Stall:
    """One receiver of a client takes nothing for a while."""

    client: str
    receiver: int
    duration: int

    def strike(self, topology: Topology) -> None:
        """Stop taking."""
        application = topology.clients[self.client].application
        receiver = application.receivers[self.receiver]
        if not receiver.stalled:
            application.stall(receiver)
            topology.world.after(self.duration, partial(unstall, topology, self.client, receiver))


@dataclass(frozen=True, slots=True)
class Away:
    """A client detaches, and attaches again after a while."""

    client: str
    duration: int

    def strike(self, topology: Topology) -> None:
        """Detach."""
        host = topology.clients[self.client]
        if host.core is not None and not host.frozen:
            topology.world.tell(self.client, "detaches")
            host.core.detach(topology.world.now)
            host.settle()
            topology.world.after(self.duration, partial(attach, topology, self.client))


@dataclass(frozen=True, slots=True)
class Depart:
    """A client goes for good; its process ends, and another one starts after a while."""

    client: str
    duration: int

    def strike(self, topology: Topology) -> None:
        """Depart."""
        host = topology.clients[self.client]
        if host.core is not None and not host.frozen:
            topology.world.tell(self.client, "departs")
            host.core.depart(topology.world.now)
            host.settle()
            topology.world.after(self.duration, partial(self._end, topology, host.starts))

    def _end(self, topology: Topology, start: int) -> None:
        host = topology.clients[self.client]
        if host.running and host.starts == start:
            host.crash()
            host.start()


@dataclass(frozen=True, slots=True)
class Withdraw:
    """A client withdraws a stream, and advertises it again after a while."""

    client: str
    sender: int
    duration: int

    def strike(self, topology: Topology) -> None:
        """Withdraw it."""
        host = topology.clients[self.client]
        sender = host.application.senders[self.sender]
        if host.running and not host.frozen and sender.id is not None:
            host.application.withdraw(sender)
            again = partial(host.application.advertise_again, sender)
            topology.world.after(self.duration, again)


@dataclass(frozen=True, slots=True)
class Shutdown:
    """A planet is asked to end in order, and is started again after a while."""

    planet: str
    duration: int

    def strike(self, topology: Topology) -> None:
        """Ask it to end, and wait until it has."""
        host = topology.planets[self.planet]
        if host.core is not None and not host.frozen:
            topology.world.tell(self.planet, "is asked to end")
            host.core.close(topology.world.now)
            host.settle()
            self._wait(topology, host.starts)

    def _wait(self, topology: Topology, start: int) -> None:
        host = topology.planets[self.planet]
        if host.core is None or host.starts != start:
            return
        if host.core.closed:
            host.crash()
            topology.world.after(self.duration, partial(revive, host))
        else:
            topology.world.after(_PATIENCE, partial(self._wait, topology, start))


@dataclass(frozen=True, slots=True)
class Repolicy:
    """A receiver changes its policy."""

    client: str
    receiver: int
    policy: str

    def strike(self, topology: Topology) -> None:
        """Change it."""
        host = topology.clients[self.client]
        if not host.frozen:
            application = host.application
            application.repolicy(application.receivers[self.receiver], self.policy)


@dataclass(frozen=True, slots=True)
class Resubscribe:
    """A receiver gives its subscription up, and takes a new one."""

    client: str
    receiver: int

    def strike(self, topology: Topology) -> None:
        """Give up and begin again."""
        host = topology.clients[self.client]
        receiver = host.application.receivers[self.receiver]
        if host.running and not host.frozen and receiver.id is not None:
            host.application.unsubscribe(receiver)
            host.application.subscribe(receiver)
