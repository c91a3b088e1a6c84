"""Discard: give up what waits in a lane without looking into it.

For a stream whose rows cannot be read, which is its sender's fault: how many events there were is
known, and told as a gap; their values and times are not.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from heliograph.event.block import Block
from heliograph.event.digest import Digest
from heliograph.event.event import Position
from heliograph.lane.arrival import join
from heliograph.lane.entry import Entry, Marker
from heliograph.policy.merge import merge
from heliograph.policy.stretch import reach

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heliograph.lane.lane import Lane


def discard(lane: Lane, coming: Entry | None = None) -> None:
    """Turn what a lane holds into digests, with an entry that it could not let in."""
    lane.owed.settle(lane)
    if coming is not None:
        _let_in(lane, coming)
    made: list[Entry] = []
    items = [one.item for one in lane.entries if not isinstance(one.item, Marker)]
    for epoch, group in groupby(items, key=lambda one: one.epoch):
        made += _settled(lane, epoch, group)
    lane.marks = 0
    lane.packed(made, lane.level, "unreadable")


def _let_in(lane: Lane, coming: Entry) -> None:
    """Put an entry at the tail, or what of it a failed pack had not let in yet."""
    item = coming.item
    last = lane.entries[-1] if lane.entries else coming
    there = last.last if last is not coming and last.epoch == coming.epoch else 0
    if isinstance(item, Block):
        keep = np.flatnonzero(item.numbers() > there)
        if len(keep):
            lane.append(Entry(item.with_body(keep, b"")))
    elif isinstance(item, Digest) and (there < item.upto or not isinstance(last.item, Digest)):
        lane.append(join(lane, item, coming))


def _settled(lane: Lane, epoch: int, items: Iterable[Block | Digest]) -> list[Entry]:
    """Return the digest of an epoch's items; what lies behind an open gap waits for its end."""
    after = lane.begin.number if lane.begin.epoch == epoch else 0
    reached = max(after, lane.reached.number if lane.reached.epoch == epoch else 0)
    told = Digest("", epoch, 0, 0, 0)
    held, last = 0, reached
    for item in items:
        told = replace(told, stream=item.stream)
        last = item.last if isinstance(item, Block) else item.upto
        now = reach(Position(epoch, reached), item).number
        if isinstance(item, Digest):
            told, held = _more(merge(told, item), held), 0
        else:
            told = _more(told, now - reached)
            held += item.count - (now - reached)
        reached = now
    if held:
        waiting = _more(Digest(told.stream, epoch, reached, last, 0), held)
        for one in lane.pending:
            if one.epoch == epoch:
                waiting = merge(one, waiting)
        lane.pending = (*(one for one in lane.pending if one.epoch != epoch), waiting)
    if not told.settled:
        return []
    return [Entry(replace(told, after=after, upto=reached))]


def _more(digest: Digest, lost: int) -> Digest:
    """Return a digest that counts so many more, of which nothing else is known."""
    gone = Digest(digest.stream, digest.epoch, digest.after, digest.upto, lost, gap=lost)
    return merge(digest, gone) if lost else digest
