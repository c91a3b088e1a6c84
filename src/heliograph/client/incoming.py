"""Incoming: what a planet sends to a client, handed to the receivers that it is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heliograph.client.receiver import EPOCHS_MAX
from heliograph.event.errors import PolicyError, WireError
from heliograph.event.event import Position
from heliograph.event.types import INT64_MAX, TIME_MAX, TIME_MIN
from heliograph.lane.entry import Entry
from heliograph.lane.outlet import LANES_MAX
from heliograph.wire import forms
from heliograph.wire.core import Arrived
from heliograph.wire.messages import (
    Advertised,
    Beacon,
    Demand,
    Denied,
    Displaced,
    Done,
    Grow,
    Opened,
    Refused,
    Subscribe,
    Subscribed,
    Told,
    Withdrawn,
)
from heliograph.wire.reader import BlockFrame, Cursor, DigestFrame, Run, To

if TYPE_CHECKING:
    from heliograph.client.client import Client
    from heliograph.client.receiver import Receiver
    from heliograph.event.block import Block
    from heliograph.event.digest import Digest
    from heliograph.event.schema import Schema
    from heliograph.policy.model import Policy


def _check(message: Opened) -> None:
    """Refuse what no stream can be opened with."""
    lane = 0 <= message.bit < LANES_MAX and TIME_MIN <= message.base <= TIME_MAX
    if not lane or not (0 < message.epoch <= INT64_MAX and 0 <= message.after <= INT64_MAX):
        raise WireError(f"a stream is opened where it cannot be: {message.stream}")


@dataclass(slots=True)
class _Named:
    """What an alias stands for."""

    stream: str
    epoch: int
    base: int
    schema: Schema


class Incoming:
    """The receivers of a client, and the names that its planet gave to streams."""

    def __init__(self, client: Client) -> None:
        """Begin without a receiver."""
        self.client = client
        self._names: dict[int, _Named] = {}
        self._newest = 0  # The largest alias that the planet has told.
        self._masks: dict[str, int] = {}
        self._streams: dict[str, list[Receiver]] = {}
        self.repolicies: dict[int, tuple[Receiver, Policy]] = {}  # By request, until it is done.
        self._told: dict[int, None] = {}  # Receivers whose application knows that something waits.

    def subscribe(self, receiver: Receiver) -> None:
        """Ask for a stream, once a session stands."""
        self._streams.setdefault(receiver.stream, []).append(receiver)
        # Where no session stands this is not kept; `renew` asks, once one does.
        epoch, number = receiver.since
        entries, size = receiver.wanted
        self.client.say(
            Subscribe(
                receiver.number,
                receiver.stream,
                forms.policy_bytes(receiver.policy),
                epoch,
                number,
                entries,
                size,
            )
        )

    def forget(self, receiver: Receiver) -> None:
        """Hand nothing more to a receiver: its lane's bit may soon be another's."""
        members = self._streams.get(receiver.stream, [])
        if receiver in members:
            members.remove(receiver)
        if not members:
            self._streams.pop(receiver.stream, None)
            self._masks.pop(receiver.stream, None)
            for alias in [one for one, it in self._names.items() if it.stream == receiver.stream]:
                del self._names[alias]
        self._told.pop(receiver.number, None)

    def renew(self) -> None:
        """Ask a planet anew that knows nothing of these receivers."""
        self.repolicies.clear()
        self._names.clear()
        self._newest = 0
        self._masks.clear()
        self._streams.clear()
        for receiver in self.client.receivers.values():
            if receiver.error is None:
                receiver.rejoins = receiver.account is not None
                self.subscribe(receiver)

    def take(self, receiver: Receiver, events: int) -> list[Block | Digest]:
        """Return what waits for an application."""
        self._told.pop(receiver.number, None)
        taken = receiver.take(events)
        if receiver.lane is not None and receiver.lane.entries:
            self._tell(receiver)
        return taken

    def _tell(self, receiver: Receiver) -> None:
        if receiver.number not in self._told:
            self._told[receiver.number] = None
            self.client.effects.append(Arrived(receiver.number))

    def item(self, item: Any, now: int) -> None:
        """Take one item of what came in.

        Raises:
            WireError: The planet breaks the protocol.
            EventError: Its books do not add up.
        """
        kind = type(item)
        if kind is Cursor:
            self.client.session.passed(item.frames, now)
            if self.client.outgoing.waiting or self.client.session.waiting:
                self.client.mark()
        elif kind is Run or kind is BlockFrame or kind is DigestFrame:
            self._data(item, now)
        elif kind is To:
            named = self._named(item.alias)
            if named is not None:
                self._masks[named.stream] = item.mask
        else:
            self._message(item, now)

    def _named(self, alias: int) -> _Named | None:
        """Return what an alias stands for; None where nobody here wants that any more."""
        named = self._names.get(alias)
        if named is None and alias > self._newest:
            raise WireError(f"data under the alias {alias}, which the planet has not opened")
        return named

    def _data(self, item: Run | BlockFrame | DigestFrame, now: int) -> None:
        named = self._named(item.alias)
        if named is None:
            return
        found: Block | Digest
        if isinstance(item, Run):
            found = forms.run_block(
                item, named.stream, named.epoch, named.schema.version, named.base
            )
        elif isinstance(item, BlockFrame):
            found = forms.framed_block(item, named.stream, named.epoch)
        else:
            found = forms.framed_digest(item, named.stream, named.epoch)
        entry = Entry(found)
        mask = self._masks.get(named.stream, 0)
        for receiver in self._streams.get(named.stream, ()):
            if receiver.arrive(item.alias, mask, entry, now):
                self._tell(receiver)

    def _message(  # noqa: C901, PLR0912 - one case for each message that a planet sends
        self, message: Any, now: int
    ) -> None:
        requests = self.client.requests
        match message:
            case Opened():
                self._opened(message, now)
            case Grow():
                self._grown(message)
            case Beacon():
                self._beacon(message)
            case Advertised():
                self.client.outgoing.advertised(message)
            case Demand():
                self.client.outgoing.demanded(message)
            case Displaced():
                self.client.outgoing.displaced(message)
            case Subscribed():
                requests.answer(message.receiver)
            case Denied():
                self._denied(message)
            case Done():
                changed = self.repolicies.pop(message.request, None)
                if changed is not None:
                    changed[0].repolicy(changed[1])
                requests.answer(message.request)
            case Refused():
                self.repolicies.pop(message.request, None)
                self.client.outgoing.refused(message)
                requests.answer(message.request, message.reason)
            case Told():
                requests.answer(message.request, body=message.body)
            case Withdrawn():
                pass  # The subscription waits for whoever offers the stream next.
            case _:
                raise WireError(f"a message that clients do not take: {type(message).__name__}")

    def _opened(self, message: Opened, now: int) -> None:
        _check(message)
        receiver = self.client.receivers.get(message.receiver)
        schema = forms.read_schema(message.schema)
        known = self._names.get(message.alias)
        self._newest = max(self._newest, message.alias)
        if message.stream not in self._streams:
            return  # Its receivers were closed meanwhile.
        if known is None:
            self._names[message.alias] = _Named(message.stream, message.epoch, message.base, schema)
            if len(self._names) > EPOCHS_MAX:
                self._prune(message.stream)
        else:
            schema = known.schema if known.schema.version >= schema.version else schema
            known.schema = schema
        if receiver is None:
            return  # What is said of the stream is for the others too.
        begin = Position(message.epoch, message.after)
        try:
            receiver.open(message.alias, message.bit, begin, schema, now)
        except PolicyError as error:
            self._end(receiver, str(error))
            return
        if receiver.lane is not None and receiver.lane.entries:
            self._tell(receiver)

    def _prune(self, stream: str) -> None:
        """Forget epochs of which no lane of a planet can hold anything any more."""
        known = [alias for alias, named in self._names.items() if named.stream == stream]
        for alias in known[:-EPOCHS_MAX]:
            del self._names[alias]

    def _grown(self, message: Grow) -> None:
        named = self._named(message.alias)
        if named is None:
            return
        named.schema = forms.read_schema(message.schema)
        for receiver in list(self._streams.get(named.stream, ())):
            try:
                receiver.grow(named.epoch, named.schema)
            except PolicyError as error:
                self._end(receiver, str(error))

    def _beacon(self, message: Beacon) -> None:
        named = self._named(message.alias)
        if named is None:
            return
        for receiver in self._streams.get(named.stream, ()):
            if receiver.silent(Position(named.epoch, message.number)):
                self._tell(receiver)

    def _denied(self, message: Denied) -> None:
        receiver = self.client.receivers.get(message.receiver)
        self.client.requests.answer(message.receiver, message.reason)
        if receiver is not None:
            self._end(receiver, message.reason)

    def _end(self, receiver: Receiver, reason: str) -> None:
        """Let an application know that no more comes to a receiver, and why."""
        receiver.error = reason
        self.forget(receiver)
        self._tell(receiver)

    def end(self, reason: str) -> None:
        """Let every application know that the planet wants no more of this client."""
        for receiver in self.client.receivers.values():
            self._end(receiver, reason)
