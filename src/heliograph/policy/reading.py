"""Reading: a policy in plain words, so that its author can see whether it says what was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heliograph.policy.model import Each, Rest

if TYPE_CHECKING:
    from heliograph.policy.model import Filter, Policy, Setting

_IS = {
    "GT": "is above {value}",
    "GE": "is {value} or above",
    "LT": "is below {value}",
    "LE": "is {value} or below",
    "EQ": "is {value}",
    "NE": "is other than {value}",
    "WITHIN": "is between {low} and {high}",
    "INSET": "is one of {values}",
    "MATCH": "matches /{pattern}/",
    "CONTAIN": "contains {value}",
    "SUBSET": "lies within {values}",
    "SUPSET": "holds all of {values}",
}
_DROPS = {
    "FIRST": "drops all but the first of the events whose {attribute} is one of {values}",
    "LAST": "drops all but the last of the events whose {attribute} is one of {values}",
    "UNIQ": "drops events whose {attribute} equals that of the event before",
    "GUNIQ": "drops all but the first event of each {attribute}",
    "DELTA": "drops events whose {attribute} differs by less than {change} "
    "from that of the last kept one",
    "LATEST": "drops all but the last {window} events",
    "EVERY": "{verb} one event out of every {n}",
}
_SAYS = {
    "MAX": "the largest {attribute}",
    "MIN": "the smallest {attribute}",
    "COUNT": "how many had a {attribute}",
    "SUM": "the sum of {attribute}",
    "MEAN": "the mean {attribute}",
    "DISTINCT": "about how many different values {attribute} had",
    "QUANTILES": "about the quartiles of {attribute}",
}
_REST = {
    Rest.NOTHING: "If that is not enough, all that waits is folded into one digest.",
    Rest.NEWEST: "If that is not enough, the newest events are kept and the oldest dropped.",
    Rest.OLDEST: "If that is not enough, the oldest events are kept and the newest dropped.",
}


def describe(one: Filter) -> str:
    """Return what a filter does, as the rest of a sentence that begins with its level."""
    words = {name: _show(value, one.name) for name, value in one.parameters}
    words["attribute"] = one.attribute or "events"
    if one.name in _IS:
        test = _IS[one.name].format(**words)
        return f"drops events whose {one.attribute} {_negated(test) if one.keeps else test}"
    if one.name == "RANDOM":
        share = float(str(one["fraction"]))
        among = f" that have a {one.attribute}" if one.attribute else ""
        return f"drops about {share * 100:g} % of the events{among} at random"
    words["verb"] = "keeps" if one.keeps else "drops"
    text = _DROPS[one.name].format(**words).replace("last 1 events", "last event")
    if one.attribute and one.name in ("LATEST", "EVERY"):
        text += f" that have a {one.attribute}"
    return text + (f", separately for each {one.by}" if one.by else "")


def _negated(test: str) -> str:
    """Turn "is above 5" into "is not above 5"."""
    verb, _, rest = test.partition(" ")
    plain = {"matches": "match", "contains": "contain", "lies": "lie", "holds": "hold"}
    return f"is not {rest}" if verb == "is" else f"does not {plain[verb]} {rest}"


def _show(value: Setting, name: str) -> str:
    if isinstance(value, tuple):
        return ", ".join(_show(member, name) for member in value) or "nothing"
    return repr(value) if isinstance(value, str) and name != "MATCH" else str(value)


def read(policy: Policy) -> list[str]:
    """Return a policy in plain words, a sentence a line."""
    lines = []
    if policy.always:
        lines += [f"Always, before anything waits: {describe(one)}." for one in policy.always]
    if policy.levels:
        lines.append("When a queue is full, as far as needed:")
    for rung, level in enumerate(policy.levels, 1):
        chain = ", then ".join(describe(one) for one in level.filters)
        lines.append(f"  level {rung} {chain}.")
    rest = _REST[policy.rest]
    if not policy.levels:
        rest = rest.replace("If that is not enough", "When a queue is full")
    lines += [rest, _summary(policy)]
    return lines


def _summary(policy: Policy) -> str:
    each = "pack" if policy.each is Each.PACK else "run of dropped events"
    said = [
        _SAYS[one.name].format(attribute=one.attribute) for one in policy.digesters if one.attribute
    ]
    more = "".join(f", {text}" for text in said)
    return f"For each {each} a digest tells how many events were dropped, from when to when{more}."
