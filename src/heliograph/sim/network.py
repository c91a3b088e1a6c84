"""Network: which hosts there are, the cables between them, and how links come about."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.errors import UsageError
from heliograph.sim.cable import DOWN, UP, Cable
from heliograph.sim.link import Link
from heliograph.sim.quality import FAST
from heliograph.sim.story import SECOND

if TYPE_CHECKING:
    from heliograph.sim.host import Host
    from heliograph.sim.quality import Quality
    from heliograph.sim.world import World

# So long a host waits for the answer to an attempt to connect.
CONNECT_TIMEOUT: Final = 5 * SECOND


class Network:
    """All hosts by name (which is their address), and a cable for each pair that connects."""

    def __init__(self, world: World) -> None:
        """Begin with nobody."""
        self.world = world
        self.hosts: dict[str, Host[Any]] = {}
        self.cables: dict[tuple[str, str], Cable] = {}
        self.links: list[Link] = []

    def add(self, host: Host[Any]) -> None:
        """Give a host its address.

        Raises:
            UsageError: Another host has it.
        """
        if host.name in self.hosts:
            raise UsageError(f"there is a host {host.name!r} already")
        self.hosts[host.name] = host

    def lay(self, connector: str, acceptor: str, quality: Quality) -> Cable:
        """Lay a cable; `connector` is at the end from which the rate is `up`."""
        cable = Cable(self.world, f"{connector}-{acceptor}", quality)
        self.cables[connector, acceptor] = cable
        return cable

    def cable(self, connector: str, acceptor: str) -> Cable:
        """Return the cable between two hosts, a fast one where none was laid."""
        return self.cables.get((connector, acceptor)) or self.lay(connector, acceptor, FAST)

    def connect(self, host: Host[Any], address: str) -> None:
        """Try to open a link; the host is told `joined` or `refuse` after a round trip."""
        cable = self.cable(host.name, address)
        answer = partial(self._answer, cable, host, host.starts, address)
        self.world.after(2 * cable.delay(), answer)

    def _answer(self, cable: Cable, host: Host[Any], start: int, address: str) -> None:
        acceptor = self.hosts.get(address)
        # Lost attempts are repeated by the kernel; here they count as one long silence.
        if cable.cut[UP] or cable.cut[DOWN] or acceptor is None or not acceptor.up:
            self.world.after(CONNECT_TIMEOUT, partial(host.refuse, "no answer", start))
        elif not acceptor.running:
            host.refuse("nobody listens", start)
        elif host.running and host.starts == start:
            link = Link(cable, host, acceptor)
            self.links = [old for old in self.links if old.ends[UP].open or old.ends[DOWN].open]
            self.links.append(link)
            acceptor.joined(link.ends[DOWN])
            host.joined(link.ends[UP])

    def between(self, connector: str, acceptor: str) -> list[Link]:
        """Return the links between two hosts of which one end at least believes in them."""
        cable = self.cable(connector, acceptor)
        return [
            link
            for link in self.links
            if link.cable is cable and (link.ends[UP].open or link.ends[DOWN].open)
        ]
