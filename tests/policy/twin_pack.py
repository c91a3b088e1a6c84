"""The slow, obvious twin of a pack: level by level over a list of entries, then settled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from policy.twin import Entry, One, Told, dropped_by

if TYPE_CHECKING:
    from heliograph.event.types import Type
    from heliograph.policy.model import Policy


@dataclass
class Result:
    """A packed lane: its entries, and what is pending in each epoch, by where its gap begins."""

    entries: list[Entry] = field(default_factory=list)
    pending: list[Told] = field(default_factory=list)


@dataclass
class Lane:
    """A lane as the twin has it; positions are (epoch, number)."""

    entries: list[Entry]
    settled: tuple[int, int] = (0, 0)
    pending: list[Told] = field(default_factory=list)
    reached: tuple[int, int] = (0, 0)


def fates(
    lane: Lane, policy: Policy, kinds: dict[str, Type], level: int, ordinal: int, stream: str
) -> dict[tuple[int, int], str]:
    """Say of each event whether it is kept, dropped or filtered."""
    events = [entry for entry in lane.entries if isinstance(entry, One)]
    fate = {(one.epoch, one.number): "kept" for one in events}
    chains = [(0, policy.always, 0, "filtered")]
    chains += [
        (rung, one.filters, ordinal, "dropped") for rung, one in enumerate(policy.levels[:level], 1)
    ]
    for rung, filters, turn, word in chains:
        for place, one in enumerate(filters, 1):
            drop = dropped_by(one, events, kinds, stream=stream, place=(rung, place), ordinal=turn)
            for event, gone in zip(events, drop, strict=True):
                if gone:
                    fate[event.epoch, event.number] = word
            events = [event for event, gone in zip(events, drop, strict=True) if not gone]
    if level > len(policy.levels):
        fate |= {(one.epoch, one.number): "dropped" for one in events}
    return fate


def pack(
    lane: Lane,
    policy: Policy,
    kinds: dict[str, Type],
    level: int,
    *,
    ordinal: int = 0,
    stream: str = "s",
) -> Result:
    """Run the levels up to `level` over a lane, and settle what they drop."""
    fate = fates(lane, policy, kinds, level, ordinal, stream)
    result = Result()
    waiting = {held.epoch: held for held in lane.pending}
    for epoch in dict.fromkeys(entry.epoch for entry in lane.entries):
        entries = [entry for entry in lane.entries if entry.epoch == epoch]
        after = lane.settled[1] if lane.settled[0] == epoch else 0
        reach = max(after, lane.reached[1] if lane.reached[0] == epoch else 0)
        settle = by_run if policy.each == "run" else at_once
        settle(result, epoch, entries, fate, after, reach, waiting.pop(epoch, None))
    result.pending = [*waiting.values(), *result.pending]
    return result


def together(epoch: int, after: int, upto: int, parts: list[Entry], fate: Any) -> Told:
    """Return one digest of other digests, and of the dropped and filtered among events."""
    dropped: list[One] = []
    filtered = 0
    for part in parts:
        if isinstance(part, Told):
            dropped += part.dropped
            filtered += part.filtered
        elif fate[epoch, part.number] == "dropped":
            dropped.append(part)
        elif fate[epoch, part.number] == "filtered":
            filtered += 1
    return Told(epoch, after, upto, tuple(dropped), filtered)


def hold(result: Result, told: Told) -> None:
    if told.settled:
        result.pending.append(told)


def at_once(
    result: Result,
    epoch: int,
    entries: list[Entry],
    fate: Any,
    after: int,
    reach: int,
    held: Told | None,
) -> None:
    """One digest of everything up to the first number that nothing accounts for.

    The first digest of the lane stays where it is, unless nothing is kept at all.
    """
    digests = [entry for entry in entries if isinstance(entry, Told)]
    if digests and kept(entries, fate):
        place = entries.index(digests[0]) + 1
        head, entries = entries[:place], entries[place:]
        stays, *digests = digests
        if held is not None and stays.upto > held.after:
            head, held = [held, *head], None
        result.entries += kept(head, fate)
        result.entries.append(together(epoch, after, stays.upto, head, fate))
        after = reach = stays.upto
    reach = max([reach, *(digest.upto for digest in digests)])
    events = {entry.number: entry for entry in entries if isinstance(entry, One)}
    gap = reach
    while gap + 1 in events:
        gap += 1
    before: list[Entry] = [one for number, one in events.items() if number <= gap]
    behind: list[Entry] = [one for number, one in events.items() if number > gap]
    if held is not None:
        answered = any(digest.upto > held.after for digest in digests)
        (before if answered else behind).append(held)
    told = together(epoch, after, gap, [*digests, *before], fate)
    result.entries += kept(before, fate)
    if told.settled:
        result.entries.append(told)
    result.entries += kept(behind, fate)
    last = max((part.number if isinstance(part, One) else part.upto for part in behind), default=0)
    hold(result, together(epoch, gap, last, behind, fate))


def kept(entries: list[Entry], fate: Any) -> list[Entry]:
    return [
        one for one in entries if isinstance(one, One) and fate[one.epoch, one.number] == "kept"
    ]


def by_run(  # noqa: C901 - one small state machine
    result: Result,
    epoch: int,
    entries: list[Entry],
    fate: Any,
    after: int,
    reach: int,
    held: Told | None,
) -> None:
    """One digest for each run of dropped events and digests; a run behind a gap waits for it."""
    run: list[Entry] = []
    upto, broken = after, False

    def flush() -> None:
        nonlocal run, after
        told = together(epoch, after, upto, run, fate)
        if told.settled:
            result.entries.append(told)
            after = upto
        run = []

    def take(told: Told) -> None:
        nonlocal held, reach, upto, broken
        if held is not None and told.upto > held.after:
            run.append(held)
            held = None
        run.append(told)
        reach = upto = told.upto
        broken = False

    for place, entry in enumerate(entries):
        if isinstance(entry, Told):
            take(entry)
            continue
        if not broken and entry.number != reach + 1:
            broken = True
            if not any(isinstance(later, Told) for later in entries[place:]):
                flush()  # Nothing in this lane settles the gap: what is before it need not wait.
        if not broken:
            reach = entry.number
        if fate[epoch, entry.number] == "kept":
            if not broken:
                flush()
            result.entries.append(entry)
        else:
            run.append(entry)
            upto = upto if broken else entry.number
    if not broken:
        flush()
    if held is not None:
        run.append(held)
    numbers = [part.number if isinstance(part, One) else part.upto for part in [*entries, *run]]
    hold(result, together(epoch, reach, max(numbers, default=0), run, fate))
