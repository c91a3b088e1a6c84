"""Campaign: mixed random faults from one seed, then peace, then the checkers.

    heal   ------------------------------.
    faults   x   x x    x     x   x      |   quiet
    events ..............................|.........|  check
           0                             60 s

Everything - who there is, how good their cables are, what they want, what goes wrong - follows from
the seed. A seed that fails names the one command that runs it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from heliograph.client.config import ClientConfig
from heliograph.planet.config import PlanetConfig
from heliograph.sim.application import Receiver, Sender
from heliograph.sim.checkers import check_bounds, check_isolation, check_quiet, is_quiet
from heliograph.sim.mishaps import mishap
from heliograph.sim.quality import QUALITIES
from heliograph.sim.repairs import heal
from heliograph.sim.samples import GROWING, POLICIES
from heliograph.sim.story import MILLISECOND, SECOND
from heliograph.sim.topology import PLANET, Topology
from heliograph.sim.world import SimulationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.sim.client_host import ClientHost
    from heliograph.sim.ledger import Ledger

NAMES: Final = ("ada", "ben", "cleo", "dora", "emil", "fred", "greta", "hugo")
WAR: Final = 60 * SECOND
PEACE_MAX: Final = 900 * SECOND
_STEP: Final = SECOND
_TAIL: Final = 40
# A healthy receiver on a fast cable gets everything within this time.
_AGE_MAX: Final = 2 * SECOND


class CampaignError(SimulationError):
    """A seed failed; the message has the command that runs it again, and the end of its story."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a campaign came to."""

    seed: int
    hash: str
    faults: int
    published: int
    received: int
    dropped: int
    filtered: int
    gaps: int
    seconds: int  # Of virtual time.

    def __str__(self) -> str:
        """Return it as a line."""
        return (
            f"seed {self.seed}: {self.published} published; {self.received} received, "
            f"{self.dropped} dropped ({self.gaps} in gaps), {self.filtered} filtered; "
            f"{self.faults} faults, {self.seconds} s; {self.hash}"
        )


def campaign(seed: int, hear: Callable[[str], None] | None = None) -> Outcome:
    """Run one seed.

    Raises:
        CampaignError: Something that is always true was not.
    """
    run = _Campaign(seed, hear)
    try:
        return run.run()
    except Exception as error:
        lines = "\n".join(list(run.topology.world.story.lines)[-_TAIL:])
        raise CampaignError(
            f"seed {seed} fails: {type(error).__name__}: {error}\n"
            f"run it again, and read its story, with\n\n"
            f"    python -m heliograph.sim {seed}\n\n{lines}\n"
        ) from error


