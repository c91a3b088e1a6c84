"""Shown: what receivers took and what lanes hold, in the few words that a scenario records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heliograph.event.block import Block
from heliograph.policy.digesters import result

if TYPE_CHECKING:
    from heliograph.event.digest import Digest, Part
    from heliograph.sim.topology import Topology
    from heliograph.sim.truth import Truth

# So many runs and digests are shown of one step; of the others only how many they are.
_FIRST: Final = 3
_LAST: Final = 2


class Taken:
    """What one receiver took during a step."""

    def __init__(self, client: str, stream: str, truth: Truth) -> None:
        """Begin with nothing."""
        self.truth = truth
        self.client = client
        self.stream = stream
        self._parts: list[Digest | list[int]] = []

    def add(self, entries: list[Block | Digest]) -> None:
        """Add entries; events behind one another become one run."""
        for entry in entries:
            if not isinstance(entry, Block):
                self._parts.append(entry)
                continue
            last = self._parts[-1] if self._parts else None
            if isinstance(last, list) and last[0] == entry.epoch:
                last[2] = entry.last
                last[3] += entry.count
            else:
                self._parts.append([entry.epoch, entry.first, entry.last, entry.count])

    def lines(self) -> list[str]:
        """Return what was taken, a line for each run of events and each digest."""
        shown = [self._show(part) for part in self._parts]
        if len(shown) > _FIRST + _LAST:
            between = len(shown) - _FIRST - _LAST
            shown[_FIRST:-_LAST] = [f"... and {between} more runs and digests"]
        return [f"{self.client} takes of {self.stream}: {part}" for part in shown]

    def _of(self, epoch: int) -> str:
        ordinal = self.truth.ordinal(self.stream, epoch)
        return f" of epoch {ordinal}" if ordinal > 1 else ""

    def _show(self, part: Digest | list[int]) -> str:
        if isinstance(part, list):
            epoch, first, last, count = part
            of = "" if count == last - first + 1 else f", {count} of them"
            return f"{first}-{last}{of}{self._of(epoch)}"
        of = self._of(part.epoch)
        text = f"digest of {part.after + 1}-{part.upto}{of}: {part.count} dropped"
        if part.filtered:
            text += f", {part.filtered} filtered"
        if part.gap:
            text += f", {part.gap} of them in a gap"
        parts = [f"{one.digester} {one.attribute} {_value(one)}" for one in part.parts]
        return "; ".join([text, *parts])


def _value(part: Part) -> str:
    value = result(part)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def show_lanes(topology: Topology) -> list[str]:
    """Return the planet's lanes, a line for each."""
    core = topology.planet.core
    if core is None:
        return []
    lanes = core.status(topology.world.now)["lanes"]
    return [
        f"the lane of {lane['stream']} to {lane['name']} holds {lane['entries']} of "
        f"{lane['capacity_entries']}, level {lane['level']} of {lane['top']}; "
        f"{lane['packs']} packs, {lane['delivered']} delivered, "
        f"{sum(lane['dropped'].values())} dropped"
        for lane in lanes
    ]
