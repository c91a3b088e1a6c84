"""Words: digests, amounts and packs as people read them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heliograph.event.digest import Digest, Part

_SIZES: Final = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
_WHOLE: Final = 10  # From here on a fraction of a percent says nothing.
_REASONS: Final = {
    "policy": "levels",
    "worst": "beyond the levels",
    "budget": "packing budget",
    "unreadable": "unreadable",
}


def clock(micros: int) -> str:
    """Return the time of an event as the time of its day, in UTC."""
    seconds, rest = divmod(micros, 1_000_000)
    hours, minutes = seconds // 3_600 % 24, seconds // 60 % 60
    return f"{hours:02}:{minutes:02}:{seconds % 60:02}.{rest // 1_000:03}"


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(amount: float) -> str:
    """Return bytes with the unit that suits them."""
    for unit, of in _SIZES:
        if amount >= of:
            return f"{amount / of:.1f} {unit}"
    return f"{amount:.0f} B"


def fill(fraction: float) -> str:
    """Return how full something is; what is not empty is not called 0 %."""
    percent = fraction * 100
    if percent >= _WHOLE or not percent:
        return f"{percent:.0f} %"
    return f"{math.ceil(percent * 10) / 10:g} %"


def digest_words(digest: Digest) -> str:
    """Return what a digest tells, in one line."""
    said = [f"{digest.count:,} dropped"]
    if digest.filtered:
        said.append(f"{digest.filtered:,} filtered")
    if digest.gap:
        said.append(f"{digest.gap:,} of them lost in a gap")
    text = f"{digest.after + 1} to {digest.upto}: {', '.join(said)}"
    if digest.first_time is not None and digest.last_time is not None:
        text += f"; {clock(digest.first_time)} to {clock(digest.last_time)}"
    parts = [_part(part) for part in digest.parts]
    return "; ".join([text, *filter(None, parts)])


def _part(part: Part) -> str:
    """Return what one digester says; one that knew no value says nothing."""
    from heliograph.policy.digesters import result

    if not part.known:
        return ""
    name = part.digester
    value = result(part)
    if name == "QUANTILES":
        return f"quartiles of {part.attribute} about {_values(value)}"
    if name == "DISTINCT":
        return f"about {_value(value)} different {part.attribute}"
    return f"{name.lower()} {part.attribute} {_value(value)}"


def _values(value: Any) -> str:
    many = value.values() if isinstance(value, dict) else value
    return ", ".join(map(_value, many)) if isinstance(value, dict | list | tuple) else _value(value)


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def level_words(levels: Mapping[str, int], top: int | None = None) -> str:
    """Return how often each level was used, as in `level 1: 9, beyond: 2` (the levels)."""
    return ", ".join(
        f"{'beyond' if top is not None and int(level) > top else f'level {level}'}: {count:,}"
        for level, count in sorted(levels.items(), key=lambda one: int(one[0]))
    )


def drop_words(dropped: Mapping[str, int]) -> str:
    """Return how many were dropped, and why."""
    total = sum(dropped.values())
    if not total:
        return "0"
    why = ", ".join(f"{_REASONS.get(one, one)} {count:,}" for one, count in dropped.items())
    return f"{total:,} ({why})"


def pack_words(
    lanes: Sequence[Mapping[str, Any]], looks: int, fill_max: float, dropped: int = 0
) -> str:
    """Say how the lanes of a receiver were packed, or why they were not."""
    packs = sum(one["packs"] for one in lanes)
    if packs:
        used = [level_words(one["levels"], one.get("top")) for one in lanes if one["packs"]]
        return f"{counted(packs, 'pack')} ({'; '.join(used)})"
    if dropped:
        return "nothing was packed here: what was dropped had been before, by the sender's client"
    if not looks:
        return "nothing was packed"
    seen = "once" if looks == 1 else f"{looks:,} times"
    full = "empty" if not fill_max else f"never more than {fill(fill_max)} full"
    return f"nothing was packed: the lane was {full} (looked at {seen})"
