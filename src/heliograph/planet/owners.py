"""Owners: whose a stream is, and when its owner gives way to another client.

The first client that advertises a stream owns it. A program that was killed and started again is
another client to the planet, which holds the session of the dead one still. So an owner that is
detached gives way to a client of the same name with a larger epoch: that is how a sender shows that
it has started again without its state. Who is displaced may yet be alive, and is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heliograph.event.errors import WireError
from heliograph.wire.messages import DISPLACED, Displaced, Refused

if TYPE_CHECKING:
    from heliograph.planet.planet import Planet
    from heliograph.planet.state import ClientState, Stream
    from heliograph.wire.messages import Advertise

_MILLISECOND: Final = 1_000_000
_SECOND: Final = 1_000_000_000


class Owners:
    """The rule of who owns a stream."""

    def __init__(self, planet: Planet) -> None:
        """Begin without a displaced owner."""
        self.planet = planet

    def refusal(
        self, stream: Stream, client: ClientState, message: Advertise, now: int
    ) -> Refused | None:
        """Return why a client may not have a stream that another one owns, or None."""
        owner = stream.owner
        if owner is None or owner is client:
            return None
        attached = self.planet.mobility.attached(owner)
        taken = f"the stream {stream.key} is offered by another client"
        if not self._is_succeeded(owner, client):
            seconds = self.planet.config.session_seconds
            taken += f", which is {'attached' if attached else 'detached'}; it is free again when "
            taken += f"that one departs, or {seconds:g} s after it is gone"
            return Refused(message.request, taken)
        epoch = stream.position.epoch
        if message.epoch <= epoch:
            taken += f" of this name, which has come to the epoch {epoch}: begin a larger one"
            return Refused(message.request, taken, epoch=epoch)
        if not attached:
            return None
        # Silence is looked for twice in a heartbeat.
        left = owner.session.heard + self.planet.config.silence + self.planet.period - now
        left = max(left, _MILLISECOND)
        taken += " of this name, which is attached; if it is gone in truth, that shows within "
        taken += f"{left / _SECOND:.1f} s, and it gives way"
        return Refused(message.request, taken, left // _MILLISECOND)

    @staticmethod
    def _is_succeeded(owner: ClientState, client: ClientState) -> bool:
        """Say whether a client takes the place of an owner, once that is detached."""
        return owner.name == client.name != "" and DISPLACED in owner.features

    def displace(self, stream: Stream, owner: ClientState) -> None:
        """Let an owner know, when it comes back, that its stream is another client's now."""
        alias = stream.alias
        if len(owner.displaced) >= self.planet.config.senders_per_client_max:
            del owner.displaced[next(iter(owner.displaced))]
        owner.displaced[alias] = False
        self.planet.say(owner, Displaced(alias))
        fields = {"stream": stream.key, "client": owner.name, "epoch": stream.position.epoch}
        self.planet.log("info", "sender_displaced", **fields)

    def ignore(self, client: ClientState, alias: int, what: str) -> None:
        """Ignore what a displaced owner sent before it knew.

        Raises:
            WireError: The client never was the owner.
        """
        told = client.displaced.get(alias)
        if told is None:
            raise WireError(f"{what} under the alias {alias}, which is not this client's")
        if not told:
            client.displaced[alias] = True
            self.planet.log("info", "displaced_data_ignored", client=client.name, alias=alias)
