"""Outgoing: what a client's senders send, and how it goes on when a planet has forgotten them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heliograph.client.sender import FRAME_HEAD_BYTES
from heliograph.event.block import Block
from heliograph.event.errors import HeliographError
from heliograph.lane.outlet import Outlet
from heliograph.wire import forms
from heliograph.wire.core import Log
from heliograph.wire.messages import Advertise, Advertised, Demand, Displaced, Grow, Withdraw
from heliograph.wire.reader import BlockFrame, DigestFrame, Reader, Run

if TYPE_CHECKING:
    from heliograph.client.client import Client
    from heliograph.client.sender import Sender
    from heliograph.event.digest import Digest
    from heliograph.wire.messages import Depart, Refused


class Outgoing:
    """The lanes of a client's senders, drained by its one link."""

    def __init__(self, client: Client) -> None:
        """Begin without a sender."""
        self.client = client
        self.outlet = Outlet()
        self.last: Depart | None = None  # Said when nothing waits any more.
        self._by_stream: dict[str, Sender] = {}
        self._by_alias: dict[int, Sender] = {}
        self._gathering: dict[int, Sender] = {}
        # Streams that were withdrawn before the planet had answered, by request.
        self._withdrawn: dict[int, str] = {}

    def advertise(self, sender: Sender) -> None:
        """Offer a stream, once a session stands."""
        self._by_stream[sender.stream] = sender
        self._ask(sender, sender.last + 1)

    def _ask(self, sender: Sender, number: int) -> None:
        # Where no session stands this is not kept; `renew` asks, once one does.
        schema = forms.schema_bytes(sender.schema)
        self.client.say(
            Advertise(sender.number, sender.stream, sender.epoch, sender.base, number, schema)
        )

    def stir(self, sender: Sender) -> None:
        """Let what a sender has gathered go out with the next pull."""
        sender.stirred = True
        self._gathering[sender.number] = sender
        self.client.mark()

    @property
    def waiting(self) -> bool:
        """Whether a cursor that opens the window lets something go."""
        return bool(self.outlet.turn or self._gathering or self.last)

    def withdraw(self, sender: Sender) -> None:
        """Forget a sender."""
        self.outlet.remove(sender.stream)
        self._by_stream.pop(sender.stream, None)
        self._by_alias.pop(sender.alias, None)
        self._gathering.pop(sender.number, None)
        if sender.alias:
            self.client.say(Withdraw(sender.alias))
        elif self.client.standing and sender.error is None:
            self._withdrawn[sender.number] = sender.stream

    def flush(self, now: int) -> None:
        """Turn what was gathered into blocks, just before the link takes them."""
        if not self._gathering:
            return
        for sender in self._gathering.values():
            sender.stirred = False
            sender.flush(now)
            if sender.grown and sender.alias:
                sender.grown = False
                self.client.say(Grow(sender.alias, forms.schema_bytes(sender.schema)))
            if sender.alias and sender.lane.entries:
                self.outlet.wake(self.outlet.group(sender.stream))
        self._gathering.clear()

    def advertised(self, message: Advertised) -> None:
        """Take the alias by which the planet knows a stream."""
        sender = self.client.senders.get(message.request)
        if sender is None:
            stream = self._withdrawn.pop(message.request, None)
            if stream is not None and stream not in self._by_stream:
                self.client.say(Withdraw(message.alias))
            return
        self._by_alias.pop(sender.alias, None)
        sender.alias, sender.error = message.alias, None
        sender.frame_bytes = self.client.frame_bytes
        self._by_alias[message.alias] = sender
        group = self.outlet.group(sender.stream)
        group.lanes = {0: sender.lane}
        if sender.lane.entries:
            self.outlet.wake(group)
        self._gathering[sender.number] = sender
        self.client.requests.answer(sender.number)
        self.client.mark()

    def refused(self, message: Refused) -> bool:
        """Take the planet's no to an advertisement."""
        sender = self.client.senders.get(message.request)
        self._withdrawn.pop(message.request, None)
        if sender is None:
            return False
        sender.error = message.reason
        sender.again, sender.beyond = message.again, message.epoch
        self.client.mark()  # A departure may have waited for this answer.
        return True

    def displaced(self, message: Displaced) -> None:
        """Let go of a stream that another client has taken over while this one was away.

        The planet ignores what was sent under its alias until it hears that this is known.
        """
        sender = self._by_alias.pop(message.alias, None)
        if sender is None:
            return  # It was withdrawn before, and the planet has been told so.
        self.outlet.remove(sender.stream)
        self._gathering.pop(sender.number, None)
        self.client.say(Withdraw(message.alias))
        name, lost = self.client.config.name, sender.waiting + self._under_way(message.alias)
        sender.alias, sender.displaced = 0, True
        sender.error = f"another client of the name {name!r} offers the stream now"
        if lost:
            sender.error += f"; up to {lost} events are lost"
        fields = {"stream": sender.stream, "epoch": sender.epoch, "name": name, "lost": lost}
        self.client.effects.append(Log("warning", "stream_taken_over", fields))

    def _under_way(self, alias: int) -> int:
        """Return how many events of a stream were sent and not acknowledged."""
        reader = Reader(self.client.config.frame_bytes)
        frames = [frame for frame, data in self.client.session.unacked if data]
        items = [one for frame in frames for one in reader.feed(frame)]
        runs = sum(len(one.rows) for one in items if isinstance(one, Run) and one.alias == alias)
        blocks = (one for one in items if isinstance(one, BlockFrame) and one.alias == alias)
        return runs + sum(one.count for one in blocks)

    def demanded(self, message: Demand) -> None:
        """Take what the receivers of a stream would give up first."""
        sender = self._by_alias.get(message.alias)
        if sender is None:
            return
        policies = []
        for data in message.policies:
            try:
                policies.append(forms.read_policy(data))
            except HeliographError:
                continue
        sender.demand(policies, message.receivers)

    def next_frame(self, size: int) -> bytes | None:
        """Return the next frame of data: fairly among senders."""
        found = self.outlet.peek()
        if found is None:
            if self.last is not None and not self._unasked():
                last, self.last = self.last, None
                self.client.session.say(last)
                self.client.mark()
            return None
        group, entry, mask = found
        sender = self._by_stream[group.stream]
        size = min(size, (sender.frame_bytes - FRAME_HEAD_BYTES) // 2)  # See `Group.cut`.
        if entry.size > size:
            entry = group.cut(entry, mask, size, sender.schema)
        frame = forms.entry_frame(entry, sender.alias, sender.base)
        if len(frame) > sender.frame_bytes and isinstance(entry.item, Block):
            self._discard(sender, len(frame))
            return self.next_frame(size)
        group.pop(mask)
        self.outlet.sent(group, len(frame))
        return frame

    def _unasked(self) -> bool:
        """Whether something waits for the planet's answer to an advertisement."""
        return any(
            one.lane.entries and not one.alias and one.error is None
            for one in self.client.senders.values()
        )

    def _discard(self, sender: Sender, size: int) -> None:
        """Tell as a gap what waits behind an event that the planet would refuse this client for.

        It was published before the planet had said how long a frame may be.
        """
        sender.lane.discard()
        fields = {"stream": sender.stream, "bytes": size, "frame_bytes": sender.frame_bytes}
        self.client.effects.append(Log("error", "event_too_long", fields))

    def renew(self, lost: list[bytes]) -> None:
        """Go on with a planet that knows nothing: what it had not acknowledged is sent again."""
        found: dict[int, list[Block | Digest]] = {}
        reader = Reader(self.client.config.frame_bytes)
        for item in (one for frame in lost for one in reader.feed(frame)):
            sender = self._by_alias.get(getattr(item, "alias", 0))
            if sender is None:
                continue
            data = _data(item, sender)
            if data is not None:
                found.setdefault(sender.number, []).append(data)
        self._by_alias.clear()
        self._withdrawn.clear()
        for sender in [one for one in self.client.senders.values() if not one.displaced]:
            self.outlet.remove(sender.stream)
            sender.alias = 0
            for entry in sender.lane.entries:
                entry.frame = b""
            number = sender.restart(found.get(sender.number, []))
            self._ask(sender, number)


def _data(item: object, sender: Sender) -> Block | Digest | None:
    """Return what a frame of our own holds."""
    if isinstance(item, Run):
        return forms.run_block(
            item, sender.stream, sender.epoch, sender.schema.version, sender.base
        )
    if isinstance(item, BlockFrame):
        return forms.framed_block(item, sender.stream, sender.epoch)
    if isinstance(item, DigestFrame):
        return forms.framed_digest(item, sender.stream, sender.epoch)
    return None
