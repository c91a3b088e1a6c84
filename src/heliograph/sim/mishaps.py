"""Mishaps: which fault strikes next in a campaign, drawn by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heliograph.sim.faults import (
    Away,
    Crash,
    Cut,
    Degrade,
    Depart,
    Freeze,
    HalfOpen,
    Repolicy,
    Reset,
    Resubscribe,
    Shutdown,
    Stall,
    Withdraw,
)
from heliograph.sim.quality import QUALITIES
from heliograph.sim.samples import POLICIES
from heliograph.sim.story import MILLISECOND
from heliograph.sim.topology import PLANET

if TYPE_CHECKING:
    from random import Random

    from heliograph.sim.faults import Fault
    from heliograph.sim.topology import Topology

_KINDS: Final = (
    "cut", "degrade", "reset", "half open", "crash", "freeze", "away", "depart", "planet", "planet",
)  # fmt: skip
# Most mishaps are short, so that sessions survive; some outlast them.
_DURATIONS: Final = ((10, 500), (500, 5_000), (500, 5_000), (5_000, 30_000))


def mishap(random: Random, topology: Topology) -> tuple[Fault, str]:
    """Return a fault, and the name of the host that it befalls."""
    name = random.choice(list(topology.clients))
    time = random.randint(*random.choice(_DURATIONS)) * MILLISECOND
    receivers = topology.clients[name].application.receivers
    kinds = [*_KINDS]
    if receivers:
        kinds += ["stall", "repolicy", "resubscribe"]
    if topology.clients[name].application.senders:
        kinds += ["withdraw"]
    kind = random.choice(kinds)
    place = random.randrange(len(receivers)) if receivers else 0
    if kind == "planet":
        return _of_planet(random, time), PLANET
    return _of_client(random, kind, name, place, time), name


def _of_planet(random: Random, time: int) -> Fault:
    faults: list[Fault] = [
        Freeze(PLANET, time // 3),
        Crash(PLANET, time // 3),
        Crash(PLANET, time // 3, power=True),
        Shutdown(PLANET, time // 3),
    ]
    return random.choice(faults)


def _of_client(random: Random, kind: str, name: str, place: int, time: int) -> Fault:
    up, down = random.choice([(True, True), (True, False), (False, True)])
    told = random.choice(["", "client", "planet"])
    coin = random.random()
    faults: dict[str, Fault] = {
        "cut": Cut(name, time, up=up, down=down),
        "degrade": Degrade(name, time, random.choice(list(QUALITIES))),
        "reset": Reset(name),
        "half open": HalfOpen(name, told, swallowing=coin < 1 / 3),
        "crash": Crash(name, time, power=coin < 1 / 2),
        "freeze": Freeze(name, time),
        "away": Away(name, time),
        "depart": Depart(name, time),
        "withdraw": Withdraw(name, 0, time),
        "stall": Stall(name, place, time),
        "repolicy": Repolicy(name, place, random.choice(list(POLICIES))),
        "resubscribe": Resubscribe(name, place),
    }
    return faults[kind]
