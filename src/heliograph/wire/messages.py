"""Messages: what clients and planets say to each other beside data.

Each is one small frozen class; on the wire it is a msgpack array that begins with its tag. A peer
that does not know a field which is added at the end leaves it out, and ignores those that it does
not know.
"""

from __future__ import annotations

from typing import Final

import msgspec

from heliograph.event.errors import WireError
from heliograph.event.rows import BROKEN

VERSION: Final = 1
# The newer of two sides speaks the version of the older one, down to this.
OLDEST: Final = 1
# What a side may say that it understands; both use what both name.
# Whoever knows `displaced` may be told that another client offers its stream now.
DISPLACED: Final = "displaced"
FEATURES: Final = ("to", DISPLACED)
# Says, for the frames that a client received, that the session of its token is to be forgotten.
ANEW: Final = -1


class Message(msgspec.Struct, frozen=True, array_like=True):
    """The base of all messages."""


class Attach(Message, frozen=True, array_like=True, tag=1):
    """A client greets a planet; a token resumes its session, of which it received `frames`."""

    version: int
    features: list[str]
    token: bytes | None
    frames: int
    name: str = ""


class Attached(Message, frozen=True, array_like=True, tag=2):
    """The planet's answer; a session that it did not know any more begins anew."""

    version: int
    features: list[str]
    token: bytes
    resumed: bool
    frames: int
    heartbeat_ms: int
    frame_bytes_max: int
    planet: str = ""


class Bye(Message, frozen=True, array_like=True, tag=3):
    """The last word on a connection: why it ends, and whether coming back makes sense."""

    code: str
    reason: str
    again: bool = True


class Advertise(Message, frozen=True, array_like=True, tag=10):
    """A sender offers a stream; its next event has the number `next` of `epoch`."""

    request: int
    stream: str
    epoch: int
    base: int
    next: int
    schema: bytes


class Advertised(Message, frozen=True, array_like=True, tag=11):
    """The stream is the client's; frames name it by `alias`."""

    request: int
    alias: int


class Grow(Message, frozen=True, array_like=True, tag=12):
    """The schema of a stream has grown; it reads everything older too."""

    alias: int
    schema: bytes


class Withdraw(Message, frozen=True, array_like=True, tag=13):
    """A sender offers its stream no longer."""

    alias: int


class Demand(Message, frozen=True, array_like=True, tag=14):
    """What the receivers of a stream allow to be dropped: their distinct policies."""

    alias: int
    receivers: int
    policies: list[bytes]


class Displaced(Message, frozen=True, array_like=True, tag=15):
    """Another client of the same name offers the stream now; this one offers it no longer."""

    alias: int


class Subscribe(Message, frozen=True, array_like=True, tag=20):
    """A receiver wants a stream, which need not exist yet; `epoch` and `number` are its cursor."""

    receiver: int
    stream: str
    policy: bytes
    epoch: int = 0
    number: int = 0
    entries: int = (
        0  # The capacity of its lane, where the receiver wants less than the planet gives.
    )
    size: int = 0


class Subscribed(Message, frozen=True, array_like=True, tag=21):
    """The subscription stands; where it begins is told with the stream itself."""

    receiver: int


class Opened(Message, frozen=True, array_like=True, tag=22):
    """From `after` on, a receiver gets every number of an epoch, by the lane `bit`."""

    receiver: int
    alias: int
    stream: str
    epoch: int
    base: int
    schema: bytes
    bit: int
    after: int


class Withdrawn(Message, frozen=True, array_like=True, tag=23):
    """Nobody offers the stream any more; the subscription waits for who does."""

    alias: int
    last: int


class Repolicy(Message, frozen=True, array_like=True, tag=24):
    """A receiver changes its policy."""

    request: int
    receiver: int
    policy: bytes


class Unsubscribe(Message, frozen=True, array_like=True, tag=25):
    """A receiver wants no more."""

    receiver: int


class Done(Message, frozen=True, array_like=True, tag=30):
    """A request was carried out."""

    request: int


class Refused(Message, frozen=True, array_like=True, tag=31):
    """A request was not carried out; in `again` milliseconds it may be, unless that is 0.

    An advertisement may be accepted in a larger epoch than `epoch`, unless that is 0.
    """

    request: int
    reason: str
    again: int = 0
    epoch: int = 0


class Denied(Message, frozen=True, array_like=True, tag=32):
    """A subscription ended: its policy does not suit the stream, or a limit was reached."""

    receiver: int
    reason: str


class Beacon(Message, frozen=True, array_like=True, tag=33):
    """How far a stream has come, so that a silent tail shows."""

    alias: int
    number: int


class Detach(Message, frozen=True, array_like=True, tag=40):
    """A client goes and means to come back: its lanes wait."""


class Depart(Message, frozen=True, array_like=True, tag=41):
    """A client goes for good."""


class Ask(Message, frozen=True, array_like=True, tag=50):
    """Someone wants to know how the planet is."""

    request: int


class Told(Message, frozen=True, array_like=True, tag=51):
    """How the planet is, as JSON."""

    request: int
    body: bytes


AnyMessage = (
    Attach
    | Attached
    | Bye
    | Advertise
    | Advertised
    | Grow
    | Withdraw
    | Demand
    | Displaced
    | Subscribe
    | Subscribed
    | Opened
    | Withdrawn
    | Repolicy
    | Unsubscribe
    | Done
    | Refused
    | Denied
    | Beacon
    | Detach
    | Depart
    | Ask
    | Told
)


def spoken(theirs: int) -> int:
    """Return the version in which to talk to a side that speaks all up to `theirs`.

    Raises:
        WireError: There is none that both speak.
    """
    if theirs < OLDEST:
        raise WireError(
            f"the other side speaks version {theirs} of the protocol, this one {OLDEST} to "
            f"{VERSION}: upgrade the other side"
        )
    return min(theirs, VERSION)


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(AnyMessage)


def encode_message(message: Message) -> bytes:
    """Return a message as bytes."""
    return _ENCODER.encode(message)


def decode_message(data: bytes) -> Message:
    """Read a message from bytes that come from outside.

    Raises:
        WireError: They are none.
    """
    try:
        message: Message = _DECODER.decode(data)
    except BROKEN as error:
        raise WireError(f"bytes that are no message: {error}") from None
    return message
