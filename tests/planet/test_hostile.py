"""Whoever breaks the protocol pays for it alone: the others notice nothing; the status tells."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest

from heliograph.event.digest import Digest
from heliograph.event.schema import Schema
from heliograph.wire.forms import schema_bytes
from heliograph.wire.frames import (
    CONTROL,
    GREETING,
    WORD,
    block_frame,
    cursor_frame,
    digest_frame,
    message_frame,
    word,
)  # fmt: skip
from heliograph.wire.messages import (
    OLDEST,
    VERSION,
    Advertise,
    Ask,
    Attached,
    Bye,
    Depart,
    Detach,
    Opened,
    Repolicy,
    Subscribe,
    Unsubscribe,
    Withdraw,
)  # fmt: skip
from planet.ward import PULSE, Ward, block, event, row

if TYPE_CHECKING:
    from collections.abc import Callable

    from planet.pair import Stranger

GREETINGS: dict[str, bytes] = {
    "zeros": bytes(64),
    "ones": b"\xff" * 64,
    "an HTTP request": b"GET / HTTP/1.1\r\nHost: planet\r\n\r\n",
    "a giant frame": WORD.pack(word(GREETING, 2**24 - 1)),
    "a greeting that is longer than greetings are": WORD.pack(word(GREETING, 5_000)),
    "a frame of no length": WORD.pack(word(GREETING, 0)),
    "an unknown kind": WORD.pack(word(99, 8)) + bytes(4),
    "no message": message_frame(GREETING, b"\xc1"),
    "an unknown message": message_frame(GREETING, msgspec.msgpack.encode([999, 1])),
    "a message that is not a greeting": message_frame(GREETING, msgspec.msgpack.encode([50, 1])),
    "fields of other types": message_frame(GREETING, msgspec.msgpack.encode([1, "x", 3, 4, 5])),
}


@pytest.mark.parametrize("name", GREETINGS)
def test_who_does_not_greet_is_closed(name: str) -> None:
    ward = Ward(attached=False)
    ward.eve.send(GREETINGS[name])
    assert ward.refused("protocol")


def test_a_version_that_nobody_speaks_any_more_is_refused_in_words() -> None:
    ward = Ward(attached=False)
    ward.eve.attach(version=OLDEST - 1)
    assert ward.refused("protocol")
    assert "upgrade the other side" in ward.eve.items(Bye)[0].reason


def test_a_newer_client_is_answered_in_the_planets_version() -> None:
    ward = Ward(attached=False)
    ward.eve.attach(version=VERSION + 1)
    ward.rig.settle()
    assert [one.version for one in ward.eve.items(Attached)] == [VERSION]


def test_who_says_more_before_the_answer_is_closed() -> None:
    ward = Ward(attached=False)
    ward.eve.attach()
    ward.eve.say(Ask(1))
    assert ward.refused("protocol")


def test_who_never_greets_is_closed() -> None:
    ward = Ward(attached=False, greeting_seconds=3.0)
    ward.rig.run(5)
    assert ward.refused("greeting")


def test_a_greeting_that_drips_in_too_slowly_is_closed() -> None:
    ward = Ward(attached=False, greeting_seconds=3.0)
    ward.eve.send(WORD.pack(word(GREETING, 4_000)))
    for _ in range(30):
        ward.eve.send(b"x")
        ward.rig.run(0.2)
    assert ward.refused("greeting")


SPEECHES: dict[str, Callable[[int], bytes]] = {
    "garbage": lambda _: Random(3).randbytes(500),
    "a giant frame": lambda _: WORD.pack(word(CONTROL, 2**24 - 1)),
    "an unknown kind": lambda _: WORD.pack(word(42, 8)) + bytes(4),
    "an unknown message": lambda _: message_frame(CONTROL, msgspec.msgpack.encode([999])),
    "a message for clients": lambda _: message_frame(CONTROL, msgspec.msgpack.encode([30, 1])),
    "an attach in the session": lambda _: message_frame(
        CONTROL, msgspec.msgpack.encode([1, 1, [], None, 0])
    ),
    "a cursor that passes what was never sent": lambda _: cursor_frame(10**6, 0),
    "a cursor of the largest number": lambda _: cursor_frame(2**64 - 1, 0),
    "events under an alias of nobody": lambda _: event(77, 1, row(1)),
    "events under another client's alias": lambda alias: event(alias - 1, 21, row(1)),
    "a block under another client's alias": lambda alias: block_frame(
        block(1, [row(1)] * 3), alias - 1, 1
    ),
    "a digest under another client's alias": lambda alias: digest_frame(
        Digest("x", 1, 0, 5, 5), alias - 1
    ),
    "the number 0": lambda alias: event(alias, 0, row(1)),
    "a number beyond int64": lambda alias: event(alias, 2**64 - 1, row(1)),
    "a block whose rows have other lengths": lambda alias: block_frame(
        block(1, [row(1)] * 3, body=b"\x01\x09\x09\x09xxx"), alias, 1
    ),
    "a block of a version that was not told": lambda alias: block_frame(
        block(1, [row(1)] * 3, version=9), alias, 1
    ),
    "a block of an unknown form": lambda alias: block_frame(
        block(1, [row(1)] * 3, form=7), alias, 1
    ),
    "a presence that contradicts its span": lambda alias: block_frame(
        block(1, [row(1)] * 3, span=9, presence=b"\xff\xff"), alias, 1
    ),
    "a digest that does not add up": lambda alias: digest_frame(
        Digest("x", 1, 0, 50, 3), alias
    ),
    "a digest of no digest": lambda alias: WORD.pack(word(4, 12)) + WORD.pack(alias) + b"abcd",
    "a digest that knows more than it counts": lambda alias: digest_frame(
        Digest("x", 1, 0, 5, 5, gap=9), alias
    ),
    "a schema of another's stream": lambda alias: message_frame(
        CONTROL, msgspec.msgpack.encode([12, alias - 1, schema_bytes(PULSE)])
    ),
    "a schema that does not grow": lambda alias: message_frame(
        CONTROL,
        msgspec.msgpack.encode([12, alias, schema_bytes(Schema.declare({"m": "bool"}))]),
    ),
    "a schema that is none": lambda alias: message_frame(
        CONTROL, msgspec.msgpack.encode([12, alias, b"\xc1"])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SPEECHES)
def test_who_breaks_the_protocol_is_closed_and_no_other(name: str) -> None:
    ward = Ward()
    alias = ward.offer()
    ward.eve.send(SPEECHES[name](alias))
    ward.rig.run(1)
    kind = ward.eve.items(Bye)[-1].code
    assert kind in {"protocol", "events"}
    assert ward.refused(kind)
    assert [one["stream"] for one in ward.rig.planet.status(ward.rig.now)["streams"]] == ["good"]


def test_what_is_cut_short_is_waited_for_until_silence() -> None:
    ward = Ward(heartbeat_seconds=1.0)
    alias = ward.offer()
    ward.eve.send(event(alias, 1, row(1))[:-1])
    ward.rig.run(2)
    assert ward.eve.open
    ward.rig.run(3)
    assert not ward.eve.open  # It is detached, and no more than that.
    assert ward.rig.planet.status(ward.rig.now)["refused"] == {}
    assert ward.well()


def test_subscribing_twice_is_closed() -> None:
    ward = Ward()
    for _ in range(2):
        ward.eve.say(Subscribe(1, "good", b""))
    assert ward.refused("protocol")


def test_what_follows_a_departure_is_for_nobody() -> None:
    ward = Ward()
    ward.eve.say(Depart())
    ward.eve.say(Subscribe(1, "good", b""))
    ward.eve.say(Advertise(2, "mine", 1, 0, 1, schema_bytes(PULSE)))
    ward.rig.run(1)
    assert list(ward.rig.planet.multicast.streams) == ["good"]
    assert len(ward.rig.planet.multicast.streams["good"].receivers) == 1
    assert ward.well()


def test_what_follows_a_detach_in_the_same_bytes_was_received_and_counts() -> None:
    ward = Ward()
    ward.eve.say(Detach())
    ward.eve.say(Subscribe(1, "good", b""))
    ward.rig.run(1)
    assert not ward.eve.open
    assert len(ward.rig.planet.multicast.streams["good"].receivers) == 2
    assert ward.well()


def test_unknown_receivers_and_aliases_are_let_go_of_in_silence() -> None:
    ward = Ward()
    ward.eve.say(Unsubscribe(99))
    ward.eve.say(Withdraw(99))
    ward.eve.say(Repolicy(1, 99, b""))
    ward.rig.settle()
    assert ward.eve.open
    assert ward.well()


@pytest.mark.parametrize("seed", range(40))
def test_no_bytes_whatever_hurt_anyone_else(seed: int) -> None:
    ward = Ward()
    alias = ward.offer()
    rng = Random(seed)
    speech = b"".join(
        [
            event(alias, 1, row(1)),
            block_frame(block(2, [row(1)] * 5), alias, 1),
            digest_frame(Digest("x", 1, 0, 9, 3), alias),
            message_frame(CONTROL, msgspec.msgpack.encode([20, 1, "good", b"", 0, 0])),
            message_frame(CONTROL, msgspec.msgpack.encode([12, alias, schema_bytes(PULSE)])),
            message_frame(CONTROL, msgspec.msgpack.encode([10, 5, "s", 3, 0, 1, b"x"])),
            cursor_frame(1, 10),
        ]
    )
    for _ in range(30):
        wrong = bytearray(speech)
        for _ in range(rng.randrange(1, 6)):
            wrong[rng.randrange(len(wrong))] = rng.randrange(256)
        stranger: Stranger = ward.rig.stranger(attached=True)
        stranger.send(bytes(wrong))
        ward.rig.settle()
        ward.rig.cut(stranger)
        ward.rig.strangers.remove(stranger)
    assert ward.well()
    assert not ward.eve.items(Opened)
