"""Quality: how good the cable between two hosts is, and names for the usual ones."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from heliograph.event.errors import UsageError
from heliograph.sim.story import MILLISECOND, SECOND

SEGMENT_BYTES: Final = 1_460
UNITS: Final = {"ns": 1, "us": 1_000, "ms": MILLISECOND, "s": SECOND, "min": 60 * SECOND}
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ns|us|ms|s|min)")


@dataclass(frozen=True, slots=True)
class Quality:
    """What a cable does to the bytes on it, alike in both directions but for the rate.

    `up` is the rate away from the host that connects, `down` the rate towards it, in bits a second.
    """

    latency: int  # One way, in nanoseconds.
    up: int
    down: int
    jitter: int = 0  # At most so much more latency, drawn for each segment.
    loss: float = 0.0  # Of segments; seen as a delay of what follows, as TCP shows it.
    buffer: int = 4_096  # Bytes that the sending kernel holds before it has no more room.

    def __post_init__(self) -> None:
        """Refuse a cable on which nothing could ever arrive."""
        if min(self.up, self.down) <= 0:
            raise UsageError("a cable carries at least one bit a second in each direction")
        if not 0 <= self.loss < 1:
            raise UsageError(f"a cable loses a part from 0 to below 1, not {self.loss}")

    def rate(self, direction: int) -> int:
        """Return the bits a second in direction 0 (up) or 1 (down)."""
        return self.down if direction else self.up

    def duration(self, direction: int, size: int) -> int:
        """Return how long so many bytes take to leave, in nanoseconds."""
        return -(-size * 8 * SECOND // self.rate(direction))

    def window(self, direction: int) -> int:
        """Return how many bytes may be on their way: twice what the cable holds, as TCP finds out.

        A receiver that stops reading has so many bytes in its kernel.
        """
        held = self.rate(direction) * (2 * self.latency + self.jitter) // (8 * SECOND)
        return 2 * held + 4 * SEGMENT_BYTES


FAST: Final = Quality(latency=MILLISECOND, up=10**8, down=10**8, buffer=65_536)
# A cable between racks would need no simulation; these need it.
QUALITIES: Final = {
    "fast": FAST,
    "wifi": Quality(3 * MILLISECOND, 20_000_000, 20_000_000, 4 * MILLISECOND, 0.01, 16_384),
    "mobile": Quality(40 * MILLISECOND, 1_000_000, 4_000_000, 60 * MILLISECOND, 0.02, 8_192),
    "far": Quality(150 * MILLISECOND, 10_000_000, 10_000_000, 5 * MILLISECOND, 0.001, 16_384),
    "thin": Quality(20 * MILLISECOND, 50_000, 50_000, buffer=2_048),
    "lossy": Quality(20 * MILLISECOND, 500_000, 500_000, 10 * MILLISECOND, 0.1, 4_096),
}


def quality(text: str) -> Quality:
    """Return a quality by its name, with changes behind it: `thin latency=5ms loss=0.1`.

    Raises:
        UsageError: There is no such quality, or no such property of one.
    """
    name, *changes = text.split()
    if name not in QUALITIES:
        raise UsageError(f"there is no quality {name!r}; the names are {', '.join(QUALITIES)}")
    found = QUALITIES[name]
    for change in changes:
        key, _, value = change.partition("=")
        if key in ("latency", "jitter"):
            found = replace(found, **{key: duration(value)})
        elif key in ("up", "down", "buffer"):
            found = replace(found, **{key: int(value)})
        elif key == "loss":
            found = replace(found, loss=float(value))
        else:
            raise UsageError(f"a quality has no {key!r}: latency, jitter, up, down, loss, buffer")
    return found


def duration(text: str) -> int:
    """Return nanoseconds from a text such as `20ms`, `1.5s` or `2min`.

    Raises:
        UsageError: It is no duration.
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise UsageError(f"{text!r} is no duration; write it as 20ms, 1.5s or 2min")
    return round(float(found[1]) * UNITS[found[2]])
