"""Closing: how a planet shuts down: what waits is sent for a while, the rest is told in digests.

What clients send from now on is not acknowledged, so that they send it to the next planet. What
came before is acknowledged at once, and once more never.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heliograph.event.errors import HeliographError
from heliograph.lane.squeeze import fold_lane

if TYPE_CHECKING:
    from heliograph.planet.planet import Planet
    from heliograph.planet.state import ClientState

REASON = "the planet closes"


class Closing:
    """The end of a planet."""

    def __init__(self, planet: Planet) -> None:
        """Begin with no end in sight."""
        self.planet = planet
        self.at: int | None = None  # When patience ends.
        self.late = False

    def begin(self, now: int) -> None:
        """Take no more; send what waits."""
        planet = self.planet
        self.at = now + planet.config.nanoseconds("drain")
        planet.log("info", "planet_closing", name=planet.config.name)
        for client in planet.mobility.clients.values():
            client.session.freeze()
            planet.mark(client)
        for link in list(planet.links):
            self.look(link)

    def tick(self, now: int) -> None:
        """Let nobody keep the planet longer than its patience."""
        if self.at is not None and now >= self.at:
            self.late = True
            for link in list(self.planet.links):
                self.look(link)

    def look(self, link: int) -> None:
        """Say goodbye to a link where nothing waits any more, or nobody has the time."""
        planet, late = self.planet, self.late
        one = planet.links.get(link)
        if one is None or one.closing:
            return
        client = one.client
        if client is not None and late:
            _fold(client)
        if client is None or late or not _waits(client):
            planet.dismiss(link, "closing", REASON)


def _waits(client: ClientState) -> bool:
    return bool(client.session.unacked) or any(
        group.waiting for group in client.outlet.groups.values()
    )


def _fold(client: ClientState) -> None:
    """Turn what can not be sent in time into digests."""
    for group in client.outlet.groups.values():
        for lane in group.lanes.values():
            try:
                fold_lane(lane)
            except HeliographError:
                lane.discard()
        client.outlet.wake(group)
    client.session.hurry = True  # There are few digests left, and this is their last chance.
