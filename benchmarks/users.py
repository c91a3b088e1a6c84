"""What a Python user gets: libraries with their default settings, from publish to receive."""

from __future__ import annotations

import contextlib
import math
import statistics
import time
from dataclasses import dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING

import ours
import peers
from pacing import Load
from user_ours import HelioUser
from user_peers import MqttUser, NatsUser, ZenohUser
from user_rig import play

if TYPE_CHECKING:
    from effort import Effort
    from pacing import User
    from peers import Peer
    from report import Report
    from user_rig import Seen

GOALS = {"nats-py": 5, "aiomqtt": 10, "eclipse-zenoh": 2}
P99_SECONDS = 0.010
STEADY_RATE = 1_000.0
LATE = 1.05  # A sender that takes longer than this for its events did not sustain the rate.
WARM_EVENTS = 5_000
SEARCH_FROM = 500.0
SEARCH_OVER = 1.2  # The search begins so far above what the fastest run gave.
SEARCH_SECONDS_MIN = 0.5

Sides = list[tuple["User", "Peer"]]


@dataclass(frozen=True)
class Case:
    """Who sends to whom."""

    title: str
    streams: int
    receivers: int


CASES = [
    Case("1 fast to 1", 1, 1),
    Case("1 fast to 8", 1, 8),
    Case("100 slow to 1", 100, 1),
    Case("100 slow to 8", 100, 8),
]


def users(report: Report, effort: Effort) -> None:
    """Measure all cases on all sides."""
    with contextlib.ExitStack() as stack:
        sides: Sides = [
            (NatsUser(), stack.enter_context(peers.nats())),
            (MqttUser(), stack.enter_context(peers.mosquitto())),
            (ZenohUser(), stack.enter_context(peers.zenoh())),
        ]
        sides.append((HelioUser(), stack.enter_context(ours.planet())))
        fastest = _throughput(report, sides, effort)
        _latency(report, sides, effort)
        _sustained(report, sides, effort, fastest)
        libraries = ", ".join(
            f"{user.name} {metadata.version(user.name.lower())} ({peer.name} {peer.version})"
            for user, peer in sides
            if user.name != ours.NAME
        )
        report.say(f"Versions: {libraries}.")


def _throughput(report: Report, sides: Sides, effort: Effort) -> dict[tuple[str, str], float]:
    """Measure how fast each side is; return deliveries a second by case and side."""
    report.section(
        "What a Python user gets",
        "From publish to receive, events of five attributes that begin and end as a dict (JSON in "
        "between for all but ours), one process that sends and one that receives. A slow sender "
        "is one of 100 clients that publish one event each in turn. Every event is received: a "
        "bounded number is under way (Zenoh has to be told to block, Mosquitto not to drop). "
        f"Deliveries a second: median of {effort.repeats} runs of about {effort.seconds:g} s, "
        "sides in turn.",
    )
    found: dict[tuple[str, str], float] = {}
    rows: list[list[object]] = []
    for case in CASES:
        shape = Load(0, case.streams, case.receivers)
        runs: dict[str, list[Seen]] = {user.name: [] for user, _ in sides}
        lengths = {}
        for user, peer in sides:
            warm = play(user, peer.port, replace(shape, events=WARM_EVENTS))
            lengths[user.name] = max(1_000, int(warm.rate / case.receivers * effort.seconds))
        for _ in range(effort.repeats):
            for user, peer in sides:
                load = replace(shape, events=lengths[user.name])
                runs[user.name].append(play(user, peer.port, load))
        for name, seen in runs.items():
            rates = [one.rate for one in seen]
            found[case.title, name] = statistics.median(rates)
            rows.append(
                [
                    case.title,
                    name,
                    f"{statistics.median(rates):,.0f}",
                    f"{min(rates):,.0f} to {max(rates):,.0f}",
                    "all" if all(one.complete for one in seen) else "not all",
                    _ratio(runs, name),
                    f"at least {GOALS[name]}" if name in GOALS else "-",
                ]
            )
    report.table(
        ["load", "side", "deliveries/s", "least to most", "arrived", "ours / this", "goal"], rows
    )
    return found


def _ratio(runs: dict[str, list[Seen]], name: str) -> str:
    mine = runs.get(ours.NAME)
    if mine is None or name == ours.NAME:
        return "-"
    pairs = zip(mine, runs[name], strict=True)
    return f"{statistics.median(one.rate / other.rate for one, other in pairs):.2f}"


def _latency(report: Report, sides: Sides, effort: Effort) -> None:
    """Measure latency while there is little to do."""
    report.section(
        f"Latency at {STEADY_RATE:,.0f} events/s",
        "From the call that publishes to the event in the receiver's hands, 1 to 1; median of "
        f"{effort.repeats} runs. The goal is not more than twice nats-py, for both.",
    )
    runs: dict[str, list[Seen]] = {user.name: [] for user, _ in sides}
    load = Load(int(STEADY_RATE * max(1.0, effort.seconds)), rate=STEADY_RATE)
    for _ in range(effort.repeats):
        for user, peer in sides:
            runs[user.name].append(play(user, peer.port, load))
            time.sleep(0.1)
    rows: list[list[object]] = []
    base50 = statistics.median(one.p50 for one in runs["nats-py"])
    base99 = statistics.median(one.p99 for one in runs["nats-py"])
    for name, seen in runs.items():
        p50 = statistics.median(one.p50 for one in seen)
        p99 = statistics.median(one.p99 for one in seen)
        rows.append([name, _milli(p50), _milli(p99), f"{p50 / base50:.2f}", f"{p99 / base99:.2f}"])
    report.table(["side", "p50", "p99", "p50 / nats-py", "p99 / nats-py"], rows)


def _sustained(
    report: Report, sides: Sides, effort: Effort, fastest: dict[tuple[str, str], float]
) -> None:
    """Search for the rate that each side sustains."""
    report.section(
        "Sustained rate",
        f"The highest rate of published events at which p99 stays under {P99_SECONDS * 1e3:g} ms, "
        "everything arrives, and the sender keeps to its schedule; halving the distance "
        f"{effort.steps} times between {SEARCH_FROM:g} events/s and more than the fastest run.",
    )
    rows: list[list[object]] = []
    for case in CASES:
        for user, peer in sides:
            most = SEARCH_OVER * fastest[case.title, user.name] / case.receivers
            rate, seen = _search(user, peer, case, most, effort)
            p99 = _milli(seen.p99) if seen else "-"
            rows.append([case.title, user.name, f"{rate:,.0f}", f"{rate * case.receivers:,.0f}",
                         p99])  # fmt: skip
    report.table(["load", "side", "events/s sent", "deliveries/s", "p99 there"], rows)


def _search(
    user: User, peer: Peer, case: Case, most: float, effort: Effort
) -> tuple[float, Seen | None]:
    """Halve the distance between a rate that holds and one that does not, as ratios."""
    low, high, best = 0.0, most, None
    at = SEARCH_FROM
    seconds = max(SEARCH_SECONDS_MIN, effort.seconds / 2)
    for _ in range(effort.steps):
        load = Load(int(at * seconds), case.streams, case.receivers, at)
        seen = play(user, peer.port, load)
        if not _held(seen):
            seen = play(user, peer.port, load)  # Once more: the machine may have been disturbed.
        if _held(seen):
            low, best = at, seen
        else:
            high = at
        if low == 0.0 and high <= SEARCH_FROM:
            break
        at = math.sqrt((low or SEARCH_FROM) * high)
    return low, best


def _held(seen: Seen) -> bool:
    return seen.complete and seen.late < LATE and seen.p99 < P99_SECONDS


def _milli(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"
