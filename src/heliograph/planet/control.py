"""Control: how a planet is, for those who ask: fill, levels, drops by reason, slow receivers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from heliograph.wire.messages import Ask, Told

if TYPE_CHECKING:
    from heliograph.lane.lane import Lane
    from heliograph.planet.planet import Planet
    from heliograph.planet.state import ClientState, Stream

# A status names so many clients, streams and lanes at most, of the lanes the fullest.
SHOWN_MAX: Final = 1_000
# An answer fits into a frame of any client, and is not made anew for everyone who asks.
ANSWER_BYTES_MAX: Final = 262_144
SAID_NS: Final = 100_000_000


class Control:
    """Answers questions about the planet."""

    def __init__(self, planet: Planet) -> None:
        """Begin."""
        self.planet = planet
        self.handles: dict[type, Any] = {Ask: self.ask}
        self._said: tuple[int, bytes] | None = None

    def ask(self, client: ClientState, message: Ask, now: int) -> None:
        """Tell how the planet is."""
        if self._said is None or now - self._said[0] > SAID_NS:
            self._said = now, self._body(now)
        self.planet.say(client, Told(message.request, self._said[1]))

    def _body(self, now: int) -> bytes:
        """Return the status as one frame can hold it: the fullest lanes, the first clients."""
        status, most = self.status(now), SHOWN_MAX
        while True:
            body = msgspec.json.encode(status)
            if len(body) <= ANSWER_BYTES_MAX or most == 0:
                return body
            most //= 2
            for table in ("clients", "streams", "lanes"):
                status[table] = status[table][:most]

    def status(self, now: int) -> dict[str, Any]:
        """Return how the planet is, as JSON can hold it."""
        planet = self.planet
        streams = list(planet.multicast.streams.values())
        clients = list(planet.mobility.clients.values())
        held = planet.multicast.lanes()
        lanes = [_lane(*one) for one in held]
        lanes.sort(key=lambda one: -one["fill"])
        totals = planet.totals
        dropped = Counter(totals.dropped)
        for lane, _, _ in held:
            dropped.update(lane.dropped)
        return {
            "name": planet.config.name,
            "uptime_seconds": (now - planet.began) / 1e9,
            "closing": planet.closing,
            "connections": len(planet.links),
            "counts": {
                "attached": sum(one.link is not None for one in clients),
                "detached": sum(one.link is None for one in clients),
                "streams": len(streams),
                "lanes": len(lanes),
            },
            "clients": [_client(one, now) for one in clients[:SHOWN_MAX]],
            "streams": [_stream(one) for one in streams[:SHOWN_MAX]],
            "lanes": lanes[:SHOWN_MAX],
            "buffer": {
                "bytes": planet.multicast.pool.bytes, "capacity": planet.config.buffer_bytes
            },
            "events": {
                "received": totals.events + sum(one.events for one in streams),
                "delivered": totals.taken + sum(one["delivered"] for one in lanes),
                "dropped": dict(dropped),
                "filtered": totals.filtered + sum(one["filtered"] for one in lanes),
            },
            "packs": totals.packs + sum(one["packs"] for one in lanes),
            "refused": dict(totals.refused),
        }  # fmt: skip


def _client(client: ClientState, now: int) -> dict[str, Any]:
    session = client.session
    return {
        "client": client.number,
        "name": client.name,
        "attached": client.link is not None,
        "silent_seconds": (now - session.heard) / 1e9,
        "senders": len(client.senders),
        "receivers": len(client.receivers),
        "window": session.window.limit,
        "under_way": session.window.under_way,
        "sent_bytes": session.sent_bytes,
        "received_bytes": session.received_bytes,
    }


def _stream(stream: Stream) -> dict[str, Any]:
    return {
        "stream": stream.key,
        "offered": stream.owner is not None,
        "epoch": stream.position.epoch,
        "number": stream.position.number,
        "events": stream.events,
        "receivers": len(stream.receivers),
        "lanes": len(stream.lanes),
        "gaps": stream.account.gaps,
    }


def _lane(lane: Lane, stream: Stream, client: ClientState) -> dict[str, Any]:
    return {
        "stream": stream.key,
        "client": client.number,
        "name": client.name,
        "receivers": len(lane.members),
        "policy": lane.policy.identity[:8],
        "attached": client.link is not None,
        "entries": lane.held_entries,
        "bytes": lane.held_bytes,
        "capacity_entries": lane.limits.entries,
        "capacity_bytes": lane.limits.bytes,
        "fill": round(lane.fill, 4),
        "level": lane.level,
        "top": lane.bound.top,
        "packs": lane.packs,
        "levels": {str(level): count for level, count in sorted(lane.levels.items())},
        "delivered": lane.taken,
        "dropped": dict(lane.dropped),
        "filtered": lane.filtered,
    }
