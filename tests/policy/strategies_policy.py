"""What Hypothesis draws for the tests of policies: filters, policies, streams and lanes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from hypothesis import strategies as st

from heliograph.event import arrow
from heliograph.event.block import Block, block_of
from heliograph.event.columns import Columns
from heliograph.event.digest import Digest, Part
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.event.types import Type, fit, show_time
from heliograph.policy.catalogue import DIGESTERS, FILTERS, Shape
from heliograph.policy.digesters import parts_of
from heliograph.policy.document import loads
from heliograph.policy.pack import Held
from policy import twin_pack
from policy.twin import Entry, One, Told
from strategies import values_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heliograph.policy.binding import BoundPolicy
    from heliograph.policy.model import Policy

STREAM: Final = "s"
TAGS: Final = ("a", "b", "c")
Kinds = dict[str, Type]


@st.composite
def kinds_of(draw: st.DrawFn, tags: Sequence[str] = TAGS, *, plain: bool = False) -> Kinds:
    """Draw the type of each tag; plain ones are those that most policies are about."""
    some = [Type.INT64, Type.FLOAT64, Type.STRING]
    return {tag: draw(st.sampled_from(some if plain else list(Type))) for tag in tags}


def stored(kind: Type) -> st.SearchStrategy[Any]:
    """Draw a value as rows store it."""
    return values_of(kind).map(lambda value: fit(value, kind))


@st.composite
def pools(draw: st.DrawFn, kinds: Kinds) -> dict[str, list[Any]]:
    """Draw a few values for each tag, so that values meet again; null is among them."""
    return {
        tag: [None, *draw(st.lists(stored(kind), min_size=1, max_size=4))]
        for tag, kind in kinds.items()
    }


def literal_of(kind: Type, pool: Sequence[Any]) -> st.SearchStrategy[Any]:
    """Draw a parameter that can be compared with values of a type, often one of them."""
    members = [one for value in pool for one in (value if isinstance(value, list) else [value])]
    held = [value for value in members if value is not None and _finite(value)]
    near = st.sampled_from(held) if held else st.nothing()
    match kind.element:
        case Type.TIMESTAMP:
            return (near | stored(Type.TIMESTAMP)).map(show_time)
        case Type.INT64:
            return near | st.integers(-9, 9) | st.sampled_from([0.5, -2.5, 2.0**53, 1e300, -1e300])
        case Type.FLOAT64:
            return near | st.integers(-9, 9) | st.sampled_from([0.5, -0.0, "inf", "-inf"])
        case Type.BOOL:
            return st.booleans()
    return near | st.sampled_from(["", "a", "true", "2026-01-31"])


def _finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


PATTERNS: Final = ["", "^a", "a|0", "[0-9]+", "(?i)N", "."]


@st.composite
def filters(
    draw: st.DrawFn, kinds: Kinds, pool: dict[str, list[Any]], *, alone: bool = False
) -> dict[str, Any]:
    """Draw the document of a filter that can be bound to the attributes."""
    able: list[tuple[str, str | None]] = [
        (name, tag)
        for name, kind in FILTERS.items()
        for tag in (*kinds, *(() if kind.needs_attribute else (None,)))
        if (tag is None or kinds[tag] in kind.types) and (kind.alone or not alone)
    ]
    name = draw(st.sampled_from(sorted({name for name, _ in able})))
    tag = draw(st.sampled_from([tag for one, tag in able if one == name]))
    kind = FILTERS[name]
    held: st.SearchStrategy[Any] = st.nothing()
    if tag is not None:
        held = literal_of(kinds[tag], pool[tag])
    shapes: dict[Shape, st.SearchStrategy[Any]] = {
        Shape.LITERAL: held,
        Shape.LITERALS: st.lists(held, min_size=1, max_size=4),
        Shape.NUMBER: st.sampled_from([1, 0.5, 5, 2.5, 1e-300, 1e300, 2**53]),
        Shape.COUNT: st.integers(1, 5) | st.just(2**62),
        Shape.FRACTION: st.sampled_from([0, 0.1, 0.5, 0.9, 1]),
        Shape.SEED: st.integers(0, 3),
        Shape.PATTERN: st.sampled_from(PATTERNS),
    }
    found: dict[str, Any] = {"name": name} | ({} if tag is None else {"attribute": tag})
    for parameter in kind.parameters:
        if parameter.required or draw(st.booleans()):
            found[parameter.name] = draw(shapes[parameter.shape])
    if (
        tag is not None
        and name == "WITHIN"
        and _key(found["low"], kinds[tag]) > _key(found["high"], kinds[tag])
    ):
        found["low"], found["high"] = found["high"], found["low"]
    if name in ("SUBSET", "SUPSET") and draw(st.integers(0, 3)) == 0:
        found["values"] = []
    if kind.by and draw(st.booleans()):
        found["by"] = draw(st.sampled_from(sorted(kinds)))
    if kind.action is not None and draw(st.booleans()):
        found["action"] = draw(st.sampled_from(["keep", "drop"]))
    return found


def _key(value: Any, kind: Type) -> Any:
    return float(value) if kind.is_number and isinstance(value, str) else _text(value, kind)


def _text(value: Any, kind: Type) -> Any:
    return str(value) if kind is Type.STRING else value


@st.composite
def digesters(draw: st.DrawFn, kinds: Kinds, *, sketches: bool = False) -> list[dict[str, str]]:
    """Draw the documents of some different digesters."""
    able = [
        {"name": name, "attribute": tag}
        for name, kind in DIGESTERS.items()
        for tag, one in kinds.items()
        if one in kind.types and (sketches or name not in ("DISTINCT", "QUANTILES"))
    ]
    able.append({"name": "COUNT"})
    return draw(st.lists(st.sampled_from(able), max_size=4, unique_by=json.dumps))


@st.composite
def documents(
    draw: st.DrawFn, kinds: Kinds, pool: dict[str, list[Any]], *, sketches: bool = False
) -> dict[str, Any]:
    """Draw the document of a whole policy, as JSON has it."""
    levels: list[dict[str, Any]] = [
        {"filters": draw(st.lists(filters(kinds, pool), min_size=1, max_size=2))}
        for _ in range(draw(st.integers(0, 3)))
    ]
    if draw(st.integers(0, 3)) == 0:
        always = draw(st.lists(filters(kinds, pool, alone=True), min_size=1, max_size=2))
        levels.insert(0, {"always": True, "filters": always})
    summary: dict[str, Any] = {"digesters": draw(digesters(kinds, sketches=sketches))}
    if draw(st.booleans()):
        summary["each"] = draw(st.sampled_from(["run", "pack"]))
    rest = {"rest": draw(st.sampled_from(["nothing", "newest", "oldest"]))}
    return {"levels": levels, "summary": summary} | (rest if draw(st.booleans()) else {})


def policy_of(document: dict[str, Any]) -> Policy:
    return loads(json.dumps(document))


@dataclass
class Stream:
    """What a lane holds, as the twin has it: events and digests in their order."""

    kinds: Kinds
    pool: dict[str, list[Any]]
    lane: twin_pack.Lane

    @property
    def schema(self) -> Schema:
        return Schema.declare(self.kinds)

    @property
    def events(self) -> list[One]:
        return [entry for entry in self.lane.entries if isinstance(entry, One)]


@st.composite
def events_of(
    draw: st.DrawFn,
    pool: dict[str, list[Any]],
    *,
    epoch: int = 1,
    first: int = 1,
    min_size: int = 0,
    max_size: int,
) -> list[One]:
    """Draw events with consecutive numbers and times that need not rise."""
    places = st.tuples(*(st.sampled_from(values) for values in pool.values()))
    rows = draw(st.lists(places, min_size=min_size, max_size=max_size))
    times = draw(st.lists(st.integers(0, 99), min_size=len(rows), max_size=len(rows)))
    return [
        One(epoch, number, time, dict(zip(pool, row, strict=True)))
        for number, (row, time) in enumerate(zip(rows, times, strict=True), first)
    ]


@st.composite
def streams(
    draw: st.DrawFn,
    *,
    plain: bool = False,
    min_size: int = 0,
    max_size: int = 16,
    whole: bool = False,
) -> Stream:
    """Draw a lane over one to three epochs, with digests of what was dropped upstream.

    What upstream dropped behind its last digest is a gap: that digest is still on its way.
    """
    kinds = draw(kinds_of(plain=plain))
    pool = draw(pools(kinds))
    start = draw(st.sampled_from([0, 100]))
    gone = draw(st.integers(0, 3))  # Sent on already, as events.
    entries: list[Entry] = []
    epochs = draw(st.integers(1, 3))
    for epoch in range(1, epochs + 1):
        first = start + gone + 1 if epoch == 1 else 1
        sizes = {"min_size": min_size, "max_size": max_size}
        events = draw(events_of(pool, epoch=epoch, first=first, **sizes))
        after = start if epoch == 1 else 0
        entries += draw(_thinned(events, after, closed=whole or epoch < epochs))
    return Stream(kinds, pool, twin_pack.Lane(entries, (1, start), [], (1, start + gone)))


@st.composite
def _thinned(draw: st.DrawFn, events: list[One], after: int, *, closed: bool) -> list[Entry]:
    """Let an upstream host drop some of the events, and put its digests between the others."""
    found: list[Entry] = []
    dropped: list[One] = []
    filtered = 0
    fate = st.sampled_from(["kept"] * 5 + ["dropped", "filtered"])
    for place, one in enumerate(events):
        word = draw(fate)
        if word == "kept":
            found.append(one)
        elif word == "dropped":
            dropped.append(one)
        else:
            filtered += 1
        end = closed and place == len(events) - 1
        if (dropped or filtered) and (end or draw(st.integers(0, 4)) == 0):
            found.append(Told(one.epoch, after, one.number, tuple(dropped), filtered))
            after, dropped, filtered = one.number, [], 0
    return found


def block(events: Sequence[One], schema: Schema, *, columns: bool = False) -> Block:
    """Return a block of events of the twin."""
    rows = [[one.values.get(tag) for tag in schema.index] for one in events]
    made = block_of(
        STREAM,
        events[0].epoch,
        [one.number for one in events],
        [one.time for one in events],
        rows,
        schema,
    )
    return arrow.to_columns(made, schema) if columns else made


def digest(told: Told, bound: BoundPolicy) -> Digest:
    """Return a digest of the twin as another host with this policy would have made it."""
    times = [one.time for one in told.dropped]
    parts: tuple[Part, ...] = ()
    if told.dropped:
        columns = Columns([block(told.dropped, bound.schema)], bound.schema)
        parts = parts_of(bound.digesters, columns, np.arange(columns.count))
    return Digest(
        STREAM,
        told.epoch,
        told.after,
        told.upto,
        len(told.dropped),
        told.filtered,
        min(times, default=None),
        max(times, default=None),
        parts,
    )


@st.composite
def cut(draw: st.DrawFn, entries: Sequence[Entry], bound: BoundPolicy) -> list[Block | Digest]:
    """Draw one way in which the entries of a lane may stand in blocks, of rows and of columns."""
    found: list[Block | Digest] = []
    run: list[One] = []

    def flush() -> None:
        if run:
            found.append(block(run, bound.schema, columns=draw(st.booleans())))
            run.clear()

    for entry in entries:
        if isinstance(entry, Told):
            flush()
            found.append(digest(entry, bound))
            continue
        if run and (run[-1].epoch != entry.epoch or draw(st.integers(0, 2)) == 0):
            flush()
        run.append(entry)
    flush()
    return found


@st.composite
def lanes(draw: st.DrawFn, stream: Stream, bound: BoundPolicy) -> Held:
    """Draw a lane that holds what the twin's lane holds."""
    lane = stream.lane
    return Held(
        draw(cut(lane.entries, bound)), Position(*lane.settled), (), Position(*lane.reached)
    )


def known(columns: Columns, tag: str) -> list[Any]:
    """Return the values of an attribute, None where there is none or NaN."""
    column = columns.column(tag)
    mask = [True] * columns.count if column.known is None else column.known.tolist()
    values = column.tolist()
    return [value if there else None for value, there in zip(values, mask, strict=True)]
