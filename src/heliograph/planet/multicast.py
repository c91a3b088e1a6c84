"""Multicast: streams, subscriptions and the way of an event through a planet (PACK 4).

What a sender's client sends goes into one lane for each distinct policy behind each link, as a
reference to one shared block. The service never looks into an event: packing does, in the lanes
that overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heliograph.event.errors import EventError, HeliographError, WireError
from heliograph.event.event import Position
from heliograph.event.types import TIME_MAX, TIME_MIN
from heliograph.lane.account import Account
from heliograph.lane.entry import Entry
from heliograph.lane.pool import Pool
from heliograph.lane.squeeze import pack_lane
from heliograph.planet.state import Stream
from heliograph.wire import forms
from heliograph.wire.messages import (
    Advertise,
    Advertised,
    Beacon,
    Grow,
    Refused,
    Withdraw,
    Withdrawn,
)

if TYPE_CHECKING:
    from heliograph.event.block import Block
    from heliograph.event.digest import Digest
    from heliograph.event.schema import Schema
    from heliograph.planet.planet import Planet
    from heliograph.planet.state import ClientState
    from heliograph.wire.reader import BlockFrame, DigestFrame, Run

# An epoch's name is needed until no lane holds any of it; nobody restarts as often as this in
# between.
EPOCHS_MAX = 1_024


class Multicast:
    """The streams of a planet."""

    def __init__(self, planet: Planet) -> None:
        """Begin without a stream."""
        self.planet = planet
        self.streams: dict[str, Stream] = {}
        self.pool = Pool()
        self._aliases = 0
        self._stirred: list[Stream] = []
        self.handles: dict[type, Any] = {
            Advertise: self.advertise,
            Grow: self.grow,
            Withdraw: self.withdraw,
        }

    def stream(self, key: str) -> Stream:
        """Return a stream, made when it is first offered or waited for.

        Raises:
            EventError: There are too many.
        """
        found = self.streams.get(key)
        if found is None:
            if not 0 < len(key) <= 256:  # noqa: PLR2004 - as blocks have it
                raise EventError("a stream key has 1 to 256 characters")
            if len(self.streams) >= self.planet.config.streams_max:
                raise EventError(
                    f"this planet carries {len(self.streams)} streams, its streams_max"
                )
            found = self.streams[key] = Stream(key)
        return found

    # What senders say.

    def advertise(self, client: ClientState, message: Advertise, now: int) -> None:
        """Take a stream on, or say why not."""
        try:
            self._advertise(client, message, now)
        except EventError as error:
            client.session.say(Refused(message.request, str(error)))

    def _advertise(self, client: ClientState, message: Advertise, now: int) -> None:
        stream = self.stream(message.stream)
        owner = stream.owner
        if owner is not None and owner is not client:
            raise EventError(
                f"the stream {stream.key} is offered by another client; it is free again when that "
                f"one departs, or {self.planet.config.session_seconds:g} s after it is gone"
            )
        if owner is None and len(client.senders) >= self.planet.config.senders_per_client_max:
            raise EventError(f"a client offers at most {len(client.senders)} streams here")
        if not TIME_MIN <= message.base <= TIME_MAX or message.next < 1:
            raise EventError("an advertisement with a time or number that cannot be")
        schema = forms.read_schema(message.schema)
        if not 0 < message.epoch < 2**62:
            raise EventError(f"an epoch cannot be {message.epoch}")
        if message.epoch < stream.position.epoch:
            raise EventError(
                f"the stream {stream.key} has come to the epoch {stream.position.epoch}; a sender "
                f"without its state starts a larger one, not {message.epoch}"
            )
        self._begin(stream, client, message, schema, now)

    def _begin(
        self, stream: Stream, client: ClientState, message: Advertise, schema: Schema, now: int
    ) -> None:
        """Begin or go on with an epoch of a stream."""
        alias_before = stream.alias
        if stream.owner is not None:
            stream.owner.senders.pop(stream.alias, None)
        known = stream.names.get(message.epoch)
        if known is None or known[1] != message.base:
            if len(stream.names) >= EPOCHS_MAX:
                self._forget_epochs(stream)
            self._aliases += 1
            known = (self._aliases, message.base)
        fresh = stream.account.epoch == 0
        # What the last owner left open is lost with it; its numbers are told.
        gaps = [] if fresh else stream.account.rejoin(Position(message.epoch, message.next - 1))
        for gap in gaps:
            self._spread(stream, Entry(gap), now)
        if fresh:
            stream.account = Account(stream.key, Position(message.epoch, message.next - 1))
        stream.names[message.epoch] = known
        stream.alias, stream.base = known
        stream.owner = client
        client.senders[stream.alias] = stream
        self._set_schema(stream, schema, now)
        client.session.say(Advertised(message.request, stream.alias))
        for one in list(stream.receivers.values()):
            if one.lane is None:
                self.planet.subscriptions.open(one, now)
            elif stream.alias != alias_before:
                self.planet.subscriptions.tell(one, 0)
        self.planet.subscriptions.demand(stream)
        self.planet.mark(client)

    @staticmethod
    def _forget_epochs(stream: Stream) -> None:
        used = {one.epoch for lane, _, _ in stream.lanes for one in lane.entries}
        used.add(stream.position.epoch)
        for epoch in [one for one in stream.names if one not in used]:
            del stream.names[epoch]
        if len(stream.names) >= EPOCHS_MAX:
            raise EventError(f"{len(stream.names)} epochs of {stream.key} wait for its receivers")

    def _set_schema(self, stream: Stream, schema: Schema, now: int) -> None:
        stream.schema = schema
        for subscription in list(stream.receivers.values()):
            lane = subscription.lane
            if lane is None:
                continue
            try:
                lane.rebind(stream.schema)
            except HeliographError as error:
                self.planet.subscriptions.deny(subscription, str(error), now)

    def grow(self, client: ClientState, message: Grow, now: int) -> None:
        """Take the larger schema of a stream, and hand it on before the events that need it."""
        stream = client.senders.get(message.alias)
        if stream is None:
            raise WireError("a schema of a stream that this client does not offer")
        self._set_schema(stream, forms.read_schema(message.schema), now)
        told: dict[int, None] = {}
        for subscription in stream.receivers.values():
            one = subscription.client
            if subscription.lane is not None and one.number not in told:
                told[one.number] = None
                one.session.say(message)
                self.planet.mark(one)

    def withdraw(self, client: ClientState, message: Withdraw, now: int) -> None:
        """Let go of a stream."""
        stream = client.senders.get(message.alias)
        if stream is not None:
            self.release(stream, now)

    def release(self, stream: Stream, now: int) -> None:
        """Go on without an owner: what it left open is lost, and its receivers wait."""
        owner, stream.owner = stream.owner, None
        if owner is not None:
            owner.senders.pop(stream.alias, None)
        gap = stream.account.close_gap()
        if gap is not None:
            self._spread(stream, Entry(gap), now)
        for subscription in stream.receivers.values():
            if subscription.lane is not None:
                last = stream.position.number
                subscription.client.session.say(Withdrawn(stream.alias, last))
                self.planet.mark(subscription.client)
        self.forget(stream)

    def forget(self, stream: Stream) -> None:
        """Drop a stream that nobody offers or waits for."""
        if stream.owner is None and not stream.receivers:
            self.streams.pop(stream.key, None)

    # The way of the data.

    def run(self, client: ClientState, run: Run, now: int) -> None:
        """Take a run of events: the hot path."""
        stream = client.senders.get(run.alias)
        if stream is None:
            raise WireError(f"events under the alias {run.alias}, which is not this client's")
        account = stream.account
        block = forms.run_block(run, stream.key, account.epoch, stream.schema.version, stream.base)
        self._block(stream, block, b"", now)

    def block(self, client: ClientState, frame: BlockFrame, now: int) -> None:
        """Take a block of many events."""
        stream = client.senders.get(frame.alias)
        if stream is None:
            raise WireError(f"a block under the alias {frame.alias}, which is not this client's")
        if frame.version > stream.schema.version:
            raise WireError(f"a block of the schema version {frame.version}, which was not told")
        block = forms.framed_block(frame, stream.key, stream.account.epoch)
        self._block(stream, block, frame.frame, now)

    def digest(self, client: ClientState, frame: DigestFrame, now: int) -> None:
        """Take a digest, for what was dropped before it came here."""
        stream = client.senders.get(frame.alias)
        if stream is None:
            raise WireError(f"a digest under the alias {frame.alias}, which is not this client's")
        found = forms.framed_digest(frame, stream.key, stream.account.epoch)
        digest: Digest | None = stream.account.settle(found)
        if digest is not None:
            self._spread(stream, Entry(digest), now)
            if not stream.account.missing:
                self.planet.subscriptions.open_waiting(stream, now)

    def _block(self, stream: Stream, block: Block, frame: bytes, now: int) -> None:
        new = stream.account.take(block, stream.schema)
        if new is None:
            return
        stream.events += new.count
        entry = Entry(new)
        if new is block:
            entry.frame = frame
        self._spread(stream, entry, now)

    def _spread(self, stream: Stream, entry: Entry, now: int) -> None:
        """Offer an entry to every lane of its stream."""
        stream.touched = now
        if not stream.stirred:
            stream.stirred = True
            self._stirred.append(stream)
        for lane, group, client in stream.lanes:
            try:
                lane.offer(entry, now)
            except EventError as error:
                self.planet.blame(stream, error)
                lane.discard()
            if not group.queued:
                client.outlet.wake(group)
            if not client.ready:
                self.planet.mark(client)
        if self.pool.bytes > self.planet.config.buffer_bytes:
            self._relieve(now)

    def _relieve(self, now: int) -> None:
        """Pack the largest lanes until all of them fit into the planet's memory again."""
        target = self.planet.config.buffer_bytes * 15 // 16
        lanes = [one for stream in self.streams.values() for one in stream.lanes]
        lanes.sort(key=lambda one: -one[0].held_bytes)
        for lane, _, _ in lanes:
            if self.pool.bytes <= target:
                return
            try:
                pack_lane(lane, now)
            except EventError:
                lane.discard()

    def beacon(self, now: int, interval: int) -> None:
        """Tell receivers how far streams have come that have fallen silent."""
        left: list[Stream] = []
        for stream in self._stirred:
            if now - stream.touched < interval:
                left.append(stream)
                continue
            stream.stirred = False
            self._settle_owed(stream)
            told: dict[int, None] = {}
            for _, _, client in stream.lanes:
                if client.number not in told:
                    told[client.number] = None
                    if client.link is not None:
                        client.session.say(Beacon(stream.alias, stream.position.number))
                        self.planet.mark(client)
        self._stirred = left

    def _settle_owed(self, stream: Stream) -> None:
        for lane, group, client in stream.lanes:
            if lane.owed.count:
                lane.owed.settle(lane)
                client.outlet.wake(group)
                self.planet.mark(client)
