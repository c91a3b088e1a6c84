"""Subscriptions: which receiver gets which stream, by which lane, and from where on.

Receivers behind one link with equal policies share a lane. A receiver that joins, or that changes
its policy, does so at a number: a marker there keeps later digests from reaching back across it, so
that its books begin clean (DESIGN.md, Markers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heliograph.event.errors import EventError, PolicyError, UsageError, WireError
from heliograph.event.event import Position
from heliograph.event.types import INT64_MAX
from heliograph.lane.lane import Lane
from heliograph.planet.state import Subscription
from heliograph.policy.aim import Aim
from heliograph.policy.ladder import Ladder
from heliograph.policy.limits import BYTES_MIN, Limits
from heliograph.wire import forms
from heliograph.wire.messages import (
    Denied,
    Done,
    Opened,
    Refused,
    Repolicy,
    Subscribe,
    Subscribed,
    Unsubscribe,
)
from heliograph.wire.session import CONTROL_BYTES_MAX

if TYPE_CHECKING:
    from heliograph.planet.planet import Planet
    from heliograph.planet.state import ClientState, Stream
    from heliograph.policy.model import Policy

# Beyond so many changes in one lane that nobody drains, further ones are refused.
MARKS_MAX: Final = 8
# A stream that has so many messages wait for a client has no more of its subscriptions there.
BACKLOG_BYTES: Final = CONTROL_BYTES_MAX * 3 // 4


class Subscriptions:
    """The receivers of a planet's clients."""

    def __init__(self, planet: Planet) -> None:
        """Begin without a receiver."""
        self.planet = planet
        # Receivers that still get something by a lane that they have left.
        self._retiring: dict[tuple[int, int], Subscription] = {}
        self.handles: dict[type, Any] = {
            Subscribe: self.subscribe,
            Unsubscribe: self.unsubscribe,
            Repolicy: self.repolicy,
        }

    def subscribe(self, client: ClientState, message: Subscribe, now: int) -> None:
        """Let a receiver have a stream, now or when it comes."""
        try:
            one = self._subscription(client, message)
        except (EventError, PolicyError, UsageError) as error:
            self.planet.say(client, Denied(message.receiver, str(error)))
            return
        client.receivers[message.receiver] = one
        stream = one.stream
        stream.receivers[client.number, message.receiver] = one
        self.planet.say(client, Subscribed(message.receiver))
        if stream.account.epoch:
            self.open(one, now)
            self.planet.demands.changed(stream, now)

    def _subscription(self, client: ClientState, message: Subscribe) -> Subscription:
        config = self.planet.config
        if message.receiver in client.receivers:
            raise WireError(f"the receiver {message.receiver} subscribes twice")
        if len(client.receivers) >= config.receivers_per_client_max:
            raise EventError(f"a client has at most {len(client.receivers)} receivers here")
        policy = forms.read_policy(message.policy)
        entries = min(message.entries or config.lane_entries, config.lane_entries)
        size = min(message.size or config.lane_bytes, config.lane_bytes)
        limits = Limits(max(2, entries), max(BYTES_MIN, size))
        since = Position(message.epoch, message.number)
        if not (0 <= since.epoch <= INT64_MAX and 0 <= since.number <= INT64_MAX):
            raise WireError(f"a receiver cannot have come to {since}")
        stream = self.planet.multicast.stream(message.stream)
        return Subscription(client, message.receiver, stream, policy, limits, since)

    def open(self, one: Subscription, now: int) -> None:
        """Give a receiver a lane; where a gap is open, once the digest that settles it has come."""
        stream = one.stream
        if stream.account.missing:
            return
        try:
            self._open(one, now)
        except (EventError, PolicyError) as error:
            self.deny(one, str(error), now)

    def open_waiting(self, stream: Stream, now: int) -> None:
        """Give their lanes to the receivers that waited for a gap to close."""
        for one in list(stream.receivers.values()):
            if one.lane is None:
                self.open(one, now)

    def _open(self, one: Subscription, now: int) -> None:
        stream, client = one.stream, one.client
        epoch, number = stream.position
        skip = one.since.number if one.since.epoch == epoch else 0
        begin = Position(epoch, max(number, skip))
        group = client.outlet.group(stream.key)
        client.streams[stream.key] = stream
        lane = None
        if skip <= number:
            lane = self._shared(one)
        if lane is not None:
            lane.mark(epoch, number)
            client.outlet.wake(group)
        else:
            bit = group.free_bit()
            if bit is None:
                raise EventError(
                    f"one client has at most {len(group.lanes)} policies for one stream"
                )
            control = Aim if self.planet.config.controller == "aim" else Ladder
            lane = Lane(
                one.policy, stream.schema, one.limits, begin=begin, control=control,
                budget=client.budget, pool=self.planet.multicast.pool,
            )  # fmt: skip
            lane.skip = begin if skip > number else None
            group.lanes[bit] = lane
            one.bit = bit
            stream.lanes.append((lane, group, client))
        one.lane = lane
        lane.members.append(one.receiver)
        self.tell(one, begin.number, now)

    def _shared(self, one: Subscription) -> Lane | None:
        """Return the lane of an equal policy behind the same link, where there is one."""
        for bit, lane in one.client.outlet.group(one.stream.key).lanes.items():
            equal = lane.policy.identity == one.policy.identity and lane.limits == one.limits
            if equal and lane.members and lane.skip is None:
                if lane.marks >= MARKS_MAX:
                    raise EventError(
                        f"{lane.marks} changes wait in the lane of {one.stream.key}: try again "
                        "when this client has received what waits for it"
                    )
                one.bit = bit
                return lane
        return None

    def tell(self, one: Subscription, after: int, now: int) -> None:
        """Tell a receiver from where on it gets an epoch, and by which lane."""
        stream = one.stream
        schema = forms.schema_bytes(stream.schema)
        if self.backlogged(one, len(schema), now):
            return
        opened = Opened(
            one.receiver,
            stream.alias,
            stream.key,
            stream.position.epoch,
            stream.base,
            schema,
            one.bit,
            after,
        )
        self.planet.say(one.client, opened)

    def backlogged(self, one: Subscription, size: int, now: int) -> bool:
        """Deny a receiver a stream of which so much would have to be said that others would pay.

        Its sender is to blame, or too slow a client: the other streams go on.
        """
        if one.client.session.control_bytes + size <= BACKLOG_BYTES:
            return False
        reason = f"{one.stream.key} began anew or grew too often while nothing was received"
        self.deny(one, reason, now)
        return True

    def deny(self, one: Subscription, reason: str, now: int) -> None:
        """End a subscription that cannot be served, and say why."""
        self.planet.say(one.client, Denied(one.receiver, reason))
        self.planet.mark(one.client)
        self.remove(one, now)

    def unsubscribe(self, client: ClientState, message: Unsubscribe, now: int) -> None:
        """Let a receiver go."""
        one = client.receivers.get(message.receiver)
        if one is not None:
            self.remove(one, now)

    def remove(self, one: Subscription, now: int) -> None:
        """Forget a receiver, and its lane if it was the last member."""
        client, stream = one.client, one.stream
        client.receivers.pop(one.receiver, None)
        stream.receivers.pop((client.number, one.receiver), None)
        lane = one.lane
        if lane is not None:
            lane.members.remove(one.receiver)
            if not lane.members:
                self._drop_lane(client, stream, one.bit)
        for bit, _ in one.retired:
            self._drop_lane(client, stream, bit)
        one.retired.clear()
        self.planet.demands.changed(stream, now)
        self.planet.multicast.forget(stream)

    def _drop_lane(self, client: ClientState, stream: Stream, bit: int) -> None:
        group = client.outlet.group(stream.key)
        lane = group.lanes.pop(bit)
        lane.pool.bytes -= lane.held_bytes
        self.planet.totals.keep(lane)
        stream.lanes = [entry for entry in stream.lanes if entry[0] is not lane]
        if not group.lanes:
            client.outlet.remove(stream.key)
            client.streams.pop(stream.key, None)

    def repolicy(self, client: ClientState, message: Repolicy, now: int) -> None:
        """Let a receiver go on under another policy, from the next number on."""
        one = client.receivers.get(message.receiver)
        if one is None:
            self.planet.say(
                client, Refused(message.request, f"there is no receiver {message.receiver}")
            )
            return
        try:
            self._repolicy(one, forms.read_policy(message.policy), now)
        except (EventError, PolicyError) as error:
            self.planet.say(client, Refused(message.request, str(error)))
            return
        self.planet.say(client, Done(message.request))

    def _repolicy(self, one: Subscription, policy: Policy, now: int) -> None:
        """What waits under the old policy stays under it: its lane ends at a marker here."""
        stream, old, bit = one.stream, one.lane, one.bit
        if old is None or policy.identity == one.policy.identity:
            one.policy = policy
            return
        if stream.account.missing:
            raise EventError(f"the numbers of {stream.key} are not complete just now: try again")
        if old.marks >= MARKS_MAX:
            raise EventError(f"{old.marks} changes of {stream.key} wait already: try again later")
        before, one.policy, one.lane = one.policy, policy, None
        try:
            self._open(one, now)
        except (EventError, PolicyError):
            one.policy, one.lane, one.bit = before, old, bit
            raise
        old.mark(*stream.position)
        # The marker may have left a digest of what was filtered in a lane that was empty.
        one.client.outlet.wake(one.client.outlet.group(stream.key))
        self.planet.mark(one.client)
        old.members.remove(one.receiver)
        if not old.members:
            # It gets nothing more, and is dropped when the link has drained it.
            stream.lanes = [entry for entry in stream.lanes if entry[0] is not old]
            one.retired.append((bit, old))
            self._retiring[one.client.number, one.receiver] = one
            self.sweep()
        self.planet.demands.changed(stream, now)

    def retired(self) -> list[tuple[Lane, Stream, ClientState]]:
        """Return the lanes that get nothing more, and hold something still."""
        return [
            (lane, one.stream, one.client)
            for one in self._retiring.values()
            for _, lane in one.retired
        ]

    def sweep(self) -> None:
        """Drop lanes that get nothing more, and that their links have drained."""
        for key, one in list(self._retiring.items()):
            for bit, lane in list(one.retired):
                if lane.head() is None:
                    one.retired.remove((bit, lane))
                    self._drop_lane(one.client, one.stream, bit)
            if not one.retired:
                del self._retiring[key]
