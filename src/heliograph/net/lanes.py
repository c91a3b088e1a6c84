"""Lanes of this client, for those who watch: how full they are, and what they dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heliograph.lane.lane import Lane


def lane_status(lane: Lane | None) -> dict[str, Any]:
    """Return how a lane is, as JSON can hold it, in the words of a planet's status."""
    if lane is None:
        return {}
    return {
        "policy": lane.policy.identity[:8],
        "entries": lane.held_entries,
        "bytes": lane.held_bytes,
        "capacity_entries": lane.limits.entries,
        "capacity_bytes": lane.limits.bytes,
        "fill": round(lane.fill, 4),
        "level": lane.level,
        "packs": lane.packs,
        "levels": {str(level): count for level, count in sorted(lane.levels.items())},
        "delivered": lane.taken,
        "dropped": dict(lane.dropped),
        "filtered": lane.filtered,
    }
