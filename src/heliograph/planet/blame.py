"""Blame: clients that were found at fault in the midst of something, and go when that is over.

An event that cannot be read shows in some receiver's lane, and a client that takes no messages
shows when somebody else's stream begins anew. Whoever is being served then is not to pay for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heliograph.event.errors import EventError
    from heliograph.planet.planet import Planet
    from heliograph.planet.state import ClientState, Stream


class Blame:
    """Who is to go, and why."""

    def __init__(self, planet: Planet) -> None:
        """Begin with nobody at fault."""
        self.planet = planet
        self.guilty: dict[int, tuple[ClientState, str, str]] = {}

    def put(self, client: ClientState, kind: str, reason: str) -> None:
        """Find a client at fault."""
        self.guilty.setdefault(client.number, (client, kind, reason))

    def put_owner(self, stream: Stream, error: EventError) -> None:
        """Find a stream's owner at fault, for events that cannot be read."""
        if stream.owner is not None:
            self.put(stream.owner, "unreadable", f"{stream.key}: {error}")

    def execute(self, now: int) -> None:
        """Let them go, with all that they offer and want."""
        planet = self.planet
        while self.guilty:
            client, kind, reason = self.guilty.pop(next(iter(self.guilty)))
            if client.number not in planet.mobility.clients:
                continue
            if client.link is not None:
                planet.refuse(client.link, kind, reason, now)
            else:
                planet.note_refusal(kind, reason)
                planet.mobility.depart(client, None, now)
