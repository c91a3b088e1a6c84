"""Client: the core of a program or device that is attached to one planet.

It hosts senders and receivers, keeps its session across connections, and begins a new one where the
planet has forgotten it: then what is lost is told as gaps, and what is not lost is sent again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heliograph.client.attachment import Attachment
from heliograph.client.incoming import Incoming
from heliograph.client.outgoing import Outgoing
from heliograph.client.receiver import Receiver
from heliograph.client.requests import Requests
from heliograph.client.sender import Sender
from heliograph.event.errors import UsageError
from heliograph.event.schema import Schema
from heliograph.policy.aim import Aim
from heliograph.policy.ladder import Ladder
from heliograph.policy.model import Policy
from heliograph.wire import forms
from heliograph.wire.messages import (
    Ask,
    Depart,
    Repolicy,
    Unsubscribe,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from heliograph.client.config import ClientConfig
    from heliograph.event.block import Block
    from heliograph.event.digest import Digest

_SECOND: Final = 1_000_000_000


class Client(Attachment):
    """What a program or device knows and wants."""

    def __init__(self, config: ClientConfig, *, rng: Random, now: int) -> None:
        """Begin detached."""
        del now
        super().__init__(config, rng)
        self.senders: dict[int, Sender] = {}
        self.receivers: dict[int, Receiver] = {}
        self._control = Aim if config.controller == "aim" else Ladder
        self.requests = Requests(self.effects)
        self.outgoing = Outgoing(self)
        self.incoming = Incoming(self)

    # What the application asks for.

    def advertise(self, stream: str, schema: Schema | None, now: int, epoch: int) -> int:
        """Offer a stream; its answer comes as an effect, and publishing may begin before it."""
        if any(one.stream == stream for one in self.senders.values()):
            raise UsageError(f"this client offers {stream} already: use the sender that it has")
        number = self.requests.number()
        limits = self.config.sender_limits
        sender = Sender(number, stream, schema or Schema(), epoch, limits, self._control)
        sender.frame_bytes = self.frame_bytes
        self.senders[number] = sender
        del now
        self.outgoing.advertise(sender)
        return number

    def publish(self, sender: int, values: Mapping[str, Any], time: int, now: int) -> int:
        """Take an event and return its number; see `Sender.publish`."""
        one = self.senders[sender]
        number = one.publish(values, time, now)
        if not one.stirred:
            self.outgoing.stir(one)
        return number

    def offer(self, sender: int, block: Block, schema: Schema, now: int) -> None:
        """Publish a block of many events, whose numbers follow, and which `schema` reads."""
        one = self.senders[sender]
        one.grow(schema)
        one.offer(block, now)
        self.outgoing.stir(one)

    def withdraw(self, sender: int, now: int) -> None:
        """Offer a stream no longer; what waits to be sent is forgotten: see `idle` first."""
        one = self.senders.pop(sender)
        one.flush(now)
        self.outgoing.withdraw(one)

    def subscribe(
        self,
        stream: str,
        policy: Policy | None,
        now: int,
        *,
        entries: int = 0,
        size: int = 0,
    ) -> int:
        """Want a stream; its answer comes as an effect, its events by `take`."""
        number = self.requests.number()
        receiver = Receiver(
            number,
            stream,
            policy or Policy(),
            self.config.inbox_within(entries, size),
            self._control,
            (entries, size),
        )
        self.receivers[number] = receiver
        del now
        self.incoming.subscribe(receiver)
        return number

    def repolicy(self, receiver: int, policy: Policy, now: int) -> int:
        """Go on under another policy; returns the number of the request.

        Raises:
            PolicyError: It does not suit the stream.
        """
        one = self.receivers[receiver]
        one.check(policy)
        request = self.requests.number()
        del now
        if self.standing:
            self.incoming.repolicies[request] = (one, policy)
            self.say(Repolicy(request, receiver, forms.policy_bytes(policy)))
        else:  # The planet is told with the subscription.
            one.repolicy(policy)
            self.requests.answer(request)
        return request

    def unsubscribe(self, receiver: int, now: int) -> None:
        """Want a stream no longer."""
        del now
        one = self.receivers.pop(receiver, None)
        if one is not None:
            self.incoming.forget(one)
            self.say(Unsubscribe(receiver))

    def take(self, receiver: int, events: int, now: int) -> list[Block | Digest]:
        """Return what waits for the application, in order."""
        del now
        return self.incoming.take(self.receivers[receiver], events)

    def schema(self, receiver: int) -> Schema:
        """Return the schema that reads all that was taken so far."""
        return self.receivers[receiver].schema or Schema()

    def ask_status(self, now: int) -> int:
        """Ask the planet how it is; returns the number of the request."""
        del now
        request = self.requests.number()
        self.say(Ask(request))
        return request

    def answer(self, request: int) -> Any:
        """Return what a request was answered with."""
        return self.requests.fetch(request)

    def idle(self, sender: int) -> bool:
        """Whether everything published has been received by the planet."""
        one = self.senders[sender]
        return not (one.gathering or one.lane.entries or self.session.unacked)

    # What happens to the session.

    def renew(self, lost: list[bytes]) -> None:
        """Ask a planet anew for everything, which knows nothing of this client."""
        self.outgoing.renew(lost)
        self.incoming.renew()
        self.requests.lose({**self.senders, **self.receivers})

    def arrived(self, item: Any, now: int) -> None:
        """Take one item of what a planet sends."""
        self.incoming.item(item, now)

    def end(self, reason: str) -> None:
        """Tell everyone that there is no coming back."""
        self.incoming.end(reason)
        for sender in self.senders.values():
            sender.error = reason
        self.requests.lose({}, reason)

    def gather(self, now: int) -> None:
        """Make ready what was published, just before the link takes it."""
        self.outgoing.flush(now)

    def next_frame(self, size: int) -> bytes | None:
        """Return the next frame of data."""
        return self.outgoing.next_frame(size)

    def leave(self, now: int) -> None:
        """Depart once everything that was published has been sent."""
        for sender in self.senders.values():
            sender.flush(now)
        self.outgoing.last = Depart()
        self.mark()
