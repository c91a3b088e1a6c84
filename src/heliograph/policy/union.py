"""Union: what a sender's side may drop for several receivers at once: only what every policy drops.

Towards the anchor a stream has one lane whatever its receivers are (DESIGN.md, Lanes). Its pack
runs each receiver's policy over the same events, and keeps what any of them keeps; its digests say
what the digesters of all of them ask for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from heliograph.event.errors import PolicyError
from heliograph.policy.binding import BoundFilter, BoundPolicy, bind
from heliograph.policy.model import Policy, Rest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heliograph.event.block import Places
    from heliograph.event.columns import Columns
    from heliograph.event.schema import Schema


@dataclass(frozen=True, slots=True)
class UnionFilter:
    """One level of all policies: keeps what any of them keeps at this level."""

    policies: tuple[BoundPolicy, ...]
    level: int

    def run(self, columns: Columns, places: Places | None, ordinal: int) -> Places:
        """Return the events that survive; a policy with fewer levels has no more to give."""
        del places  # Levels below said the same of fewer filters: what is kept here, they kept.
        kept = np.zeros(columns.count, np.bool_)
        for policy in self.policies:
            some: Places | None = None
            for chain in policy.levels[: self.level]:
                for one in chain:
                    some = one.run(columns, some, ordinal)
            kept[slice(None) if some is None else some] = True
        return kept.nonzero()[0]


def bind_union(policies: Sequence[Policy], schema: Schema) -> BoundPolicy:
    """Return what may be dropped for all receivers, bound to a schema.

    A policy that cannot apply to the schema is refused where it meets it, at the planet; here it is
    left out. An always level is left to the planet as well: a receiver that joins meanwhile is owed
    what another one never wants.
    """
    bound = []
    for policy in policies:
        try:
            bound.append(bind(replace(policy, always=()), schema))
        except PolicyError:
            continue
    if len(bound) == 1:
        return bound[0]
    if not bound:
        return bind(Policy(), schema)
    digesters = {(one.name, one.attribute): (one, kind) for b in bound for one, kind in b.digesters}
    top = max(one.top for one in bound) if all(one.top for one in bound) else 0
    levels = tuple(
        (cast("BoundFilter", UnionFilter(tuple(bound), level)),) for level in range(1, top + 1)
    )
    merged = Policy(
        digesters=tuple(one for one, _ in digesters.values()),
        rest=_rest([one.policy.rest for one in bound]),
    )
    return BoundPolicy(merged, schema, (), levels, tuple(digesters.values()))


def _rest(rests: Sequence[Rest]) -> Rest:
    """Return what is left when no level frees enough: what any policy would keep then.

    Where some keep the newest and some the oldest, all of it cannot stay; what is new is kept.
    """
    return next((one for one in (Rest.NEWEST, Rest.OLDEST) if one in rests), Rest.NOTHING)
