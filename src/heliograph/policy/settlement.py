"""Settlement: put a packed lane together, so that every number is delivered or counted.

A digest settles `(after, upto]`: of these numbers those that do not arrive are exactly its `count`
plus its `filtered`. Digests of one lane settle consecutive intervals of each epoch, and a digest
stands behind the last entry that it covers.

A host downstream may meet numbers that are missing although no digest of its lane has settled them
yet: the digest that does is still on its way. What is dropped behind such a gap cannot be settled
before it; its summary is carried as *pending* until that digest comes (`absorb`). A pending digest
settles nothing: its `after` is where the gap begins, its `upto` the last number met behind it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from heliograph.event.digest import Digest
from heliograph.event.types import check_time
from heliograph.policy.digesters import parts_of
from heliograph.policy.merge import merge
from heliograph.policy.model import Each
from heliograph.policy.stretch import epochs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from heliograph.event.block import Block
    from heliograph.event.columns import Columns, Mask
    from heliograph.policy.binding import BoundPolicy
    from heliograph.policy.pack import Held
    from heliograph.policy.stretch import Stretch


@dataclass(frozen=True, slots=True)
class Sorted:
    """A decoded lane, and for each event whether it is kept, dropped, or (neither) filtered."""

    columns: Columns
    kept: Mask
    dropped: Mask


@dataclass(frozen=True, slots=True)
class Packed:
    """A lane after a pack: its entries, the level that was needed, and what is still pending."""

    entries: list[Block | Digest]
    level: int
    pending: tuple[Digest, ...] = ()


def settle(lane: Held, found: Sorted, policy: BoundPolicy, level: int) -> Packed:
    """Return the kept events and the digests that account for all others."""
    builder = _Builder(lane, found, policy)
    pending = {digest.epoch: digest for digest in lane.pending}
    for epoch, stretches in epochs_of(lane):
        after = lane.settled.number if epoch == lane.settled.epoch else 0
        builder.begin(epoch, after, pending.pop(epoch, None))
        if policy.policy.each is Each.RUN:
            builder.by_run(stretches)
        else:
            builder.at_once(stretches)
    return Packed(builder.entries, level, (*pending.values(), *builder.pending))


class _Builder:
    """Builds the entries of a packed lane, epoch by epoch."""

    def __init__(self, lane: Held, found: Sorted, policy: BoundPolicy) -> None:
        self.columns = found.columns
        self.found = found
        self.policy = policy
        self.entries: list[Block | Digest] = []
        self.pending: list[Digest] = []
        blocks = self.columns.blocks
        self.stream = lane.entries[0].stream if lane.entries else ""
        self.starts = [0, *accumulate(block.count for block in blocks)]
        self.numbers: npt.NDArray[np.int64] | None = None
        self.times: npt.NDArray[np.int64] | None = None
        self.epoch = 0
        self.after = 0
        self.carried: Digest | None = None

    def begin(self, epoch: int, after: int, carried: Digest | None) -> None:
        """Begin an epoch of which everything up to `after` has been settled."""
        self.epoch, self.after, self.carried = epoch, after, carried

    def at_once(self, stretches: list[Stretch]) -> None:
        """Make one digest of all that can be settled, behind the last event that it covers.

        Only the first digest that the lane holds stays where it is, and takes up what was dropped
        before it (unless nothing at all is kept). Were it merged with the rest at every pack, it
        would stand last again and again, and a receiver in a lasting overload would never be told.
        """
        head = stretches[0].closing
        if head is not None and self.found.kept[stretches[0].start : stretches[-1].end].any():
            first, *stretches = stretches
            self._keep(first.start, first.end)
            self._emit(self._summary(first.start, first.end, [head]), head.upto)
        *closed, tail = stretches
        start, reach = stretches[0].start, tail.reach
        edge = self._edge_of(tail)
        self._keep(start, edge)
        digests = [stretch.closing for stretch in closed if stretch.closing is not None]
        self._emit(self._summary(start, edge, digests), reach)
        self._keep(edge, tail.end)
        self._hold(edge, tail)

    def by_run(self, stretches: list[Stretch]) -> None:
        """Make a digest of each run of dropped events, as the papers do (PACK 2, Figure 3).

        Existing digests join the runs that they touch. A run behind a gap cannot be settled before
        the digest that settles the gap, and joins it.
        """
        start = stretches[0].start  # From here on nothing has been summarised.
        digests: list[Digest] = []
        upto = self.after
        for stretch in stretches:
            edge = self._edge_of(stretch)
            for first, end, kept in self._runs(stretch.start, edge):
                if not kept:
                    upto = self._number(end - 1)
                    continue
                self._emit(self._summary(start, first, digests), upto)
                start, digests = first, []
                self._keep(first, end)
                start = end
            if stretch.closing is None:
                self._emit(self._summary(start, edge, digests), upto)
                self._keep(edge, stretch.end)
                self._hold(edge, stretch)
                return
            self._keep(edge, stretch.end)
            digests.append(stretch.closing)
            upto = stretch.closing.upto

    def _runs(self, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """Yield the runs of kept and of not kept events among the places."""
        if start == end:
            return
        kept = self.found.kept[start:end]
        edges = ((kept[1:] != kept[:-1]).nonzero()[0] + 1 + start).tolist()
        for first, last in pairwise([start, *edges, end]):
            yield first, last, bool(self.found.kept[first])

    def _edge_of(self, stretch: Stretch) -> int:
        """Return the first place of a stretch whose number lies beyond its reach."""
        if not stretch.broken:
            return stretch.end
        numbers = self._numbers()[stretch.start : stretch.end]
        return stretch.start + int(numbers.searchsorted(stretch.reach, "right"))

    def _numbers(self) -> npt.NDArray[np.int64]:
        if self.numbers is None:
            self.numbers = self.columns.numbers()
        return self.numbers

    def _number(self, place: int) -> int:
        block = bisect_right(self.starts, place) - 1
        found = self.columns.blocks[block]
        if place == self.starts[block + 1] - 1:
            return found.last
        return int(self._numbers()[place])

    def _keep(self, start: int, end: int) -> None:
        """Add the kept events among the places, copied out of their blocks."""
        if start == end:
            return
        kept = self.found.kept[start:end].nonzero()[0]
        if not len(kept):
            return
        kept += start
        first = bisect_right(self.starts, kept[0]) - 1
        last = bisect_right(self.starts, kept[-1]) - 1
        cuts = kept.searchsorted(self.starts[first : last + 2]).tolist()
        for block, (low, high) in enumerate(pairwise(cuts), first):
            if low < high:
                places = kept[low:high] - self.starts[block]
                self.entries.append(self.columns.thin(block, places))

    def _summary(self, start: int, end: int, digests: Sequence[Digest]) -> Digest:
        """Merge digests with what was dropped and filtered; the result settles nothing yet."""
        merged = Digest(self.stream, self.epoch, 0, 0, 0)
        for digest in digests:
            if self.carried is not None and digest.upto > self.carried.after:
                merged = self._carried(merged)  # This is what it waits for.
            merged = merge(merged, digest)
        if start == end:
            return merged
        places = self.found.dropped[start:end].nonzero()[0]
        if len(places):
            places += start
            if self.times is None:
                self.times = self.columns.times()
            times = self.times[places]
            parts = parts_of(self.policy.digesters, self.columns, places)
            span = int(np.minimum.reduce(times)), int(np.maximum.reduce(times))
            for time in span:
                check_time(time)  # What no calendar has a digest could not tell.
            own = Digest(self.stream, self.epoch, 0, 0, len(places), 0, *span, parts)
            merged = merge(merged, own) if merged.settled else own
        if not self.policy.always:
            return merged
        filtered = end - start - len(places) - int(np.count_nonzero(self.found.kept[start:end]))
        return _with(merged, filtered=merged.filtered + filtered) if filtered else merged

    def _emit(self, summary: Digest, upto: int) -> None:
        """Add a digest that settles everything up to `upto`, if it has anything to say."""
        if summary.settled:
            self.entries.append(_with(summary, after=self.after, upto=upto))
            self.after = upto

    def _hold(self, start: int, tail: Stretch) -> None:
        """Carry over what was dropped behind a gap that nothing has settled yet."""
        if start == tail.end and self.carried is None:
            return
        summary = self._carried(self._summary(start, tail.end, []))
        if summary.settled:
            last = self._number(tail.end - 1) if start < tail.end else 0
            self.pending.append(_with(summary, after=tail.reach, upto=max(last, summary.upto)))

    def _carried(self, summary: Digest) -> Digest:
        """Merge a summary with what earlier packs left pending in this epoch, once."""
        held, self.carried = self.carried, None
        return summary if held is None else merge(held, summary)


def _with(digest: Digest, **changes: int) -> Digest:
    return msgspec.structs.replace(digest, **changes)


def bare(packed: Packed) -> Packed:
    """Return a packed lane whose digests say only how many and when."""
    entries = [
        msgspec.structs.replace(entry, parts=()) if isinstance(entry, Digest) else entry
        for entry in packed.entries
    ]
    pending = tuple(msgspec.structs.replace(held, parts=()) for held in packed.pending)
    return Packed(entries, packed.level, pending)
