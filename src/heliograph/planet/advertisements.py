"""Advertisements: who offers which stream, from which number on, and by which schema.

The first client that advertises a stream owns it, until it withdraws it or has departed, or gives
way to its successor (`owners`). A sender that starts again without its state begins a larger epoch,
which has a schema of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heliograph.event.errors import EventError, HeliographError
from heliograph.event.event import Position
from heliograph.event.types import TIME_MAX, TIME_MIN
from heliograph.lane.account import Account
from heliograph.lane.entry import Entry
from heliograph.planet.state import Name
from heliograph.wire import forms
from heliograph.wire.messages import Advertise, Advertised, Grow, Refused, Withdraw, Withdrawn

if TYPE_CHECKING:
    from heliograph.event.digest import Digest
    from heliograph.event.schema import Schema
    from heliograph.planet.planet import Planet
    from heliograph.planet.state import ClientState, Stream

# From there on an epoch still has more numbers than anyone will ever publish.
NUMBER_MAX: Final = 2**62
# An epoch is most often the time when it began. Whoever lies about it keeps nobody from the next.
EPOCH_STEP_MAX: Final = 2**20
# An epoch's name is needed until no lane holds any of it; nobody restarts as often as this in
# between.
EPOCHS_MAX: Final = 1_024


class Advertisements:
    """What the clients of a planet offer."""

    def __init__(self, planet: Planet) -> None:
        """Begin with nothing on offer."""
        self.planet = planet
        self._aliases = 0
        self.handles: dict[type, Any] = {
            Advertise: self.advertise,
            Grow: self.grow,
            Withdraw: self.withdraw,
        }

    def advertise(self, client: ClientState, message: Advertise, now: int) -> None:
        """Take a stream on, or say why not."""
        try:
            refusal = self._advertise(client, message, now)
        except EventError as error:
            refusal = Refused(message.request, str(error))
        if refusal is not None:
            found = self.planet.multicast.streams.get(message.stream)
            if found is not None:
                self.planet.multicast.forget(found)  # It may have come about for this.
            self.planet.say(client, refusal)

    def _advertise(self, client: ClientState, message: Advertise, now: int) -> Refused | None:
        stream = self.planet.multicast.stream(message.stream)
        refusal = self.planet.owners.refusal(stream, client, message, now)
        if refusal is not None:
            return refusal
        most = self.planet.config.senders_per_client_max
        if stream.owner is not client and len(client.senders) >= most:
            raise EventError(f"a client offers at most {len(client.senders)} streams here")
        if not (TIME_MIN <= message.base <= TIME_MAX and 0 < message.next <= NUMBER_MAX):
            raise EventError("an advertisement with a time or number that cannot be")
        schema = forms.read_schema(message.schema)
        epoch = stream.position.epoch
        if not 0 < message.epoch <= max(TIME_MAX, epoch + EPOCH_STEP_MAX):
            raise EventError(f"an epoch cannot be {message.epoch}")
        if message.epoch < epoch:
            reason = (
                f"the stream {stream.key} has come to the epoch {epoch}; a sender without its "
                f"state starts a larger one, not {message.epoch}"
            )
            return Refused(message.request, reason, epoch=epoch)
        self._begin(stream, client, message, schema, now)
        return None

    def _begin(
        self, stream: Stream, client: ClientState, message: Advertise, schema: Schema, now: int
    ) -> None:
        """Begin or go on with an epoch of a stream."""
        known = stream.names.get(message.epoch)
        if known is not None:
            forms.check_growth(known.schema, schema)
        elif len(stream.names) >= EPOCHS_MAX:
            self._forget_epochs(stream)
        before, at = stream.alias, stream.position
        if stream.owner is not None:
            stream.owner.senders.pop(stream.alias, None)
            if stream.owner is not client:
                self.planet.owners.displace(stream, stream.owner)
        begin = Position(message.epoch, message.next - 1)
        gaps: list[Digest] = []
        if at.epoch:
            # What the last owner left open is lost with it; its numbers are told.
            gaps = stream.account.rejoin(begin)
            self._spread([one for one in gaps if one.epoch == at.epoch], stream, now)
        else:
            stream.account = Account(stream.key, begin)
        alias = known.alias if known is not None and known.base == message.base else self._alias()
        stream.alias, stream.base = alias, message.base
        stream.names[message.epoch] = Name(alias, message.base, schema)
        stream.owner = client
        client.senders[alias] = stream
        turned = at.epoch != message.epoch
        self._set_schema(stream, schema, now, at if turned else None)
        self._spread([one for one in gaps if one.epoch != at.epoch], stream, now)
        self.planet.say(client, Advertised(message.request, alias))
        for one in list(stream.receivers.values()):
            if one.lane is None:
                self.planet.subscriptions.open(one, now)
            elif alias != before:
                self.planet.subscriptions.tell(one, 0, now)
        self.planet.demands.changed(stream, now)

    def _spread(self, gaps: list[Digest], stream: Stream, now: int) -> None:
        for gap in gaps:
            self.planet.multicast.spread(stream, Entry(gap), now)

    def _alias(self) -> int:
        self._aliases += 1
        return self._aliases

    @staticmethod
    def _forget_epochs(stream: Stream) -> None:
        lanes = [lane for lane, _, _ in stream.lanes]
        lanes += [lane for one in stream.receivers.values() for _, lane in one.retired]
        used = {entry.epoch for lane in lanes for entry in lane.entries}
        used.add(stream.position.epoch)
        for epoch in [one for one in stream.names if one not in used]:
            del stream.names[epoch]
        if len(stream.names) >= EPOCHS_MAX:
            raise EventError(f"{len(stream.names)} epochs of {stream.key} wait for its receivers")

    def _set_schema(
        self, stream: Stream, schema: Schema, now: int, turned: Position | None = None
    ) -> None:
        """Let the lanes of a stream read its events; a new epoch has a schema of its own.

        Where one begins, `turned` is how far the stream had come.
        """
        stream.schema = schema
        for subscription in list(stream.receivers.values()):
            lane = subscription.lane
            if lane is None or lane.bound.schema is schema:
                continue
            try:
                if turned is not None:
                    lane.turn(schema, turned)
                    # Its marker may have left a digest of what was filtered in an empty lane.
                    client = subscription.client
                    client.outlet.wake(client.outlet.group(stream.key))
                    self.planet.mark(client)
                else:
                    lane.rebind(schema)
            except HeliographError as error:
                self.planet.subscriptions.deny(subscription, str(error), now)

    def grow(self, client: ClientState, message: Grow, now: int) -> None:
        """Take the larger schema of a stream, and hand it on before the events that need it."""
        stream = client.senders.get(message.alias)
        if stream is None:
            self.planet.owners.ignore(client, message.alias, "a schema")
            return
        schema = forms.read_schema(message.schema)
        forms.check_growth(stream.schema, schema)
        stream.names[stream.position.epoch] = Name(stream.alias, stream.base, schema)
        self._set_schema(stream, schema, now)
        told: dict[int, ClientState] = {}
        for one in list(stream.receivers.values()):
            size = 0 if one.client.number in told else len(message.schema)
            if one.lane is not None and not self.planet.subscriptions.backlogged(one, size, now):
                told[one.client.number] = one.client
        for receiving in told.values():
            self.planet.say(receiving, message, ("grow", message.alias))

    def withdraw(self, client: ClientState, message: Withdraw, now: int) -> None:
        """Let go of a stream."""
        stream = client.senders.get(message.alias)
        if stream is not None:
            self.release(stream, now)
        client.displaced.pop(message.alias, None)  # It knows, and sends no more.

    def release(self, stream: Stream, now: int) -> None:
        """Go on without an owner: what it left open is lost, and its receivers wait."""
        owner, stream.owner = stream.owner, None
        if owner is not None:
            owner.senders.pop(stream.alias, None)
        gap = stream.account.close_gap()
        if gap is not None:
            self.planet.multicast.spread(stream, Entry(gap), now)
        last = stream.position.number
        for subscription in stream.receivers.values():
            if subscription.lane is not None:
                self.planet.say(
                    subscription.client, Withdrawn(stream.alias, last), ("withdrawn", stream.alias)
                )
        self.planet.multicast.forget(stream)
