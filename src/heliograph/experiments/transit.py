"""Transit: what went over a thin link in one run, simulated or real, and what that amounts to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heliograph.event.errors import UsageError
from heliograph.experiments.load import EVENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heliograph.lane.lane import Lane

SECOND: Final = 1_000_000_000
# With fewer packs than that, a mean over them says little.
PACKS_MIN: Final = 3
# Steady, after so many times as long as it took to fill the lane: a controller has settled by then.
WARM_LANES: Final = 6


class TooShortError(UsageError):
    """A run was too short to measure anything."""


@dataclass(slots=True)
class Transit:
    """One run over one link; times are nanoseconds of the run's clock."""

    queue: str
    seed: int = 0
    published: list[int] = field(default_factory=list)
    events: list[tuple[int, int, int]] = field(default_factory=list)  # Arrived, sent, number.
    packs: list[tuple[int, int, float]] = field(default_factory=list)  # When, level, part taken.
    received: list[tuple[int, int]] = field(default_factory=list)  # When, bytes so far.
    under_way: list[tuple[int, int]] = field(default_factory=list)  # When, bytes.
    digests: list[tuple[int, int]] = field(default_factory=list)  # Arrived, bytes on the wire.
    missing: int = 0  # How many events neither arrived nor were counted by a digest.
    bulk: float = 0.0  # Bits a second of bulk TCP on the same link.
    begin: int = 0  # The part that is measured.
    end: int = 0

    def settle(self) -> None:
        """Set the part that is measured: from a pack to a pack, once all has become steady.

        At a pack the lane is full. So from one to another as much was dropped and sent as was
        published, and what is counted in between needs no share of a turn.

        Raises:
            TooShortError: There are not enough packs for that.
        """
        first, last = self.published[0], self.published[-1]
        filled = self.packs[0][0] - first if self.packs else last - first
        inside = [at for at, _, _ in self.packs if at >= first + WARM_LANES * filled]
        if len(inside) < PACKS_MIN:
            raise TooShortError(
                f"{self.queue} was packed {len(inside)} times once it was steady, and {PACKS_MIN} "
                "are needed: give it more --seconds"
            )
        self.begin, self.end = inside[0], inside[-1]

    @property
    def offered(self) -> float:
        """What was published in the measured part, as frames, in bits a second."""
        count = sum(self.begin <= one < self.end for one in self.published)
        return count * EVENT_BYTES * 8 * SECOND / (self.end - self.begin)

    @property
    def goodput(self) -> float:
        """What TCP handed to the receiver's client, in bits a second: bulk TCP is counted so."""
        first, last = self._received_by(self.begin), self._received_by(self.end)
        return (last - first) * 8 * SECOND / (self.end - self.begin)

    def _received_by(self, when: int) -> float:
        times, sizes = zip(*self.received, strict=True)
        return float(np.interp(when, times, sizes))

    @property
    def loss(self) -> float:
        """The part that did not come: of as many as were published, how many fewer arrived."""
        came = sum(self.begin <= at < self.end for at, _, _ in self.events)
        return 1 - came / max(1, sum(self.begin <= at < self.end for at in self.published))

    @property
    def least_loss(self) -> float:
        """What would be lost if the link carried what bulk TCP carries: 1 - goodput/offered."""
        return max(0.0, 1 - self.bulk / self.offered)

    @property
    def excess(self) -> float:
        """What was lost beyond that."""
        return self.loss - self.least_loss

    @property
    def share(self) -> float:
        """The goodput, as a part of what bulk TCP gets."""
        return self.goodput / self.bulk

    @property
    def told(self) -> float:
        """What the digests took on the wire, as a part of what was offered."""
        size = sum(size for at, size in self.digests if self.begin <= at < self.end)
        return size * 8 * SECOND / (self.end - self.begin) / self.offered

    @property
    def seconds(self) -> float:
        """How long the measured part is."""
        return (self.end - self.begin) / SECOND

    def latencies(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the latency of each event that arrived in the measured part, in seconds."""
        found = [at - sent for at, sent, _ in self.events if self.begin <= at < self.end]
        return np.array(found, np.float64) / SECOND

    @property
    def latency(self) -> float:
        """The mean of them."""
        return float(np.mean(self.latencies()))

    @property
    def beyond(self) -> float:
        """The mean of the bytes beyond the policy's reach."""
        return float(np.mean([size for at, size in self.under_way if self.begin <= at < self.end]))

    @property
    def beyond_most(self) -> int:
        """The most of them."""
        return max(size for at, size in self.under_way if self.begin <= at < self.end)

    def levels(self) -> Counter[int]:
        """Return how many packs were done at each level."""
        return Counter(level for at, level, _ in self.packs if self.begin <= at < self.end)

    def parts(self, level: int) -> list[float]:
        """Return which part of the lane each pack at a level took."""
        return [
            part for at, one, part in self.packs if one == level and self.begin <= at < self.end
        ]

    def losses(self) -> tuple[list[float], list[float]]:
        """Return each second of the run, and the part lost of what was published in it."""
        numbers = {number for _, _, number in self.events}
        lost: dict[int, list[int]] = {}
        for number, at in enumerate(self.published, 1):
            one = lost.setdefault((at - self.published[0]) // SECOND, [0, 0])
            one[0] += 1
            one[1] += number not in numbers
        return [float(at) for at in lost], [gone / offered for offered, gone in lost.values()]


class PackWatch:
    """Looks at a lane after each event, and notes the packs that were done meanwhile."""

    def __init__(self, packs: list[tuple[int, int, float]]) -> None:
        """Begin before the first pack; notes go into `packs`."""
        self._packs = packs
        self._seen = 0
        self._dropped = 0

    def look(self, lane: Lane, now: int) -> None:
        """Note the pack that an event made necessary."""
        if lane.packs == self._seen:
            return
        dropped = sum(lane.dropped.values())
        taken = dropped - self._dropped
        self._packs.append((now, lane.level, taken / max(1, taken + lane.held_entries)))
        self._seen, self._dropped = lane.packs, dropped


def mean_of(transits: Sequence[Transit], name: str) -> float:
    """Return the mean over several runs of one of their measures."""
    return float(np.mean([getattr(one, name) for one in transits]))
