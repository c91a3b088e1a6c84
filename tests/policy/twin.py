"""The slow, obvious twin of the policy room: plain Python over lists, written from DESIGN.md.

Nothing here knows blocks, columns or numpy. Where ours keeps a summary, the twin keeps the dropped
events themselves, and asks them only at the end.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from heliograph.event.types import Type, microseconds, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heliograph.policy.model import Digester, Filter, Literal

ABSENT = object()


@dataclass(frozen=True)
class One:
    """An event: its values as rows store them, a timestamp in microseconds."""

    epoch: int
    number: int
    time: int
    values: dict[str, Any]


@dataclass(frozen=True)
class Told:
    """A digest: the dropped events that it stands for, and how many were filtered."""

    epoch: int
    after: int
    upto: int
    dropped: tuple[One, ...] = ()
    filtered: int = 0

    @property
    def settled(self) -> int:
        return len(self.dropped) + self.filtered


Entry = One | Told


# The filters, one by one.


def value_of(one: One, tag: str) -> Any:
    """Return a value, or ABSENT where there is none, a null or NaN."""
    value = one.values.get(tag)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ABSENT
    return value


def key_of(value: Any) -> Any:
    """Return what is equal where two values are; lists are sets, and NaN in one equals nothing."""
    if isinstance(value, list):
        if any(isinstance(member, float) and math.isnan(member) for member in value):
            return object()
        return frozenset(value)
    return value


def typed(parameter: Literal, kind: Type) -> Any:
    """Return a parameter as a value of the attribute."""
    match kind.element:
        case Type.STRING:
            text = str(parameter)
            return text.lower() if isinstance(parameter, bool) else text
        case Type.TIMESTAMP:
            return microseconds(parse_time(str(parameter)))
        case Type.BOOL:
            return parameter in (True, "true")
        case _ if isinstance(parameter, str) or kind.element is Type.FLOAT64:
            return float(parameter)
    return parameter


def selected(one: Filter, value: Any, kind: Type) -> bool:
    """Say whether a filter that judges each event alone selects a value."""

    def given(name: str) -> Any:
        return typed(one[name], kind)  # type: ignore[arg-type]

    def several() -> set[Any]:
        values = one["values"]
        assert isinstance(values, tuple)
        return {typed(member, kind) for member in values}

    tests: dict[str, Callable[[], bool]] = {
        "GT": lambda: value > given("value"),
        "GE": lambda: value >= given("value"),
        "LT": lambda: value < given("value"),
        "LE": lambda: value <= given("value"),
        "EQ": lambda: value == given("value"),
        "NE": lambda: value != given("value"),
        "WITHIN": lambda: given("low") <= value <= given("high"),
        "INSET": lambda: value in several(),
        "MATCH": lambda: re.search(str(one["pattern"]), value) is not None,
        "CONTAIN": lambda: given("value") in value,
        "SUBSET": lambda: set(value) <= several(),
        "SUPSET": lambda: set(value) >= several(),
    }
    return bool(tests[one.name]())


def ends(one: Filter, group: list[tuple[Any, Any]], kind: Type) -> list[bool]:
    values = one["values"]
    assert isinstance(values, tuple)
    wanted = [typed(member, kind) for member in values]
    members = [place for place, (value, _) in enumerate(group) if value in wanted]
    kept = members[:1] if one.name == "FIRST" else members[-1:]
    return [place in members and place not in kept for place in range(len(group))]


def uniq(_one: Filter, group: list[tuple[Any, Any]], _kind: Type) -> list[bool]:
    keys = [key_of(value) for value, _ in group]
    return [place > 0 and keys[place] == keys[place - 1] for place in range(len(keys))]


def guniq(_one: Filter, group: list[tuple[Any, Any]], _kind: Type) -> list[bool]:
    keys = [key_of(value) for value, _ in group]
    return [keys[place] in keys[:place] for place in range(len(keys))]


def delta(one: Filter, group: list[tuple[Any, Any]], _kind: Type) -> list[bool]:
    change = one["change"]
    assert isinstance(change, int | float)
    drop = []
    kept: Any = None
    for value, _ in group:
        drop.append(kept is not None and near(value, kept, change))
        kept = kept if drop[-1] else value
    return drop


def near(value: float, kept: float, change: float) -> bool:
    """Say whether two values differ by less than `change`; floats by their rounded bounds."""
    if isinstance(value, int):
        return abs(value - kept) < Fraction(change)
    return value == kept or kept - change < value < kept + change


def latest(one: Filter, group: list[tuple[Any, Any]], _kind: Type) -> list[bool]:
    window = one["window"]
    assert isinstance(window, int)
    return [len(group) - place > window for place in range(len(group))]


def every(one: Filter, group: list[tuple[Any, Any]], _kind: Type) -> list[bool]:
    n = one["n"]
    assert isinstance(n, int)
    return [(place % n == 0) != keeps(one) for place in range(len(group))]


def keeps(one: Filter) -> bool:
    """Say what becomes of the selected: each filter has its default (the table of DESIGN.md)."""
    if one.action is not None:
        return one.action == "keep"
    return one.name in ("GT", "GE", "LT", "LE", "EQ", "NE", "EVERY")


GROUPED: dict[str, Callable[[Filter, list[tuple[Any, Any]], Type], list[bool]]] = {
    "FIRST": ends,
    "LAST": ends,
    "UNIQ": uniq,
    "GUNIQ": guniq,
    "DELTA": delta,
    "LATEST": latest,
    "EVERY": every,
}


def randomly(one: Filter, event: One, stream: str, place: tuple[int, int], ordinal: int) -> bool:
    """Decide by hash(seed, level and place in it, stream, epoch, number, ordinal)."""
    fraction, seed = one["fraction"], one.get("seed", 0)
    assert isinstance(fraction, int | float)
    text = f"{seed}:{place[0]}:{place[1]}:{event.epoch}:{ordinal}:{stream}"
    key = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
    whole = 2**64
    bits = (event.number * 0x9E3779B97F4A7C15 + key) % whole
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % whole
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % whole
    return Fraction(bits ^ bits >> 31) < Fraction(fraction) * whole


def dropped_by(
    one: Filter,
    events: list[One],
    kinds: dict[str, Type],
    *,
    stream: str = "s",
    place: tuple[int, int] = (1, 1),
    ordinal: int = 0,
) -> list[bool]:
    """Say of each event whether a filter drops it."""
    drop = [False] * len(events)
    groups: dict[Any, list[int]] = {}
    for at, event in enumerate(events):
        value = None if one.attribute is None else value_of(event, one.attribute)
        group = None if one.by is None else value_of(event, one.by)
        if value is not ABSENT and group is not ABSENT:
            groups.setdefault(key_of(group), []).append(at)
    kind = kinds[one.attribute] if one.attribute is not None else Type.BOOL
    for places in groups.values():
        if one.name == "RANDOM":
            verdicts = [randomly(one, events[at], stream, place, ordinal) for at in places]
        else:
            judged = [(events[at].values.get(one.attribute or ""), at) for at in places]
            if one.name in GROUPED:
                verdicts = GROUPED[one.name](one, judged, kind)
            else:
                verdicts = [selected(one, value, kind) != keeps(one) for value, _ in judged]
        for at, verdict in zip(places, verdicts, strict=True):
            drop[at] = verdict
    return drop


# The digesters.


def said(digester: Digester, dropped: Iterable[One], kinds: dict[str, Type]) -> tuple[int, Any]:
    """Return how many values were known, and what a digester says of them."""
    if not digester.attribute:
        return len(list(dropped)), None
    found = (value_of(one, digester.attribute) for one in dropped)
    values = [value for value in found if value is not ABSENT]
    if not values:
        return 0, None
    add = sum if kinds[digester.attribute] is Type.INT64 else added
    says: dict[str, Callable[[list[Any]], Any]] = {
        "MAX": max,
        "MIN": min,
        "SUM": add,
        "MEAN": add,
        "COUNT": lambda _: None,
        "DISTINCT": lambda some: len(set(some)),
        "QUANTILES": sorted,
    }
    return len(values), says[digester.name](values)


def added(values: list[float]) -> float:
    """Add floats exactly; infinities as plain addition has them."""
    if not all(map(math.isfinite, values)):
        return (
            math.fsum([value for value in values if math.isinf(value)])
            if one_way(values)
            else (math.nan)
        )
    total = sum(map(Fraction, values))
    try:
        return float(total)
    except OverflowError:
        return math.copysign(math.inf, total)


def one_way(values: list[float]) -> bool:
    return not (math.inf in values and -math.inf in values)
