"""Trial: what a receiver would get of a recorded stream, and what it would cost it in time.

The measures are those of PACK's Figure 8: latency of each event, loss in each second, and the packs
with the fraction that each took. They are kept in bounded space, however long the trace is.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.block import Block
from heliograph.event.columns import Columns
from heliograph.event.errors import UsageError
from heliograph.lane.queue import NANOSECONDS, BrokerQueue, PolicyQueue, Rate, Server
from heliograph.policy.aim import Aim
from heliograph.policy.ladder import Ladder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heliograph.event.digest import Digest
    from heliograph.event.schema import Schema
    from heliograph.policy.limits import Limits
    from heliograph.policy.model import Policy

POINTS_MAX: Final = 4_096
BROKERS: Final = ("newest", "oldest")
CONTROLLERS: Final[dict[str, Any]] = {"ladder": Ladder, "aim": Aim}
_WINDOW_EVENTS_MIN: Final = 10
# Latencies are counted in buckets of this many to each doubling: within 1 % of each other.
_BUCKETS: Final = 64


class Points:
    """At most `POINTS_MAX` of many points: every one, then every second, every fourth, ..."""

    def __init__(self) -> None:
        """Begin empty."""
        self.points: list[tuple[float, float]] = []
        self._stride = 1
        self._seen = 0

    def add(self, x: float, y: float) -> None:
        """Keep a point if it is its turn."""
        if self._seen % self._stride == 0:
            self.points.append((x, y))
            if len(self.points) > POINTS_MAX:
                self.points = self.points[::2]
                self._stride *= 2
        self._seen += 1


class Windows:
    """Offered and dropped events in each second; in each two, four, ... once there are too many."""

    def __init__(self) -> None:
        """Begin empty."""
        self.seconds = 1
        self.offered = 0
        self.counts: dict[int, list[int]] = {}

    def add(self, second: float, *, offered: int = 0, dropped: int = 0) -> None:
        """Count events at a time."""
        window = self.counts.setdefault(int(second // self.seconds), [0, 0])
        self.offered += offered
        window[0] += offered
        window[1] += dropped
        if len(self.counts) > POINTS_MAX:
            self._widen()

    def _widen(self) -> None:
        self.seconds *= 2
        merged: dict[int, list[int]] = {}
        for place, (offers, drops) in self.counts.items():
            into = merged.setdefault(place // 2, [0, 0])
            into[0] += offers
            into[1] += drops
        self.counts = merged

    def loss(self) -> list[tuple[float, float]]:
        """Return each window's begin in seconds and the fraction lost of what was offered in it.

        Of a slow stream the windows are widened first: a fraction of one event says nothing.
        """
        while len(self.counts) > 1 and self.offered < _WINDOW_EVENTS_MIN * len(self.counts):
            self._widen()
        return [
            (place * self.seconds, dropped / offered if offered else 0.0)
            for place, (offered, dropped) in sorted(self.counts.items())
        ]


class Latencies:
    """How often each latency was seen, to within 1 %, in bounded space."""

    def __init__(self) -> None:
        """Begin empty."""
        self.total = 0
        self.longest = 0
        self._counts: Counter[int] = Counter()

    def add(self, latency: int) -> None:
        """Count one latency, in nanoseconds."""
        self.total += latency
        self.longest = max(self.longest, latency)
        self._counts[round(math.log2(max(1, latency)) * _BUCKETS)] += 1

    def quantile(self, rank: float) -> float | None:
        """Return the latency below which a fraction of them lies, or None where there is none."""
        left = rank * self._counts.total()
        for bucket, count in sorted(self._counts.items()):
            left -= count
            if left <= 0:
                return min(self.longest, 2 ** (bucket / _BUCKETS))
        return None


@dataclass(slots=True)
class Outcome:
    """What one queue did with a trace; latencies are in nanoseconds."""

    name: str
    start: int | None = None
    end: int = 0
    offered: int = 0
    delivered: int = 0
    dropped: int = 0
    filtered: int = 0
    told: int = 0  # Of the dropped, in digests.
    digests: int = 0
    packs: int = 0
    changes: int = 0
    level: int | None = None
    busy: int = 0
    levels: Counter[int] = field(default_factory=Counter)
    latency: Points = field(default_factory=Points)
    loss: Windows = field(default_factory=Windows)
    taken: Points = field(default_factory=Points)
    latencies: Latencies = field(default_factory=Latencies)

    def quantile(self, rank: float) -> float | None:
        """Return the latency below which the fraction `rank` of the deliveries lies, within 1 %."""
        return self.latencies.quantile(rank)

    @property
    def latency_mean(self) -> float | None:
        """The mean latency of the delivered events."""
        return self.latencies.total / self.delivered if self.delivered else None

    @property
    def latency_max(self) -> int:
        """The longest latency of a delivered event."""
        return self.latencies.longest

    @property
    def loss_fraction(self) -> float:
        """The fraction of the events that the policy was asked about and dropped."""
        wanted = self.offered - self.filtered
        return self.dropped / wanted if wanted else 0.0

    @property
    def busy_fraction(self) -> float:
        """How much of the time from the first event to the last delivery the link was in use."""
        span = self.end - (self.start or 0)
        return min(1.0, self.busy / span) if span else 0.0

    def seconds(self, now: int) -> float:
        """Return a time as seconds since the first event."""
        return (now - (self.start or 0)) / NANOSECONDS


class _Recorder:
    """Watches a queue and fills an outcome."""

    def __init__(self, outcome: Outcome, sink: Callable[[Block | Digest], None] | None) -> None:
        self.outcome = outcome
        self.sink = sink

    def arrived(self, now: int) -> None:
        one = self.outcome
        if one.start is None:
            one.start = now
        one.offered += 1
        one.end = max(one.end, now)
        one.loss.add(one.seconds(now), offered=1)

    def delivered(self, now: int, since: int, entry: Block | Digest) -> None:
        one = self.outcome
        one.end = max(one.end, now)
        if isinstance(entry, Block):
            latency = now - since
            one.delivered += 1
            one.latencies.add(latency)
            one.latency.add(one.seconds(now), latency / NANOSECONDS)
        else:
            one.digests += 1
            one.told += entry.count
            one.filtered += entry.filtered
        if self.sink is not None:
            self.sink(entry)

    def dropped(self, now: int, since: int) -> None:
        del now  # Lost is what was offered then, whenever the pack was that took it.
        self.outcome.dropped += 1
        self.outcome.loss.add(self.outcome.seconds(since), dropped=1)

    def packed(self, now: int, level: int, fraction: float) -> None:
        self.outcome.packs += 1
        self.outcome.changes += self.outcome.level not in (None, level)
        self.outcome.level = level
        self.outcome.levels[level] += 1
        self.outcome.taken.add(self.outcome.seconds(now), fraction)


class Trial:
    """Several queues that get the same events."""

    def __init__(self, limits: Limits, rate: Rate) -> None:
        """Begin without a queue."""
        self._limits, self._rate = limits, rate
        self._queues: list[tuple[PolicyQueue | BrokerQueue, Server, Outcome]] = []
        self._now: int | None = None

    def add_policy(
        self,
        name: str,
        policy: Policy,
        controller: str = "ladder",
        sink: Callable[[Block | Digest], None] | None = None,
    ) -> Outcome:
        """Add a lane under a policy; `sink` gets what the receiver gets, in order."""
        if controller not in CONTROLLERS:
            raise UsageError(f"no controller {controller!r}: {' or '.join(CONTROLLERS)}")
        outcome = Outcome(name)
        server = Server(self._rate, _Recorder(outcome, sink))
        queue = PolicyQueue(policy, CONTROLLERS[controller], self._limits, server)
        self._queues.append((queue, server, outcome))
        return outcome

    def add_broker(
        self, name: str, sink: Callable[[Block | Digest], None] | None = None
    ) -> Outcome:
        """Add a queue that does what brokers do: keep the `newest` or the `oldest`."""
        if name not in BROKERS:
            raise UsageError(f"no broker behaviour {name!r}: {' or '.join(BROKERS)}")
        outcome = Outcome(name)
        server = Server(self._rate, _Recorder(outcome, sink))
        queue = BrokerQueue(self._limits, server, newest=name == "newest")
        self._queues.append((queue, server, outcome))
        return outcome

    def offer(self, block: Block, schema: Schema) -> None:
        """Let the events of a block arrive, each at its own time; time never runs backwards."""
        times = Columns([block], schema).times().tolist()
        for place, event in enumerate(block.singles(schema)):
            now = times[place] * 1_000
            if self._now is not None:
                now = max(now, self._now)
            self._now = now
            for queue, _, _ in self._queues:
                queue.offer(now, event, schema)

    def finish(self) -> Sequence[Outcome]:
        """Drain all queues and return what each did."""
        for queue, server, outcome in self._queues:
            queue.drain(None)
            outcome.busy = server.busy
        return [outcome for _, _, outcome in self._queues]
