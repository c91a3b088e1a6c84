"""Commands: what a scenario can say, one short method for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heliograph.client.config import ClientConfig
from heliograph.event.errors import UsageError
from heliograph.planet.config import PlanetConfig
from heliograph.sim import faults, repairs
from heliograph.sim.application import Receiver, Sender
from heliograph.sim.checkers import check_bounds, check_quiet
from heliograph.sim.quality import duration, quality
from heliograph.sim.shown import Taken, show_lanes
from heliograph.sim.topology import PLANET, Topology

if TYPE_CHECKING:
    from heliograph.event.block import Block
    from heliograph.event.digest import Digest

# A scenario has no chance in it but that of its links.
_SEED: Final = 1
# The faults of scenarios end by command, not by time.
_FOREVER: Final = 10**18


class Stage:
    """Where a scenario is played: a topology, and what has happened since the last step."""

    def __init__(self) -> None:
        """Begin with an empty world."""
        self.topology = Topology(_SEED, self._hear)
        self._heard: list[str] = []
        self._taken: dict[tuple[str, str], Taken] = {}

    def _hear(self, line: str) -> None:
        self._heard.append(line)

    def perform(self, commands: list[str]) -> list[str]:
        """Do what some commands say; return what happened.

        Raises:
            UsageError: There is no such command, host or stream.
        """
        for command in commands:
            verb, *words = command.split()
            method = getattr(self, f"do_{verb.replace('-', '_')}", None)
            if method is None:
                known = [name[3:].replace("_", "-") for name in dir(self) if name[:3] == "do_"]
                raise UsageError(f"there is no command {verb!r}; there are {', '.join(known)}")
            method(*words)
        heard, self._heard = self._heard, []
        return heard

    # The topology.

    def do_planet(self, *settings: str) -> None:
        """Start the planet, as in `planet lane_entries=64`."""
        self.topology.add_planet(PlanetConfig(**({"name": PLANET} | _settings(settings))))

    def do_client(self, name: str, *words: str) -> None:
        """Set up a client on a cable of some quality, as in `client nurse thin latency=5ms`."""
        config = [word[7:] for word in words if word.startswith("config.")]
        rest = [word for word in words if not word.startswith("config.")]
        settings = {"name": name} | _settings(config)
        host = self.topology.add_client(ClientConfig(**settings), quality(" ".join(rest)))
        host.report = lambda receiver, entries: self._report(name, receiver, entries)

    def do_sender(self, client: str, stream: str) -> None:
        """Let a client offer a stream."""
        application = self.topology.clients[client].application
        application.senders.append(Sender(stream))
        if self.topology.clients[client].running:
            application.advertise(application.senders[-1])

    def do_receiver(self, client: str, stream: str, policy: str = "none", *words: str) -> None:
        """Let a client want a stream, as in `receiver nurse pulse newest interval=1s batch=5`."""
        application = self.topology.clients[client].application
        receiver = Receiver(stream, policy)
        for word in words:
            key, _, value = word.partition("=")
            if key == "interval":
                receiver.interval = duration(value)
            else:
                receiver.batch = int(value)
        application.receivers.append(receiver)
        if self.topology.clients[client].running:
            application.subscribe(receiver)

    def do_start(self, *hosts: str) -> None:
        """Start processes, for the first time or again."""
        for host in hosts:
            repairs.host_of(self.topology, host).start()

    # What happens.

    def do_publish(self, client: str, stream: str, count: str, *words: str) -> None:
        """Publish events from now on, as in `publish ward pulse 500 burst=5 interval=10ms`."""
        application = self.topology.clients[client].application
        sender = next(one for one in application.senders if one.stream == stream)
        for word in words:
            key, _, value = word.partition("=")
            if key == "interval":
                sender.interval = duration(value)
            else:
                sender.burst = int(value)
        application.publish(sender, int(count))

    def do_run(self, time: str) -> None:
        """Let time pass."""
        self.topology.world.run(duration(time))
        check_bounds(self.topology)
        for taken in self._taken.values():
            self._heard += taken.lines()
        self._taken.clear()

    def do_detach(self, client: str) -> None:
        """Detach a client."""
        faults.Away(client, _FOREVER).strike(self.topology)

    def do_attach(self, client: str) -> None:
        """Attach a client again."""
        repairs.attach(self.topology, client)

    def do_policy(self, client: str, stream: str, policy: str) -> None:
        """Change a receiver's policy."""
        faults.Repolicy(client, self._place(client, stream), policy).strike(self.topology)

    def do_stall(self, client: str, stream: str) -> None:
        """Let a receiver take nothing."""
        faults.Stall(client, self._place(client, stream), _FOREVER).strike(self.topology)

    def do_unstall(self, client: str, stream: str) -> None:
        """Let a receiver take again."""
        receiver = self.topology.clients[client].application.receivers
        repairs.unstall(self.topology, client, receiver[self._place(client, stream)])

    def do_kill(self, host: str) -> None:
        """Kill a process."""
        repairs.host_of(self.topology, host).crash()

    def do_unplug(self, host: str) -> None:
        """Take a machine's power away."""
        repairs.host_of(self.topology, host).crash(power=True)

    def do_freeze(self, host: str) -> None:
        """Stop a process."""
        repairs.host_of(self.topology, host).freeze()

    def do_thaw(self, host: str) -> None:
        """Let a process go on."""
        repairs.host_of(self.topology, host).thaw()

    def do_cut(self, client: str) -> None:
        """Cut a cable."""
        faults.Cut(client, _FOREVER).strike(self.topology)

    def do_mend(self, client: str) -> None:
        """Make a cable whole."""
        repairs.mend(self.topology, client)

    def do_reset(self, client: str) -> None:
        """Reset a client's links."""
        faults.Reset(client).strike(self.topology)

    def do_half_open(self, client: str, told: str = "") -> None:
        """Silence a client's links, and tell one side or none."""
        faults.HalfOpen(client, told).strike(self.topology)

    def do_degrade(self, client: str, name: str) -> None:
        """Give a client's cable another quality."""
        faults.Degrade(client, _FOREVER, name).strike(self.topology)

    # What is looked at.

    def do_lanes(self) -> None:
        """Show the planet's lanes."""
        self._heard += show_lanes(self.topology)

    def do_check(self) -> None:
        """Check that everything that is always true is, now that all is quiet."""
        check_quiet(self.topology)
        for host, receiver in self.topology.receivers():
            ledger = receiver.ledger
            if ledger is not None:
                self._heard.append(
                    f"{host.name} has every number of {ledger.stream} up to "
                    f"{ledger.position.number}: {ledger.events} events, {ledger.dropped} dropped "
                    f"({ledger.gaps} in gaps), {ledger.filtered} filtered"
                )

    def _report(self, client: str, receiver: Receiver, entries: list[Block | Digest]) -> None:
        key = client, receiver.stream
        if key not in self._taken:
            self._taken[key] = Taken(*key, self.topology.truth)
        self._taken[key].add(entries)

    def _place(self, client: str, stream: str) -> int:
        receivers = self.topology.clients[client].application.receivers
        return next(place for place, one in enumerate(receivers) if one.stream == stream)


def _settings(words: tuple[str, ...] | list[str]) -> dict[str, Any]:
    """Return `key=value` words as settings of a configuration."""
    found: dict[str, Any] = {}
    for word in words:
        key, _, value = word.partition("=")
        try:
            found[key] = float(value) if "." in value else int(value)
        except ValueError:
            found[key] = value
    return found
