"""Server capacity: what a server forwards when clients cost it as little as can be."""

from __future__ import annotations

import contextlib
import statistics
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import ours
import peers
from generator import Shape, rig, run
from wires import Mqtt, Nats

if TYPE_CHECKING:
    from effort import Effort
    from peers import Peer
    from report import Report
    from wires import Wire

WARM_EVENTS = 10_000  # Deliveries of the first run, which tells how long the others have to be.
REST_SECONDS = 0.1  # Between runs, in which servers see connections go.


@dataclass(frozen=True)
class Case:
    """One row of the goals: a load, and what ours is to be compared with."""

    title: str
    shape: Shape
    rival: str
    goal: str
    ours_per_message: int = 1


CASES = [
    Case("1 to 1", Shape(), "Mosquitto", "3"),
    Case("1 to 8", Shape(fanout=8), "Mosquitto", "3"),
    Case("1 to 64", Shape(fanout=64, window=512), "Mosquitto", "3"),
    Case("1 to 1, 64 a message", Shape(), "nats-server", "1", 64),
    Case("1 to 8, 64 a message", Shape(fanout=8), "nats-server", "1", 64),
    Case("1 to 64, 64 a message", Shape(fanout=64, window=512), "nats-server", "1", 64),
    Case("100 to 100, one a write", Shape(pairs=100, per_write=1, window=32), "Mosquitto", "2"),
]


@dataclass(frozen=True)
class Run:
    """What one run found."""

    rate: float  # Deliveries a second.
    server: float  # CPU-seconds of the server, for each second.
    generator: float  # The same of the generator, which shares the machine.

    @property
    def cost(self) -> float:
        """Return CPU-seconds of the server for a million deliveries."""
        return self.server / self.rate * 1e6


def measure(wire: Wire, peer: Peer, shape: Shape, deliveries: int) -> Run:
    """Run a load once."""
    events = max(shape.per_write, deliveries // (shape.pairs * shape.fanout))
    made = rig(wire, peer.port, shape, events)
    try:
        before, own = peer.cpu(), time.process_time()
        seconds = run(made, events)
        server, generator = peer.cpu() - before, time.process_time() - own
    finally:
        made.close()
    time.sleep(REST_SECONDS)
    rate = events * shape.pairs * shape.fanout / seconds
    return Run(rate, server / seconds, generator / seconds)


def load(report: Report, effort: Effort) -> None:
    """Measure all cases on all sides."""
    report.section(
        "Server capacity",
        "100-byte events as pre-encoded bytes over plain sockets, from one generator that is the "
        "same for all sides and shares the machine with the server. Every event is delivered: a "
        "sender has a bounded number under way, and deliveries are counted. One event is one "
        "message, many messages stand in one write, but for the last case, in which each event is "
        "a write of its own. Where it says so, our messages hold 64 events, and nats-server gets "
        "the same events one by one. Sides take turns; median of "
        f"{effort.repeats} runs of about {effort.seconds:g} s (least to most). CPU is seconds of "
        "all of a process's threads for each second: where the generator's is near 1, it and not "
        "the server is the limit.",
    )
    with contextlib.ExitStack() as stack:
        sides: list[tuple[Wire, Peer]] = [
            (Mqtt(), stack.enter_context(peers.mosquitto())),
            (Nats(), stack.enter_context(peers.nats())),
        ]
        sides.append((ours.Helio(), stack.enter_context(ours.planet())))
        rows: list[list[object]] = []
        for case in CASES:
            rows += _case(case, sides, effort)
        report.table(
            ["load", "side", "deliveries/s", "least to most", "server CPU", "generator CPU",
             "CPU-s per million", "ours / this", "goal"],
            rows,
        )  # fmt: skip
        versions = ", ".join(f"{peer.name} {peer.version}".strip() for _, peer in sides)
        report.say(f"Versions: {versions}.")


def _case(case: Case, sides: list[tuple[Wire, Peer]], effort: Effort) -> list[list[object]]:
    taking = [one for one in sides if one[0].name in (case.rival, ours.NAME)]
    if case.ours_per_message == 1:
        taking = sides
    shapes = {
        wire.name: replace(
            case.shape, per_message=case.ours_per_message if wire.name == ours.NAME else 1
        )
        for wire, _ in taking
    }
    lengths = {}
    for wire, peer in taking:
        warm = measure(wire, peer, shapes[wire.name], WARM_EVENTS)
        # A second one, long enough to tell: the first has connections that are still slow.
        warm = measure(wire, peer, shapes[wire.name], int(warm.rate * effort.seconds / 4))
        lengths[wire.name] = int(warm.rate * effort.seconds)
    runs: dict[str, list[Run]] = {wire.name: [] for wire, _ in taking}
    for _ in range(effort.repeats):
        for wire, peer in taking:
            runs[wire.name].append(measure(wire, peer, shapes[wire.name], lengths[wire.name]))
    return [_row(case, name, runs) for name in runs]


def _row(case: Case, name: str, runs: dict[str, list[Run]]) -> list[object]:
    rates = [one.rate for one in runs[name]]
    ratio = "-"
    if ours.NAME in runs and name != ours.NAME:
        # Of runs side by side, so that what disturbs both cancels out.
        pairs = zip(runs[ours.NAME], runs[name], strict=True)
        ratio = f"{statistics.median(mine.rate / other.rate for mine, other in pairs):.2f}"
    return [
        case.title,
        name,
        f"{statistics.median(rates):,.0f}",
        f"{min(rates):,.0f} to {max(rates):,.0f}",
        f"{statistics.median(one.server for one in runs[name]):.2f}",
        f"{statistics.median(one.generator for one in runs[name]):.2f}",
        f"{statistics.median(one.cost for one in runs[name]):.2f}",
        ratio,
        f"at least {case.goal}" if name == case.rival else "-",
    ]
