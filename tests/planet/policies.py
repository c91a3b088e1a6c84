"""Policies that the tests of planets and clients subscribe with."""

from __future__ import annotations

from typing import Final

from heliograph.policy.builtin import NEWEST, OLDEST
from heliograph.policy.model import Filter, Level, Policy

EVERY: Final = Policy((Level((Filter("EVERY", (("n", 2),)),)),))
# The reason why a stream of numbers denies this one.
TEXT: Final = Policy((Level((Filter("MATCH", (("pattern", "x"),), "n"),)),))


def above(threshold: int, count: int = 1) -> Policy:
    """Return a policy that keeps what is at least so high; `count` makes it long."""
    return Policy((Level((Filter("GE", (("value", threshold),), "n"),) * count),))


__all__ = ["EVERY", "NEWEST", "OLDEST", "TEXT", "above"]
