"""Limits: what a lane may hold, when it is full, and how much a pack must free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from heliograph.event.errors import UsageError

# One digest and one event: a lane of less cannot be packed.
ENTRIES_MIN: Final = 2
BYTES_MIN: Final = 512


class Load(NamedTuple):
    """How many entries (events and digests) a lane holds, and how many bytes."""

    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Limits:
    """The capacity of a lane in entries, in bytes, or both.

    `least` is the part of whatever is full that a pack must free. One entry at a time would make
    packing quadratic and let one policy stall a planet; a sixteenth lets RANDOM 10 % pass.
    """

    entries: int | None = 1_024
    bytes: int | None = None
    least: float = 1 / 16

    def __post_init__(self) -> None:
        """Refuse a lane that could hold nothing, or that has no bound."""
        if self.entries is None and self.bytes is None:
            raise UsageError("a lane has a capacity in entries, in bytes, or both")
        if self.entries is not None and self.entries < ENTRIES_MIN:
            raise UsageError(f"a lane holds at least {ENTRIES_MIN} entries, not {self.entries}")
        if self.bytes is not None and self.bytes < BYTES_MIN:
            raise UsageError(f"a lane holds at least {BYTES_MIN} bytes, not {self.bytes}")
        if not 0 < self.least <= 1:
            raise UsageError(f"a pack frees a part above 0 and up to 1, not {self.least}")

    def filled(self, part: float) -> Limits:
        """Return the limits at which a part of this capacity counts as full."""
        if part >= 1:
            return self
        entries = None if self.entries is None else max(ENTRIES_MIN, int(self.entries * part))
        size = None if self.bytes is None else max(BYTES_MIN, int(self.bytes * part))
        return Limits(entries, size, self.least)

    def full(self, load: Load, coming: int = 1) -> bool:
        """Say whether a lane has no room for one more entry of so many bytes."""
        return (self.entries is not None and load.entries >= self.entries) or (
            self.bytes is not None and load.bytes + coming > self.bytes
        )

    def over(self, load: Load) -> bool:
        """Say whether a lane holds more bytes than it may: an entry was larger than it."""
        return self.bytes is not None and load.bytes > self.bytes

    def enough(self, before: Load, after: Load, goal: float = 0.0) -> bool:
        """Say whether a pack freed its least, or a higher goal, of each thing that was full."""
        part = max(self.least, goal)
        for limit, was, now in zip((self.entries, self.bytes), before, after, strict=True):
            if limit is None or was < limit:
                continue
            if now > limit or now > was - max(1, limit * part):
                return False
        return True

    def pressure(self, before: Load, after: Load) -> float:
        """Return which part of its limit a lane still holds, of what was full and is fullest."""
        parts = [
            now / limit
            for limit, was, now in zip((self.entries, self.bytes), before, after, strict=True)
            if limit is not None and was >= limit
        ]
        return max(parts, default=0.0)

    def room(self, load: Load) -> Load:
        """Return what a lane may hold after a pack that frees just its least."""
        kept = [
            was
            if limit is None or was < limit
            else min(limit, int(was - max(1, limit * self.least)))
            for limit, was in zip((self.entries, self.bytes), load, strict=True)
        ]
        return Load(*kept)
