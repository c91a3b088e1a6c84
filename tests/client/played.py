"""A client, and a planet that a test plays by hand: it says what it likes, and looks at all."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

import msgspec

from heliograph.client.client import Client
from heliograph.client.config import ClientConfig
from heliograph.event.schema import Schema
from heliograph.wire.core import Close, Connect, Log
from heliograph.wire.forms import framed_block, schema_bytes
from heliograph.wire.frames import (
    CONTROL,
    EVENT,
    EVENT_HEAD,
    GREETING,
    cursor_frame,
    message_frame,
    to_frame,
    word,
)
from heliograph.wire.messages import (
    VERSION,
    Advertise,
    Advertised,
    Attach,
    Attached,
    Bye,
    Message,
    Opened,
    Subscribe,
    encode_message,
)
from heliograph.wire.reader import BlockFrame, Reader
from wire.sides import flat

if TYPE_CHECKING:
    from heliograph.policy.model import Policy
    from heliograph.wire.core import Effect

MS: Final = 1_000_000
SECOND: Final = 1_000 * MS
NUMBERS: Final = Schema.declare({"n": "int64"})
ROOM: Final = 2**20


def event(number: int, value: object = 7, alias: int = 1) -> bytes:
    """Return the frame of an event of one attribute."""
    row = msgspec.msgpack.encode([0, value])
    return EVENT_HEAD.pack(word(EVENT, EVENT_HEAD.size + len(row)), alias, number) + row


def opened(receiver: int, after: int = 0, epoch: int = 1, **changes: Any) -> Opened:
    """Return how a planet opens a stream to a receiver."""
    whole = Opened(receiver, 1, "s", epoch, 0, schema_bytes(NUMBERS), 0, after)
    return msgspec.structs.replace(whole, **changes)


class Played:
    """A client and the connections to it."""

    def __init__(self, address: str = "p", *, attached: bool = True, **settings: Any) -> None:
        self.client = Client(ClientConfig(**settings), rng=Random(1), now=0)
        self.now = 0
        self.link = 0
        self.effects: list[Effect] = []
        self.heard: list[Any] = []
        self.reader = Reader(2**24)
        self.client.start(address, self.now)
        if attached:
            self.connect()
            self.greet()

    def connect(self) -> None:
        """Let a connection stand, and hear how the client greets."""
        self.link += 1
        self.reader = Reader(2**24, frames=self.reader.frames)
        self.client.connected(self.link, self.now)
        self.hear()

    def cut(self) -> None:
        self.client.disconnected(self.link, self.now)

    def again(self, *, resumed: bool = True, **changes: Any) -> None:
        """Let the connection be lost, and the client come back."""
        self.cut()
        due = self.client.deadline()
        assert due is not None
        self.now = due
        self.client.tick(self.now)
        self.connect()
        self.greet(resumed=resumed, **changes)

    def greet(self, *, resumed: bool = False, **changes: Any) -> None:
        if not resumed:
            self.reader.frames = 0
        answer = Attached(VERSION, [], b"t" * 16, resumed, self.reader.frames, 1_000, 2**20, "p")
        answer = msgspec.structs.replace(answer, **changes)
        self.send(message_frame(GREETING, encode_message(answer)))

    def bye(self, *, again: bool, behind: bytes = b"") -> None:
        goodbye = encode_message(Bye("code", "the reason", again))
        self.send(message_frame(GREETING, goodbye) + behind)

    def send(self, data: bytes) -> None:
        """Say bytes, and hear what the client says then."""
        self.client.feed(self.link, data, self.now)
        self.hear()

    def say(self, *messages: Message) -> None:
        self.send(b"".join(message_frame(CONTROL, encode_message(one)) for one in messages))

    def hear(self) -> None:
        """Take all that the client has to say, if it says that there is something."""
        if self.link not in self.client.take_ready():
            return
        while data := self.client.pull(self.link, ROOM, self.now):
            self.heard += flat(self.reader.feed(data))

    def acknowledge(self) -> None:
        self.send(cursor_frame(self.reader.frames, self.reader.size))

    def wait(self, seconds: float) -> None:
        """Let time pass from one deadline to the next."""
        end = self.now + int(seconds * SECOND)
        while (due := self.client.deadline()) is not None and due <= end:
            assert due > self.now, "a deadline that does not pass"
            self.now = due
            self.client.tick(self.now)
            self.hear()
        self.now = end

    # What was heard.

    def items(self, kind: type) -> list[Any]:
        return [one for one in self.heard if isinstance(one, kind)]

    def numbers(self, alias: int = 1) -> list[int]:
        """Return the numbers of the events that came under an alias."""
        found: list[int] = []
        for one in self.heard:
            if isinstance(one, tuple) and one[0] == alias:
                found.append(one[1])
            elif isinstance(one, BlockFrame) and one.alias == alias:
                found += framed_block(one, "s", 1).numbers().tolist()
        return found

    @property
    def attach(self) -> Attach:
        found = self.items(Attach)[-1]
        assert isinstance(found, Attach)
        return found

    def took(self, kind: type) -> list[Any]:
        """Return the effects of one kind so far."""
        self.effects += self.client.take_effects()
        return [one for one in self.effects if isinstance(one, kind)]

    @property
    def tries(self) -> list[str]:
        return [one.address for one in self.took(Connect)]

    @property
    def closed(self) -> list[str]:
        return [one.reason for one in self.took(Close)]

    @property
    def logs(self) -> list[str]:
        return [one.event for one in self.took(Log)]

    # What applications do.

    def advertise(self, stream: str = "s", schema: Schema | None = None, alias: int = 1) -> int:
        """Offer a stream, and let the planet take it."""
        sender = self.client.advertise(stream, schema, self.now, 1)
        self.hear()
        self.say(Advertised(self.items(Advertise)[-1].request, alias))
        return sender

    def publish(self, sender: int, count: int = 1, **values: Any) -> None:
        for _ in range(count):
            number = self.client.senders[sender].last + 1
            self.client.publish(sender, values or {"n": number}, number, self.now)

    def subscribe(self, policy: Policy | None = None, *, after: int = 0) -> int:
        """Want the stream, and let the planet open it."""
        receiver = self.client.subscribe("s", policy, self.now)
        self.hear()
        assert self.items(Subscribe)[-1].receiver == receiver
        self.say(opened(receiver, after))
        self.send(to_frame(1, 1))
        return receiver
