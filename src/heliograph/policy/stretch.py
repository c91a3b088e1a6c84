"""Stretch: the events of a lane between two digests, and how far nothing is missing among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heliograph.event.digest import Digest
from heliograph.event.event import Position

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heliograph.event.block import Block
    from heliograph.policy.pack import Held


@dataclass(slots=True)
class Stretch:
    """The events of one epoch between two digests of a lane: places `start` to `end`.

    Up to the number `reach` nothing is missing that has not been settled; `closing` is the digest
    behind them, which settles whatever is missing among them.
    """

    start: int
    end: int
    reach: int
    closing: Digest | None = None
    broken: bool = False  # Whether anything lies beyond `reach`.


def epochs_of(lane: Held) -> Iterator[tuple[int, list[Stretch]]]:
    """Yield each epoch of a lane with its stretches, the last of which may have no closing."""
    place = 0
    epoch: int | None = None
    stretches: list[Stretch] = []
    for entry in lane.entries:
        if entry.epoch != epoch:
            if epoch is not None:
                yield epoch, stretches
            epoch = entry.epoch
            known = (lane.settled, lane.reached)
            number = max((one.number for one in known if one.epoch == epoch), default=0)
            stretches = [Stretch(place, place, number)]
        now = stretches[-1]
        if isinstance(entry, Digest):
            now.closing = entry
            stretches.append(Stretch(place, place, entry.upto))
            continue
        place += entry.count
        now.end = place
        if not now.broken:
            now.reach, now.broken = _reach(entry, now.reach)
    if epoch is not None:
        yield epoch, stretches


def reach(reached: Position, entry: Block | Digest) -> Position:
    """Return how far nothing is missing, once `entry` has been sent on behind `reached`."""
    number = reached.number if reached.epoch == entry.epoch else 0
    if isinstance(entry, Digest):
        return Position(entry.epoch, max(number, entry.upto))
    return Position(entry.epoch, _reach(entry, number)[0])


def _reach(block: Block, reach: int) -> tuple[int, bool]:
    """Return how far numbers go without a gap through a block, and whether one was met."""
    if block.first != reach + 1:
        return reach, True
    if not block.presence:
        return block.last, False
    offsets = block.offsets()
    gap = int(np.argmax(offsets != np.arange(block.count)))
    return block.first + gap - 1, True
