"""Returns: what clients that came and went found when they came back."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from heliograph.experiments.transit import SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Returns:
    """One run with so many receivers."""

    seed: int
    published: int
    # Of each receiver: seconds from each attach to its first buffered event.
    delays: list[list[float]] = field(default_factory=list)
    lost: int = 0  # Numbers that never came, at any receiver.
    doubled: int = 0  # Events that came twice, or out of their order.

    def enter(self, attached: Sequence[int], events: Sequence[tuple[int, int, int]]) -> None:
        """Enter a receiver: when it attached, and what it got as (arrived, sent, number).

        What comes first after an attach is the oldest that waited: nothing comes while detached.
        """
        arrived = [at for at, _, _ in events]
        places = [bisect_left(arrived, at) for at in attached]
        self.delays.append(
            [
                (arrived[place] - at) / SECOND
                for at, place in zip(attached, places, strict=True)
                if place < len(arrived)
            ]
        )
        numbers = [number for _, _, number in events]
        last = 0
        for number in numbers:
            if number <= last:
                self.doubled += 1
            last = max(last, number)
        self.lost += self.published - len(set(numbers))
