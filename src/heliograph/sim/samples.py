"""Samples: the events that simulated senders publish, and the policies that receivers ask for.

What an event holds follows from its stream, epoch and number alone, so that whoever receives it can
say whether it is still what was published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heliograph.event.schema import Schema
from heliograph.policy.build import (
    delta,
    digester,
    eq,
    every,
    ge,
    inset,
    latest,
    policy,
    random,
    uniq,
    within,
)
from heliograph.policy.builtin import NEWEST, OLDEST, latest_per

if TYPE_CHECKING:
    from heliograph.policy.model import Policy

SCHEMA: Final = Schema.declare(
    {"ward": "string", "pulse": "int64", "warmth": "float64", "alarm": "int64"}
)
WARDS: Final = ("north", "east", "south", "west")
ALARM: Final = 105
# A stream whose key ends so has an open schema, which grows behind so many events.
GROWING: Final = "+"
GROWS_AT: Final = 40
# The policies by the name that scenarios and stories give them; "none" is the worst case only.
POLICIES: Final[dict[str, Policy | None]] = {
    "none": None,
    "oldest": OLDEST,
    "newest": NEWEST,
    "latest-per-ward": latest_per("ward"),
    "pulse": policy(
        "pulse",
        delta(5),
        within(55, 105),
        latest(10),
        summary=[digester("MEAN"), digester("MAX"), digester("MIN")],
    ),
    "halves": policy(None, every(2), every(4), latest(4), summary=digester("COUNT")),
    "chance": policy(None, random(0.3, seed=7), random(0.6, seed=8)),
    "alarms": policy("alarm", eq(1), summary=digester("COUNT")),
    "runs": policy("pulse", within(60, 100), uniq(), each="run", summary=digester("SUM")),
    "feverish": policy("warmth", latest(20), always=ge(37.0), summary=digester("MEAN")),
    "one-ward": policy("ward", uniq(), always=inset(["east", "west"]), summary=[]),
    # Not QUANTILES: with more than 200 values it forgets some at random, each time others.
    "sketch": policy("pulse", delta(20), summary=[digester("DISTINCT")]),
}


def values_of(stream: str, epoch: int, number: int) -> dict[str, Any]:
    """Return what an event holds; a pulse that wanders, and now and then an alarm."""
    turn = number * 37 + epoch * 11 + len(stream)
    pulse = 60 + abs(turn % 90 - 45) + turn * 7_919 % 5
    alarm = int(pulse > ALARM)
    values: dict[str, Any] = {"ward": WARDS[turn // 3 % 4], "pulse": pulse, "alarm": alarm}
    if turn % 10:
        values["warmth"] = 36 + (turn % 25) / 10
    if stream.endswith(GROWING):
        # What an open schema has to grow for: an integer that becomes a fraction, and a new tag.
        values["dose"] = number if number <= GROWS_AT else number + 0.5
        if number > 2 * GROWS_AT:
            values["note"] = f"note {number}"
    return values
