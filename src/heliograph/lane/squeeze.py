"""Squeeze: pack what waits in a lane, and put back what is left.

Markers part a lane: what stands between two of them is packed by itself, all at one level.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from heliograph.event.event import Position
from heliograph.lane.entry import MARKER_BYTES, Entry, Marker
from heliograph.policy.limits import Load
from heliograph.policy.pack import Held, fold, load_of, pack, pack_to_fit
from heliograph.policy.settlement import Packed

# What a pack costs however little it is of: a lane of two entries is packed with every other event.
PACK_STEPS: Final = 2_000

if TYPE_CHECKING:
    from heliograph.event.block import Block
    from heliograph.event.digest import Digest
    from heliograph.lane.lane import Lane


def pack_lane(lane: Lane, now: int, *, coming: int = 0) -> None:
    """Run the lane's policy at the level that its controller chooses, or further."""
    lane.owed.settle(lane)
    controller = lane.choose(now)
    before = lane.held_bytes
    top = lane.bound.top
    starved = lane.budget is not None and not lane.budget.spend(_cost(lane), now)
    if lane.marks:
        packed = _by_parts(lane, controller.level if not starved else top + 1, coming)
    elif starved:
        packed = fold(lane.held(), lane.bound, lane.full, coming=coming)
    else:
        packed = pack_to_fit(
            lane.held(), lane.bound, controller.level, lane.full,
            ordinal=lane.packs, goal=controller.goal, coming=coming,
        )  # fmt: skip
    controller.packed(packed.level, now)
    _put_back(lane, packed, "policy" if packed.level <= top else "budget" if starved else "worst")
    if before <= lane.bytes_max < lane.held_bytes:
        pack_lane(lane, now, coming=coming)  # What is left of it is more pieces, so it has grown.


def fold_lane(lane: Lane) -> None:
    """Turn all that waits into digests, for a link that will not take more than those."""
    lane.owed.settle(lane)
    _put_back(lane, _by_parts(lane, lane.bound.top + 1, 0), "worst")


def _put_back(lane: Lane, packed: Packed, reason: str) -> None:
    lane.pending = packed.pending
    known = {id(one.item): one for one in lane.entries}
    entries = [
        known.get(id(item)) or (item if isinstance(item, Entry) else Entry(item))
        for item in packed.entries
    ]
    lane.packed(entries, packed.level, reason)


def _cost(lane: Lane) -> int:
    """Return what a pack costs at most: the events times the filters that may run on them."""
    steps = 1 + len(lane.bound.always) + sum(len(level) for level in lane.bound.levels)
    return PACK_STEPS + lane.held_entries * steps


def _by_parts(lane: Lane, level: int, coming: int) -> Packed:
    """Pack what stands between markers, each part by itself and all at one level."""
    entries = list(lane.entries)
    edges = [at for at, one in enumerate(entries) if isinstance(one.item, Marker)]
    before = Load(lane.held_entries, lane.held_bytes + coming)
    top = lane.bound.top
    bounds, bound = {len(entries): lane.bound}, lane.bound
    for edge in reversed(edges):
        bound = entries[edge].item.bound or bound  # type: ignore[union-attr]
        bounds[edge] = bound
    for rung in range(max(1, level), top + 2):
        parts: list[Block | Digest | Entry] = []
        pending: tuple[Digest, ...] = ()
        for start, end in pairwise([-1, *edges, len(entries)]):
            one = _part(lane, entries, start, end)
            packed = pack(one, bounds[end], rung, ordinal=lane.packs)
            parts += packed.entries
            pending = packed.pending
            if end < len(entries):
                parts.append(entries[end])
        after = _load(parts)
        if rung > top or lane.full.enough(before, Load(after.entries, after.bytes + coming)):
            break
    return Packed(parts, rung, pending)  # type: ignore[arg-type]


def _part(lane: Lane, entries: list[Entry], start: int, end: int) -> Held:
    """Return the entries between two markers; what is pending belongs to the last of the parts."""
    items = [one.item for one in entries[start + 1 : end] if not isinstance(one.item, Marker)]
    last = end == len(entries)
    if start < 0:
        return Held(items, lane.begin, lane.pending if last else (), lane.reached)
    begin = Position(entries[start].epoch, entries[start].last)
    return Held(items, begin, lane.pending if last else (), begin)


def _load(parts: list[Block | Digest | Entry]) -> Load:
    items = [one for one in parts if not isinstance(one, Entry)]
    load = load_of(items)
    markers = len(parts) - len(items)
    return Load(load.entries + markers, load.bytes + markers * MARKER_BYTES)
