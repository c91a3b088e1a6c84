"""Build: policies in Python, with the names and the checks of the documents.

    policy("PulseRate", delta(5), within(50, 100), latest(10), summary=[digester("MEAN")])

Each positional argument is a level: one filter, or a list of filters that run in a chain.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from heliograph.event.errors import PolicyError
from heliograph.event.types import microseconds, show_time
from heliograph.policy.document import policy_of
from heliograph.policy.element import Element

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heliograph.policy.model import Literal, Policy

    Value = Literal | datetime

_LINE = 0  # What is built in Python has no lines.


def policy(
    attribute: str | None = None,
    *levels: Element | Sequence[Element],
    always: Element | Sequence[Element] | None = None,
    summary: Element | Iterable[Element] = (),
    each: str = "pack",
    rest: str = "nothing",
) -> Policy:
    """Return a policy of levels; `attribute` is that of all filters and digesters naming none.

    Raises:
        PolicyError: As for a document that says the same.
    """
    if attribute is not None and not isinstance(attribute, str):
        raise PolicyError(
            "the first argument is the attribute of all filters, or None: policy(None, every(2))"
        )
    root = _element("policy", attribute=attribute, rest=rest)
    if always is not None:
        root.children.append(_level(always, always=True))
    root.children += [_level(level) for level in levels]
    whole = _element("summary", each=each)
    whole.children = _members(summary, "digester")
    root.children.append(whole)
    return policy_of(root)


def _level(filters: Element | Sequence[Element], *, always: bool = False) -> Element:
    level = _element("level", always=always)
    level.children = _members(filters, "filter")
    return level


def _members(given: Element | Iterable[Element], kind: str) -> list[Element]:
    """Return one or several elements as a list, and refuse what is none."""
    members = _several(given)
    for one in members if isinstance(members, tuple) else (members,):
        if not isinstance(one, Element):
            hint = ": call it" if callable(one) else ""
            raise PolicyError(
                f"expected a {kind} made by a function of this module, got {one!r:.60}{hint}"
            )
    return list(members) if isinstance(members, tuple) else [members]


def _several(given: Any) -> Any:
    """Return what holds several values as a tuple of them; a text is one value."""
    many = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    return tuple(given) if many else given


def _element(kind: str, /, **fields: Any) -> Element:
    found = {key: (_setting(value), _LINE) for key, value in fields.items() if value is not None}
    return Element(kind, _LINE, found)


def _setting(value: Any) -> Any:
    """Return a value, or several, as a document would have it."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise PolicyError(f"{value!r} has no time zone: give it one, such as datetime.UTC")
        return show_time(microseconds(value))
    several = _several(value)
    return tuple(map(_setting, several)) if isinstance(several, tuple) else value


def _filter(name: str, **fields: Any) -> Element:
    return _element("filter", name=name, **fields)


def gt(value: Value, *, attribute: str | None = None, action: str | None = None) -> Element:
    """Keep the events whose value is above `value`."""
    return _filter("GT", value=value, attribute=attribute, action=action)


def ge(value: Value, *, attribute: str | None = None, action: str | None = None) -> Element:
    """Keep the events whose value is `value` or above."""
    return _filter("GE", value=value, attribute=attribute, action=action)


def lt(value: Value, *, attribute: str | None = None, action: str | None = None) -> Element:
    """Keep the events whose value is below `value`."""
    return _filter("LT", value=value, attribute=attribute, action=action)


def le(value: Value, *, attribute: str | None = None, action: str | None = None) -> Element:
    """Keep the events whose value is `value` or below."""
    return _filter("LE", value=value, attribute=attribute, action=action)


def eq(value: Value, *, attribute: str | None = None, action: str | None = None) -> Element:
    """Keep the events whose value equals `value`."""
    return _filter("EQ", value=value, attribute=attribute, action=action)


def ne(value: Value, *, attribute: str | None = None, action: str | None = None) -> Element:
    """Keep the events whose value does not equal `value`."""
    return _filter("NE", value=value, attribute=attribute, action=action)


def within(
    low: Value, high: Value, *, attribute: str | None = None, action: str | None = None
) -> Element:
    """Drop the events from `low` to `high`, both included."""
    return _filter("WITHIN", low=low, high=high, attribute=attribute, action=action)


def inset(
    values: Iterable[Value], *, attribute: str | None = None, action: str | None = None
) -> Element:
    """Drop the events whose value is one of `values`."""
    return _filter("INSET", values=values, attribute=attribute, action=action)


def match(pattern: str, *, attribute: str | None = None, action: str | None = None) -> Element:
    """Drop the events in whose value an RE2 regular expression is found."""
    return _filter("MATCH", pattern=pattern, attribute=attribute, action=action)


def contain(value: Value, *, attribute: str | None = None, action: str | None = None) -> Element:
    """Drop the events whose set contains `value`."""
    return _filter("CONTAIN", value=value, attribute=attribute, action=action)


def subset(
    values: Iterable[Value], *, attribute: str | None = None, action: str | None = None
) -> Element:
    """Drop the events whose set lies within `values`."""
    return _filter("SUBSET", values=values, attribute=attribute, action=action)


def supset(
    values: Iterable[Value], *, attribute: str | None = None, action: str | None = None
) -> Element:
    """Drop the events whose set holds all of `values`."""
    return _filter("SUPSET", values=values, attribute=attribute, action=action)


def first(
    values: Iterable[Value], *, attribute: str | None = None, by: str | None = None
) -> Element:
    """Of the events whose value is one of `values`, drop all but the first."""
    return _filter("FIRST", values=values, attribute=attribute, by=by)


def last(
    values: Iterable[Value], *, attribute: str | None = None, by: str | None = None
) -> Element:
    """Of the events whose value is one of `values`, drop all but the last."""
    return _filter("LAST", values=values, attribute=attribute, by=by)


def uniq(*, attribute: str | None = None, by: str | None = None) -> Element:
    """Drop the events that equal the one before."""
    return _filter("UNIQ", attribute=attribute, by=by)


def guniq(*, attribute: str | None = None, by: str | None = None) -> Element:
    """Drop all but the first event of each value."""
    return _filter("GUNIQ", attribute=attribute, by=by)


def delta(change: float, *, attribute: str | None = None, by: str | None = None) -> Element:
    """Drop the events that differ by less than `change` from the last kept one."""
    return _filter("DELTA", change=change, attribute=attribute, by=by)


def latest(window: int, *, attribute: str | None = None, by: str | None = None) -> Element:
    """Drop all but the last `window` events."""
    return _filter("LATEST", window=window, attribute=attribute, by=by)


def every(
    n: int, *, attribute: str | None = None, by: str | None = None, action: str | None = None
) -> Element:
    """Keep the events at the positions 0, n, 2n, ..."""
    return _filter("EVERY", n=n, attribute=attribute, by=by, action=action)


def random(fraction: float, *, seed: int | None = None, attribute: str | None = None) -> Element:
    """Drop about a fraction of the events."""
    return _filter("RANDOM", fraction=fraction, seed=seed, attribute=attribute)


def digester(name: str, attribute: str | None = None) -> Element:
    """Return a digester by its name: MAX MIN COUNT SUM MEAN DISTINCT QUANTILES."""
    return _element("digester", name=name, attribute=attribute)
