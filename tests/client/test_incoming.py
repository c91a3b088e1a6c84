"""What a planet sends is handed to the receivers that it is for; a planet that errs is left."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.played import NUMBERS, Played, event, opened
from heliograph.client.receiver import EPOCHS_MAX
from heliograph.client.requests import LOST
from heliograph.event.digest import Digest
from heliograph.event.errors import PolicyError
from heliograph.event.schema import Schema
from heliograph.wire.core import Answered, Arrived
from heliograph.wire.forms import schema_bytes
from heliograph.wire.frames import (
    CONTROL,
    EVENT,
    EVENT_HEAD,
    digest_frame,
    message_frame,
    to_frame,
    word,
)
from heliograph.wire.messages import (
    Attach,
    Beacon,
    Denied,
    Done,
    Grow,
    Message,
    Opened,
    Refused,
    Repolicy,
    Subscribe,
    Subscribed,
    Told,
    Unsubscribe,
    Withdrawn,
    encode_message,
)
from planet.book import Book
from planet.policies import EVERY, TEXT, above
from strategies import PROPERTY
from wire.streams import frames, message_of, some_message


def took(one: Played, receiver: int) -> Book:
    book = Book()
    while items := one.client.take(receiver, 9, one.now):
        for item in items:
            book.enter(item, one.client.schema(receiver))
    return book


def test_a_subscription_says_what_is_wanted_and_from_where() -> None:
    one = Played()
    one.client.subscribe("s", EVERY, one.now, entries=7, size=9_000)
    one.hear()
    (asked,) = one.items(Subscribe)
    assert (asked.stream, asked.epoch, asked.number) == ("s", 0, 0)
    assert (asked.entries, asked.size) == (7, 9_000)
    assert b"EVERY" in asked.policy
    one.say(Subscribed(asked.receiver))
    assert one.took(Answered) == [Answered(asked.receiver)]


def test_an_application_is_told_once_that_something_waits() -> None:
    one = Played()
    receiver = one.subscribe()
    one.send(event(1) + event(2))
    one.send(event(3))
    assert one.took(Arrived) == [Arrived(receiver)]
    one.client.take(receiver, 2, one.now)
    assert one.took(Arrived) == [Arrived(receiver)] * 2  # One more waits.
    one.client.take(receiver, 2, one.now)
    one.send(event(4))
    assert len(one.took(Arrived)) == 3


def test_receivers_of_one_stream_get_what_is_addressed_to_their_lanes() -> None:
    one = Played()
    first = one.subscribe()
    second = one.client.subscribe("s", EVERY, one.now)
    one.say(opened(second, bit=5))
    one.send(to_frame(1, 1 | 1 << 5) + event(1))
    one.send(to_frame(1, 1) + event(2) + to_frame(1, 1 << 5) + event(3))
    one.send(digest_frame(Digest("s", 1, 0, 3, 1), 1))
    assert took(one, first).numbers == [1, 2]
    book = took(one, second)
    assert (book.numbers, book.dropped) == ([1, 3], 1)


def test_an_alias_that_was_not_opened_names_nothing() -> None:
    for data in (event(1), to_frame(1, 1), message_frame(CONTROL, encode_message(Beacon(1, 1)))):
        one = Played()
        one.send(data)
        assert "the alias 1, which the planet has not opened" in one.closed[0]


def test_a_receiver_that_wants_no_more_gets_no_more() -> None:
    one = Played()
    first, second = one.subscribe(), one.subscribe()
    one.client.unsubscribe(first, one.now)
    one.client.unsubscribe(first, one.now)
    one.hear()
    assert [asked.receiver for asked in one.items(Unsubscribe)] == [first]
    one.send(event(1))
    assert one.took(Arrived) == [Arrived(second)]
    one.say(opened(first))  # It was under way.
    assert one.client.attached


def test_a_schema_that_grows_reads_what_follows_and_no_older_one_takes_its_place() -> None:
    one = Played()
    receiver = one.subscribe()
    wide = NUMBERS.evolve({"more": NUMBERS.types[0].list})
    one.say(Grow(1, schema_bytes(wide)))
    one.say(opened(receiver))
    one.send(event(1))
    assert took(one, receiver).values() == [7]
    assert one.client.schema(receiver) == wide


def test_a_denied_receiver_hears_why_and_the_others_go_on() -> None:
    one = Played()
    first, second = one.subscribe(), one.subscribe()
    one.say(Denied(first, "why not"))
    one.send(event(1))
    assert one.client.receivers[first].error == "why not"
    assert Answered(first, "why not") in one.took(Answered)
    assert one.took(Arrived) == [Arrived(first), Arrived(second)]
    assert one.client.take(first, 9, one.now) == []
    one.again(resumed=False)
    assert [asked.receiver for asked in one.items(Subscribe)] == [first, second, second]


@pytest.mark.parametrize("grows", [False, True])
def test_a_policy_that_does_not_suit_the_stream_ends_its_receiver_alone(
    grows: bool,  # noqa: FBT001 - a case
) -> None:
    one = Played()
    receiver = one.client.subscribe("s", TEXT, one.now)
    if grows:
        one.say(opened(receiver, schema=schema_bytes(Schema())))
        assert one.client.receivers[receiver].error is None
        one.say(Grow(1, schema_bytes(Schema().evolve({"n": NUMBERS.types[0]}))))
    else:
        one.say(opened(receiver))
    assert "MATCH" in (one.client.receivers[receiver].error or "")
    assert one.client.attached
    one.send(event(1))
    assert one.client.take(receiver, 9, one.now) == []
    with pytest.raises(PolicyError):
        one.client.repolicy(receiver, TEXT, one.now)


def test_a_policy_that_does_not_suit_the_epoch_that_comes_ends_its_receiver_alone() -> None:
    one = Played()
    receiver = one.client.subscribe("s", TEXT, one.now)
    one.say(opened(receiver, schema=schema_bytes(Schema())))
    one.say(opened(receiver, epoch=2, alias=2, schema=schema_bytes(Schema())))
    one.say(Grow(2, schema_bytes(Schema().evolve({"n": NUMBERS.types[0]}))))
    one.send(to_frame(2, 1) + event(1, alias=2))
    assert one.client.attached
    assert "MATCH" in (one.client.receivers[receiver].error or "")


def test_a_policy_changes_when_the_planet_has_agreed() -> None:
    one = Played()
    receiver = one.subscribe(EVERY)
    first = one.client.repolicy(receiver, above(3), one.now)
    second = one.client.repolicy(receiver, above(4), one.now)
    one.hear()
    assert [asked.request for asked in one.items(Repolicy)] == [first, second]
    assert one.client.receivers[receiver].policy == EVERY
    one.say(Refused(second, "why not"))
    one.say(Done(first))
    assert one.client.receivers[receiver].policy == above(3)
    assert one.took(Answered) == [Answered(second, "why not"), Answered(first)]


def test_a_policy_that_was_asked_for_in_a_lost_session_does_not_change() -> None:
    one = Played()
    receiver = one.subscribe(EVERY)
    request = one.client.repolicy(receiver, above(3), one.now)
    one.again(resumed=False)
    one.say(Done(request))
    assert one.client.receivers[receiver].policy == EVERY
    (answer,) = one.took(Answered)
    assert answer.error == LOST


def test_a_planet_says_how_it_is() -> None:
    one = Played()
    request = one.client.ask_status(one.now)
    one.say(Told(request, b'{"name": "p"}'))
    assert one.client.answer(request) == {"name": "p"}


def test_how_far_a_stream_has_come_is_told_to_its_receivers() -> None:
    one = Played()
    receiver = one.subscribe()
    one.say(Beacon(1, 77), Withdrawn(1, 77))
    assert one.client.receivers[receiver].beacon.number == 77
    assert one.client.attached


def test_a_message_that_clients_do_not_take_is_the_fault_of_its_planet() -> None:
    one = Played()
    one.say(Attach(1, [], None, 0))
    assert one.closed == ["a message that clients do not take: Attach"]


@pytest.mark.parametrize(
    "message",
    [
        Told(1, b"{"),
        opened(2, bit=-1),
        opened(2, schema=b"no schema"),
        opened(2, epoch=-1),
        opened(2, after=-1),
        opened(2, base=2**63),
        Grow(1, b"no schema"),
        Grow(9, schema_bytes(NUMBERS)),
    ],
    ids=repr,
)
def test_a_planet_that_errs_is_left_and_nothing_else_happens(message: Message) -> None:
    one = Played()
    one.client.ask_status(one.now)
    one.subscribe()
    one.say(message)
    assert len(one.closed) == 1
    assert one.logs == ["planet_refused"]


@PROPERTY
@given(st.lists(some_message() | message_of(Opened), max_size=6), st.lists(frames(), max_size=6))
def test_whatever_a_planet_says_a_client_stands(
    messages: list[Message], data: list[list[bytes]]
) -> None:
    one = Played()
    receiver = one.subscribe()
    parts = [message_frame(CONTROL, encode_message(message)) for message in messages]
    for part in [*parts, *(b"".join(some) for some in data)]:
        if not one.client.attached:
            break
        one.send(part)
        one.client.take(receiver, 9, one.now)
    assert all(log in ("planet_refused", "planet_said_bye") for log in one.logs)


def test_names_of_streams_that_nobody_wants_any_more_are_forgotten() -> None:
    one = Played()
    for alias in range(1, 50):
        receiver = one.client.subscribe(f"s{alias}", None, one.now)
        one.say(opened(receiver, alias=alias, stream=f"s{alias}"))
        one.send(to_frame(alias, 1))
        one.client.unsubscribe(receiver, one.now)
        # What was under way then is for nobody.
        one.send(to_frame(alias, 1) + EVENT_HEAD.pack(word(EVENT, 18), alias, 1) + b"\x91\x00")
        one.say(Beacon(alias, 1), Grow(alias, schema_bytes(NUMBERS)))
    assert one.client.attached
    incoming = one.client.incoming
    assert (incoming._names, incoming._masks) == ({}, {})  # noqa: SLF001 - what is bounded


def test_of_one_stream_so_many_epochs_have_a_name_and_no_more() -> None:
    one = Played()
    receiver = one.subscribe()
    for alias in range(2, 3_000):
        one.say(opened(receiver, alias=alias, epoch=alias))
    assert len(one.client.incoming._names) == EPOCHS_MAX  # noqa: SLF001 - what is bounded
    assert one.client.attached
