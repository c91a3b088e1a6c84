"""Merge: two digests become one, whichever comes first and wherever they were made (PACK 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from heliograph.event.digest import Digest
from heliograph.policy.digesters import merge_parts

if TYPE_CHECKING:
    from heliograph.event.event import Position


def merge(one: Digest, other: Digest) -> Digest:
    """Return what two digests of one epoch say together; the interval is left to the caller."""
    times = [time for time in (one.first_time, other.first_time) if time is not None]
    ends = [time for time in (one.last_time, other.last_time) if time is not None]
    return Digest(
        one.stream,
        one.epoch,
        min(one.after, other.after),
        max(one.upto, other.upto),
        one.count + other.count,
        one.filtered + other.filtered,
        min(times, default=None),
        max(ends, default=None),
        merge_parts(one.parts, other.parts),
        one.gap + other.gap,
    )


def absorb(
    pending: tuple[Digest, ...], digest: Digest, settled: Position
) -> tuple[tuple[Digest, ...], Digest]:
    """Let a digest that comes from upstream join a lane that has settled all up to `settled`.

    It goes on from there, for packs here have set other bounds than those upstream; and it takes up
    what was pending before it in its epoch.
    """
    after = settled.number if settled.epoch == digest.epoch else 0
    whole = msgspec.structs.replace(digest, after=after)
    for held in pending:
        if held.epoch == digest.epoch and held.after < digest.upto:
            whole = msgspec.structs.replace(merge(held, digest), after=after, upto=digest.upto)
            return tuple(one for one in pending if one is not held), whole
    return pending, whole
