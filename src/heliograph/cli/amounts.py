"""Amounts: rates and capacities as people write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from heliograph.event.errors import UsageError

if TYPE_CHECKING:
    from heliograph.lane.queue import Rate
    from heliograph.policy.limits import Limits

_BITS: Final = {"bit": 1, "kbit": 1_000, "mbit": 1_000_000}
_BYTES: Final = {"b": 1, "kb": 1_000, "kib": 1_024, "mb": 1_000_000, "mib": 1_048_576}
_SPANS: Final = {"": 1, "/s": 1, "/min": 60, "/h": 3_600}
# So few digits that no amount comes out as infinite, or longer than Python reads.
_AMOUNT: Final = re.compile(
    r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([a-z]*)\s*(/(?:s|min|h))?", re.IGNORECASE | re.ASCII
)


def read_rate(text: str) -> Rate:
    """Read a rate such as `25`, `25/s` or `7.2/h` (entries), or `50kbit` (bits a second)."""
    from heliograph.lane.queue import Rate

    found = _AMOUNT.fullmatch(text.strip())
    if found:
        amount = float(found[1]) / _SPANS[(found[3] or "").lower()]
        unit = found[2].lower()
        if not unit:
            return Rate(amount)
        if unit in _BITS:
            return Rate(amount * _BITS[unit], bits=True)
    raise UsageError(
        f"{text!r} is no rate: write 25/s, 2/min or 7.2/h for entries, or 50kbit for bits a second"
    )


def read_capacity(text: str) -> Limits:
    """Read a capacity such as `256` (events and digests) or `64KiB`."""
    from heliograph.policy.limits import Limits

    found = _AMOUNT.fullmatch(text.strip())
    if found and not found[3]:
        unit = found[2].lower()
        if not unit and found[1].isdigit():
            return Limits(entries=int(found[1]))
        if unit in _BYTES:
            return Limits(entries=None, bytes=int(float(found[1]) * _BYTES[unit]))
    raise UsageError(f"{text!r} is no capacity: write 256 for entries, or 64KiB for bytes")
