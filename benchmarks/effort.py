"""How long and how often each thing is measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """Enough for numbers that hold; less to see that all works."""

    seconds: float = 2.0
    repeats: int = 5
    steps: int = 7  # Of a search.


QUICK = Effort(seconds=0.5, repeats=2, steps=3)
