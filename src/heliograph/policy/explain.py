"""Explain: what each filter of a policy would do to a recorded stream, alone and in its place.

PACK 7 found that two of six filters did nearly all the work, and asked programmers to study their
streams; this is that study. A trace is taken as a row of full lanes, since filters judge lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np

from heliograph.event.columns import Columns
from heliograph.policy.binding import BoundFilter, BoundPolicy, bind

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from heliograph.event.block import Block
    from heliograph.event.schema import Schema
    from heliograph.policy.model import Filter, Policy

# A filter is shadowed when it drops less than this share of what it would drop alone, and of what
# it meets: an event or two is chance.
SHADOWED: Final = 0.05
# An order is worth a change when it takes less than this part of the time.
CHEAPER: Final = 0.9
# Comparing every filter with every other costs their product.
COMPARED_MAX: Final = 64


@dataclass(slots=True)
class FilterReport:
    """What one filter did; `level` is 0 for an always level, and costs are in nanoseconds."""

    level: int
    place: int
    filter: Filter
    seen: int = 0  # By itself it sees everything, in its place what the ones before it left.
    met: int = 0
    alone: int = 0
    dropped: int = 0
    cost: int = 0
    cost_alone: int = 0
    overlap: dict[int, int] = field(default_factory=dict)
    note: str = ""

    @property
    def share_alone(self) -> float:
        """The fraction of all events that it would drop by itself."""
        return self.alone / self.seen if self.seen else 0.0

    @property
    def share(self) -> float:
        """The fraction of the events that reach it, and that it drops."""
        return self.dropped / self.met if self.met else 0.0

    @property
    def cost_per_event(self) -> float:
        """What one event costs, in nanoseconds."""
        return self.cost / self.met if self.met else 0.0


@dataclass(slots=True)
class Explanation:
    """The reports of all filters in their order, and what to do about them."""

    filters: list[FilterReport]
    events: int
    lanes: int
    kept: list[int]  # After each level, the always level first where there is one.
    advice: list[str]


class Explainer:
    """Runs the filters of a policy over the lanes of a trace.

    `clock` returns nanoseconds; it comes in, because this room knows no time.
    """

    def __init__(self, policy: Policy, lane: int, clock: Callable[[], int]) -> None:
        """Begin with nothing seen; a lane has so many events."""
        self._policy, self._lane, self._clock = policy, lane, clock
        chains = ([(0, policy.always)] if policy.always else []) + [
            (rung, level.filters) for rung, level in enumerate(policy.levels, 1)
        ]
        self._reports = [
            FilterReport(level, place, one)
            for level, filters in chains
            for place, one in enumerate(filters, 1)
        ]
        self._kept = {report.level: 0 for report in self._reports}
        self._bound: BoundPolicy | None = None
        self._waiting: list[Block] = []
        self._events = 0
        self._lanes = 0

    def offer(self, block: Block, schema: Schema) -> None:
        """Add a block of the trace; full lanes are run at once."""
        if self._bound is None or self._bound.schema is not schema:
            self._bound = bind(self._policy, schema)
        held = sum(one.count for one in self._waiting)
        while held + block.count >= self._lane:
            need = self._lane - held
            if need == block.count:
                self._run([*self._waiting, block], self._bound)
                self._waiting = []
                return
            head, block = block.split(need, schema)
            self._run([*self._waiting, head], self._bound)
            self._waiting, held = [], 0
        self._waiting.append(block)

    def _run(self, blocks: list[Block], bound: BoundPolicy) -> None:
        columns = Columns(blocks, bound.schema)
        filters = [*bound.always, *(one for level in bound.levels for one in level)]
        compare = len(filters) <= COMPARED_MAX
        drops: list[npt.NDArray[np.bool_]] = []
        kept = None
        for place, (report, one) in enumerate(zip(self._reports, filters, strict=True)):
            begin = self._clock()
            alone = self._alone(one, columns, self._ordinal(report))
            report.cost_alone += self._clock() - begin
            report.seen += columns.count
            report.alone += int(alone.sum())
            met = columns.count if kept is None else len(kept)
            start = self._clock()
            kept = one.run(columns, kept, self._ordinal(report))
            report.cost += self._clock() - start
            report.met += met
            report.dropped += met - len(kept)
            if compare:
                for earlier, theirs in enumerate(drops):
                    both = int((alone & theirs).sum())
                    report.overlap[earlier] = report.overlap.get(earlier, 0) + both
                drops.append(alone)
            if place + 1 == len(filters) or self._reports[place + 1].level != report.level:
                self._kept[report.level] += len(kept)
        self._events += columns.count
        self._lanes += 1

    def _ordinal(self, report: FilterReport) -> int:
        """Return the pack that RANDOM takes a lane for; an always level runs before any."""
        return self._lanes if report.level else 0

    @staticmethod
    def _alone(one: BoundFilter, columns: Columns, ordinal: int) -> npt.NDArray[np.bool_]:
        keep = one.mask(columns, ordinal)
        return np.logical_not(keep, out=keep)

    def finish(self) -> Explanation:
        """Run what is left of the trace as a last, smaller lane, and draw the conclusions."""
        if self._waiting and self._bound is not None:
            self._run(self._waiting, self._bound)
            self._waiting = []
        for report in self._reports:
            report.note = _note(report, self._reports)
        advice = [line for report in self._reports for line in _advice(report)]
        advice += _order(self._reports)
        return Explanation(
            self._reports, self._events, self._lanes, list(self._kept.values()), advice
        )


def _note(report: FilterReport, reports: list[FilterReport]) -> str:
    if not report.alone:
        return "never acts"
    if report.dropped <= SHADOWED * report.alone and report.share <= SHADOWED:
        by = max(report.overlap, key=lambda place: report.overlap[place], default=None)
        if by is not None and report.overlap[by]:
            earlier = reports[by]
            return f"shadowed by {_name(earlier)}"
        return "shadowed by those before it"
    return ""


def _name(report: FilterReport) -> str:
    where = "always" if report.level == 0 else f"level {report.level}"
    return f"{where} {report.filter.name}"


def _advice(report: FilterReport) -> list[str]:
    if not report.note:
        return []
    if report.note == "never acts":
        return [f"{_name(report)} never acts on this trace: check its values, or delete it"]
    return [f"{_name(report)} is {report.note}: it adds cost and drops almost nothing more"]


def _order(reports: list[FilterReport]) -> list[str]:
    """Suggest an order within each level, of neighbours that judge each event alone.

    Only these give the same result in any order; and the order of the levels is the receiver's
    will, which no measurement can improve.
    """
    advice, choice = [], False
    for level, group in groupby(reports, lambda report: report.level):
        for alone, run in groupby(group, lambda report: report.filter.kind.alone):
            chain = list(run)
            choice = choice or (alone and len(chain) > 1)
            best = sorted(chain, key=_worth, reverse=True)
            if alone and _time(best) < CHEAPER * _time(chain):
                names = ", then ".join(_short(report) for report in best)
                where = "the always level" if level == 0 else f"level {level}"
                advice.append(f"in {where} a cheaper order with the same result is {names}")
    if not choice:
        return ["no filters of one level could change places, and the order of the levels is yours"]
    return advice or ["no other order of the filters within a level would be cheaper"]


def _worth(report: FilterReport) -> float:
    """Return how much a filter drops for its cost; what drops much for little goes first."""
    return report.share_alone * report.seen / max(report.cost_alone, 1)


def _time(chain: list[FilterReport]) -> float:
    """Return about what a chain costs an event, as if its filters dropped independently."""
    left, cost = 1.0, 0.0
    for report in chain:
        cost += left * report.cost_alone / max(report.seen, 1)
        left *= 1 - report.share_alone
    return cost


def _short(report: FilterReport) -> str:
    tag = f" {report.filter.attribute}" if report.filter.attribute else ""
    return f"{report.filter.name}{tag}"
