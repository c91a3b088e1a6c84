"""Load: the events that the experiments send, all of one size on the wire, and their policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heliograph.event.block import BOOKKEEPING_BYTES, HEADER_BYTES
from heliograph.event.schema import Schema
from heliograph.policy import build
from heliograph.wire.frames import EVENT_HEAD

if TYPE_CHECKING:
    from heliograph.policy.model import Policy

STREAM: Final = "load"
# When an event was published, by the clock of the run, and what makes it as long as it must be.
SCHEMA: Final = Schema.declare({"sent": "int64", "pad": "string"})
# A row's own bytes: its array, its time (up to an hour from the base), `sent`, the text's head.
_ROW_BYTES: Final = 1 + 5 + 9 + 2
# An event of FIGURES.md: on a link of 50 Kbit/s, one each 30 ms is one third more than it takes.
EVENT_BYTES: Final = 250
EVENT_INTERVAL: Final = 30_000_000
THIN_RATE: Final = 50_000
# What a packet costs beside its payload: Ethernet, IP, and TCP with its times.
HEAD_BYTES: Final = 14 + 20 + 32
# The levels of PACK's Figure 8: what each drops of what the one below it has left.
FRACTIONS: Final = (0.10, 0.25, 0.50)


def padding(size: int = EVENT_BYTES) -> str:
    """Return what makes the frame of an event so many bytes long."""
    return "." * max(0, size - EVENT_HEAD.size - _ROW_BYTES)


def values(sent: int, pad: str) -> dict[str, Any]:
    """Return the values of one event."""
    return {"sent": sent, "pad": pad}


def capacity(events: int, size: int = EVENT_BYTES) -> int:
    """Return how many bytes a lane counts for so many events."""
    return events * (size - HEADER_BYTES + BOOKKEEPING_BYTES + 4)


def levels(each: str = "pack", seed: int = 0) -> Policy:
    """Return the policy of PACK's Figure 8, with one digest for each pack, or for each run."""
    return build.policy(None, *(build.random(one, seed=seed) for one in FRACTIONS), each=each)


def tail(events: int, receiver: int = 0) -> Policy:
    """Return a policy that drops 10, 25, 50 % from the tail of a lane of so many events.

    The papers call LATEST a filter that drops at the tail. The windows of each receiver are
    shorter by one event than those of the one before, so that no two policies are equal.
    """
    windows = []
    left = 1.0
    for one in FRACTIONS:
        left *= 1 - one
        windows.append(max(1, int(events * left) - receiver))
    return build.policy(None, *(build.latest(one) for one in windows))