class _Campaign:
    """One seed under way."""

    def __init__(self, seed: int, hear: Callable[[str], None] | None) -> None:
        self.seed = seed
        self.topology = Topology(seed, hear)
        self.world = self.topology.world
        self.random = self.world.derive()
        self.faults = 0
        self.struck: dict[str, None] = {}  # Hosts that a fault befell.

    def run(self) -> Outcome:
        """Build, disturb, heal, and check."""
        self._build()
        self._plan()
        for _ in range(WAR // _STEP):
            self.world.run(_STEP)
            check_bounds(self.topology)
        self.world.tell("all", "faults end, everything heals")
        heal(self.topology)
        while not is_quiet(self.topology) and self.world.now < WAR + PEACE_MAX:
            self.world.run(5 * _STEP)
            check_bounds(self.topology)
        self._check()
        return self._outcome()

    def _build(self) -> None:
        random = self.random
        settings = PlanetConfig(
            name=PLANET,
            lane_entries=random.choice([16, 50, 200, 1_000]),
            lane_bytes=random.choice([4_096, 20_000, 10**6]),
            session_seconds=random.choice([15, 40, 300]),
            heartbeat_seconds=random.choice([0.5, 2.0, 5.0]),
            controller=random.choice(["ladder", "aim"]),
        )
        self.topology.add_planet(settings)
        names = NAMES[: random.randint(1, len(NAMES))]
        qualities = list(QUALITIES)
        for name in names:
            config = ClientConfig(
                name=name,
                sender_entries=random.choice([50, 1_000, 65_536]),
                inbox_entries=random.choice([16, 50, 1_000, 65_536]),
            )
            self.topology.add_client(config, QUALITIES[random.choice(qualities)])
        self._add_senders(names)
        streams = [one.stream for one in self._senders()]
        for name in names:
            application = self.topology.clients[name].application
            for _ in range(random.randint(0 if name != names[-1] else 1, 3)):
                receiver = Receiver(random.choice(streams), random.choice(list(POLICIES)))
                if random.random() < 1 / 4:
                    receiver.interval = random.randint(1, 2_000) * MILLISECOND
                    receiver.batch = random.randint(1, 50)
                application.receivers.append(receiver)

    def _add_senders(self, names: tuple[str, ...]) -> None:
        random = self.random
        for name in names:
            application = self.topology.clients[name].application
            for place in range(random.randint(0 if name != names[0] else 1, 2)):
                burst = random.choice([1, 1, 3, 20, 300])
                interval = random.randint(2, 300) * min(burst, 50) * MILLISECOND
                key = f"{name}/{place + 1}{random.choice(['', '', GROWING])}"
                sender = Sender(key, interval, burst, open=key.endswith(GROWING))
                sender.blocks = not sender.open and random.random() < 1 / 4
                application.senders.append(sender)

    def _senders(self) -> list[Sender]:
        clients = self.topology.clients.values()
        return [sender for client in clients for sender in client.application.senders]

    def _plan(self) -> None:
        """Put what will happen into the heap: starts, events, faults."""
        random, world = self.random, self.world
        for client in self.topology.clients.values():
            world.after(random.randrange(3 * SECOND), client.start)
            for sender in client.application.senders:
                start = partial(client.application.publish, sender, random.randint(20, 600))
                world.after(random.randrange(WAR // 2), start)
        for _ in range(random.randint(0, 10)):
            world.after(random.randrange(SECOND, WAR), self._strike)

    def _strike(self) -> None:
        fault, host = mishap(self.random, self.topology)
        self.faults += 1
        self.struck[host] = None
        fault.strike(self.topology)

    def _check(self) -> None:
        check_quiet(self.topology)
        check_isolation(self._healthy(), _AGE_MAX)

    def _healthy(self) -> list[Ledger]:
        """Return the ledgers of receivers between which and their senders nothing stood."""
        if PLANET in self.struck:
            return []
        steady = {
            name: client for name, client in self.topology.clients.items() if self._steady(client)
        }
        bursts = {one.stream: one.burst for one in self._senders()}
        lanes = self.topology.planet.config
        return [
            receiver.ledger
            for name, client in steady.items()
            for receiver in client.application.receivers
            if receiver.ledger is not None
            and not receiver.interval
            and receiver.stream.partition("/")[0] in steady
            and bursts[receiver.stream] * 8 <= lanes.lane_entries
            and bursts[receiver.stream] * 2_000 <= lanes.lane_bytes
            and bursts[receiver.stream] * 2 <= client.config.inbox_entries
        ]

    def _steady(self, client: ClientHost) -> bool:
        cable = self.topology.cable(client.name)
        return client.name not in self.struck and cable.laid == QUALITIES["fast"]

    def _outcome(self) -> Outcome:
        ledgers = [
            ledger
            for _, receiver in self.topology.receivers()
            for ledger in (*receiver.past, receiver.ledger)
            if ledger is not None
        ]
        truth = self.topology.truth
        epochs = [epoch for stream in truth.streams for epoch in truth.epochs(stream)]
        return Outcome(
            self.seed,
            self.world.story.hash,
            self.faults,
            sum(epoch.last for epoch in epochs),
            sum(ledger.events for ledger in ledgers),
            sum(ledger.dropped for ledger in ledgers),
            sum(ledger.filtered for ledger in ledgers),
            sum(ledger.gaps for ledger in ledgers),
            self.world.now // SECOND,
        )
