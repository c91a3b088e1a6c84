"""Client: the core of a program or device that is attached to one planet.

It hosts senders and receivers, keeps its session across connections, and begins a new one where the
planet has forgotten it: then what is lost is told as gaps, and what is not lost is sent again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heliograph.client.incoming import Incoming
from heliograph.client.outgoing import Outgoing
from heliograph.client.receiver import Receiver
from heliograph.client.requests import Requests
from heliograph.client.sender import Sender
from heliograph.event.errors import EventError, UsageError, WireError
from heliograph.event.schema import Schema
from heliograph.policy.aim import Aim
from heliograph.policy.ladder import Ladder
from heliograph.policy.model import Policy
from heliograph.wire import forms
from heliograph.wire.core import Close, Connect, Effect, Log
from heliograph.wire.messages import (
    FEATURES,
    VERSION,
    Ask,
    Attach,
    Attached,
    Bye,
    Depart,
    Detach,
    Repolicy,
    Unsubscribe,
    Withdraw,
)
from heliograph.wire.session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from heliograph.client.config import ClientConfig
    from heliograph.event.block import Block
    from heliograph.event.digest import Digest

_SECOND: Final = 1_000_000_000


class Client:
    """What a program or device knows and wants."""

    def __init__(self, config: ClientConfig, *, rng: Random, now: int) -> None:
        """Begin detached."""
        self.config = config
        self.rng = rng
        self.session = Session(config.window_bytes, config.frame_bytes)
        self.senders: dict[int, Sender] = {}
        self.receivers: dict[int, Receiver] = {}
        self.attached = False
        self.wanted = False  # Whether to be attached.
        self.ended: str | None = None  # Why there is no coming back.
        self.gaps = 0  # How often a session was lost.
        self._addresses: Sequence[str] = ()
        self._tries = 0
        self._token: bytes | None = None
        self._told = 0  # Of the frames received, when this connection began.
        self._beat = 2 * _SECOND
        self._effects: list[Effect] = []
        self._ready: list[int] = []
        self._marked = False
        self._retry_at: int | None = None
        self._connecting = False
        self._begun = now
        self._control = Aim if config.controller == "aim" else Ladder
        self.requests = Requests(self._effects)
        self.outgoing = Outgoing(self)
        self.incoming = Incoming(self)

    # What the application asks for.

    def start(self, address: str, now: int) -> None:
        """Attach to a planet at the first of some addresses, separated by commas, that answers."""
        self._addresses = [one.strip() for one in address.split(",") if one.strip()]
        if not self._addresses:
            raise UsageError("an address is needed to attach to, as in 127.0.0.1:7440")
        self.wanted, self._tries = True, 0
        self._connect(now)

    def advertise(self, stream: str, schema: Schema | None, now: int, epoch: int) -> int:
        """Offer a stream; its answer comes as an effect, and publishing may begin before it."""
        if any(one.stream == stream for one in self.senders.values()):
            raise UsageError(f"this client offers {stream} already: use the sender that it has")
        number = self.requests.number()
        limits = self.config.sender_limits
        sender = Sender(number, stream, schema or Schema(), epoch, limits, self._control)
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
        """Offer a stream no longer; what was published is sent first."""
        one = self.senders.pop(sender)
        one.flush(now)
        self.outgoing.withdraw(one)
        if one.alias:
            self.say(Withdraw(one.alias))

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
            self.config.inbox_limits,
            self._control,
            (entries, size),
        )
        self.receivers[number] = receiver
        del now
        self.incoming.subscribe(receiver)
        return number

    def repolicy(self, receiver: int, policy: Policy, now: int) -> int:
        """Go on under another policy; returns the number of the request."""
        one = self.receivers[receiver]
        request = self.requests.number()
        one.repolicy(policy)
        del now
        self.say(Repolicy(request, receiver, forms.policy_bytes(policy)))
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

    def detach(self, now: int) -> None:
        """Let the planet keep what comes until this client attaches again."""
        self.wanted = False
        if self.attached:
            self.say(Detach())
        elif self.session.link is not None:
            self._hang_up(now, "detached")

    def attach(self, now: int) -> None:
        """Come back."""
        self.wanted = True
        if not self.attached and self.session.link is None:
            self._tries = 0
            self._connect(now)

    def depart(self, now: int) -> None:
        """Go for good; what was published is sent first where the planet is there to take it."""
        self.wanted = False
        for sender in self.senders.values():
            sender.flush(now)
        if self.attached:
            self.outgoing.last = Depart()
            self.mark()
        elif self.session.link is not None:
            self._hang_up(now, "departed")

    # The surface of a core.

    def connected(self, link: int, now: int) -> None:
        """Greet the planet over a new connection."""
        self._connecting = False
        if not self.wanted:
            self._effects.append(Close(link, "not wanted any more"))
            return
        self.session.connect(link, now)
        self._told = self.session.reader.frames
        token = self._token
        self.session.greet(Attach(VERSION, list(FEATURES), token, self._told, self.config.name))
        self._marked = False
        self.mark()

    def refused(self, now: int) -> None:
        """Take note that a connection could not be made."""
        self._connecting = False
        self._again(now)

    def disconnected(self, link: int, now: int) -> None:
        """Come back by a new connection, if that is wanted."""
        if self.session.link != link:
            return
        self.session.disconnect()
        self.attached = False
        self._again(now)

    def feed(self, link: int, data: bytes, now: int) -> None:
        """Take what came in."""
        session = self.session
        if session.link != link:
            return
        try:
            for item in session.feed(data, now):
                if session.link != link:
                    break  # The planet said goodbye; what follows in the chunk is for nobody.
                if self.attached:
                    self.incoming.item(item, now)
                elif isinstance(item, Attached):
                    self._attached(item, now)
                elif isinstance(item, Bye):
                    self._bye(item, now)
                else:
                    self._stranger()
        except (WireError, EventError) as error:
            # The books of this session are not to be trusted: begin anew, and tell the gap.
            self._effects.append(Log("error", "planet_refused", {"reason": str(error)}))
            self._token = None
            self._hang_up(now, str(error))
        if session.cursor_urgent:
            self.mark()

    def pull(self, link: int, max_bytes: int, now: int) -> bytes:
        """Return what is to be written now."""
        if self.session.link != link:
            return b""
        self._marked = False
        self.outgoing.flush(now)
        return self.session.pull(max_bytes, now, self.outgoing.next_frame)

    def tick(self, now: int) -> None:
        """Send what is due, notice silence, and try again to attach."""
        session = self.session
        if self._retry_at is not None and now >= self._retry_at:
            self._connect(now)
        if session.link is None:
            return
        if session.cursor_at is not None and now >= session.cursor_at:
            self.mark()
        patience = 3 * self._beat if self.attached else int(self.config.attach_seconds * _SECOND)
        if now - session.heard >= patience:
            self._hang_up(now, "the planet fell silent")
        elif self.attached and now - session.spoke >= self._beat:
            session.beat()
            self.mark()

    def deadline(self) -> int | None:
        """Return when `tick` wants to be called next."""
        due = self._retry_at
        session = self.session
        if session.link is not None:
            if self.attached:
                watch = session.heard + 3 * self._beat
            else:
                watch = session.heard + int(self.config.attach_seconds * _SECOND)
            due = watch if due is None else min(due, watch)
            if self.attached and not self._marked:
                # What is marked goes out when the link has room: asking again would be in vain.
                due = min(due, session.spoke + self._beat)
                if session.cursor_at is not None:
                    due = min(due, session.cursor_at)
        return due

    def take_effects(self) -> list[Effect]:
        """Return what the shell is to do."""
        effects = list(self._effects)
        self._effects.clear()
        return effects

    def take_ready(self) -> list[int]:
        """Return the link, if it has something to pull."""
        ready, self._ready = self._ready, []
        return ready

    # What its parts ask for.

    def say(self, message: Any) -> None:
        """Send a message, now or when the session stands again; a new one is asked anew."""
        if self.attached or self._token is not None:
            self.session.say(message)
            self.mark()

    def effect(self, effect: Effect) -> None:
        """Ask the shell for something."""
        self._effects.append(effect)

    def mark(self) -> None:
        """Let the shell pull."""
        link = self.session.link
        if link is not None and not self._marked:
            self._marked = True
            self._ready.append(link)

    def bye(self, message: Bye, now: int) -> None:
        """Take the planet's last word on an open connection."""
        self._bye(message, now)

    @staticmethod
    def _stranger() -> None:
        raise WireError("the planet says something before it has greeted")

    def _attached(self, message: Attached, now: int) -> None:
        if message.version != VERSION:
            raise WireError(f"the planet speaks version {message.version}, this client {VERSION}")
        self.attached, self._tries = True, 0
        self._beat = max(1, message.heartbeat_ms) * 1_000_000
        known, self._token = self._token, message.token
        if message.resumed:
            self.session.resume(message.frames)
        else:
            lost = self.session.lost(self._told)
            self.session.resume(0)
            if known is not None:
                self.gaps += 1
                self._effects.append(Log("warning", "session_lost", {"planet": message.planet}))
            self.outgoing.renew(lost)
            self.incoming.renew()
            self.requests.lose({**self.senders, **self.receivers})
        self.mark()
        del now

    def _bye(self, message: Bye, now: int) -> None:
        if self.wanted:
            fields = {"code": message.code, "reason": message.reason}
            self._effects.append(Log("warning", "planet_said_bye", fields))
        if not message.again:
            self.wanted = False
            self.ended = message.reason
            self._token = None
            self.incoming.end(message.reason)
        self._hang_up(now, message.reason)

    def _hang_up(self, now: int, reason: str) -> None:
        link = self.session.link
        if link is not None:
            self._effects.append(Close(link, reason))
            self.session.disconnect()
            self.attached = False
        self._again(now)

    def _again(self, now: int) -> None:
        """Try again after a while, which grows from try to try."""
        if not self.wanted or self._connecting or self._retry_at is not None:
            return
        wait = self.config.retry_seconds * 2 ** min(self._tries, 16)
        wait = min(wait, self.config.retry_seconds_max) * self.rng.uniform(0.5, 1.0)
        self._retry_at = now + int(wait * _SECOND)

    def _connect(self, now: int) -> None:
        del now
        self._retry_at = None
        if self._connecting or self.session.link is not None or not self.wanted:
            return
        address = self._addresses[self._tries % len(self._addresses)]
        self._tries += 1
        self._connecting = True
        self._effects.append(Connect(address))
