"""A client's senders share its link, and go on where a planet has forgotten them."""

from __future__ import annotations

import pytest

from client.played import NUMBERS, Played
from heliograph.event.block import block_of
from heliograph.event.errors import EventError
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.lane.account import Account
from heliograph.lane.outlet import QUANTUM_BYTES
from heliograph.wire import forms
from heliograph.wire.core import Answered
from heliograph.wire.forms import policy_bytes, read_schema
from heliograph.wire.messages import (
    Advertise,
    Advertised,
    Demand,
    Depart,
    Displaced,
    Grow,
    Refused,
    Withdraw,
)
from heliograph.wire.reader import BlockFrame, DigestFrame, Run
from planet.pair import Rig
from planet.policies import EVERY, above


def test_an_advertisement_says_where_the_stream_goes_on() -> None:
    one = Played()
    sender = one.advertise(schema=NUMBERS)
    (asked,) = one.items(Advertise)
    assert (asked.request, asked.stream, asked.epoch, asked.next) == (sender, "s", 1, 1)
    assert read_schema(asked.schema) == NUMBERS
    assert one.took(Answered) == [Answered(sender)]


def test_what_is_published_before_the_answer_waits_for_it() -> None:
    one = Played()
    sender = one.client.advertise("s", NUMBERS, one.now, 1)
    one.publish(sender, 3)
    one.hear()
    assert one.numbers(7) == []
    one.say(Advertised(sender, 7))
    assert one.numbers(7) == [1, 2, 3]


def test_a_planet_is_told_of_a_larger_schema_before_what_needs_it() -> None:
    one = Played()
    sender = one.advertise(schema=Schema())
    one.publish(sender, n=1)
    one.hear()
    one.publish(sender, n=1.5)
    one.hear()
    kinds = [type(item) for item in one.heard if isinstance(item, Grow | tuple)]
    assert kinds == [Grow, tuple, Grow, tuple]
    assert read_schema(one.items(Grow)[1].schema).version == 3
    assert not one.client.senders[sender].grown


def test_a_refused_stream_says_why_and_sends_nothing() -> None:
    one = Played()
    sender = one.client.advertise("s", NUMBERS, one.now, 1)
    one.publish(sender)
    one.hear()
    one.say(Refused(sender, "another has it"))
    assert one.client.senders[sender].error == "another has it"
    assert one.took(Answered) == [Answered(sender, "another has it")]
    assert one.numbers() == []


def test_streams_take_turns() -> None:
    one = Played(window_bytes=4_096)
    senders = [one.advertise(f"s{alias}", NUMBERS, alias) for alias in (1, 2)]
    for sender in senders:
        for number in range(1, 1_001):
            one.publish(sender, n=number)
            one.client.senders[sender].flush(one.now)
    one.hear()
    for _ in range(20):
        first, second = one.numbers(1), one.numbers(2)
        assert abs(len(first) - len(second)) * 20 <= 2 * QUANTUM_BYTES
        one.acknowledge()
    assert len(second) > 500
    assert first == list(range(1, len(first) + 1))


def test_a_sender_gives_up_what_the_planet_says_that_its_receivers_would() -> None:
    one = Played(sender_entries=16)
    sender = one.advertise(schema=NUMBERS)
    one.say(Demand(1, 2, [policy_bytes(above(95)), b"no policy", policy_bytes(above(90))]))
    assert one.client.senders[sender].policies == [above(95), above(90)]
    assert one.client.senders[sender].receivers == 2
    one.say(Demand(9, 1, []))  # Of a stream that was withdrawn meanwhile.
    one.cut()
    for _ in range(100):
        one.publish(sender)
        one.client.senders[sender].flush(one.now)
        assert one.client.senders[sender].lane.held_entries <= 16
    one.again()
    assert set(range(90, 101)) <= set(one.numbers())


def sent(one: Played, begin: int) -> Account:
    """Enter all that was sent under the alias 1 into books, which must add up."""
    books = Account("s", Position(1, begin))
    for item in one.heard:
        if isinstance(item, tuple):
            books.take(forms.run_block(Run(1, item[1], [item[2]]), "s", 1, 1, 0), NUMBERS)
        elif isinstance(item, BlockFrame):
            books.take(forms.framed_block(item, "s", 1), NUMBERS)
        elif isinstance(item, DigestFrame):
            books.settle(forms.framed_digest(item, "s", 1))
    return books


@pytest.mark.parametrize("received", range(4))
def test_what_a_planet_had_not_acknowledged_is_sent_again_to_one_that_knows_nothing(
    received: int,
) -> None:
    one = Played()
    sender = one.advertise(schema=NUMBERS)
    for _ in range(3):
        one.publish(sender)
        one.hear()
    assert one.numbers() == [1, 2, 3]
    one.reader.frames = 1 + received  # The advertisement was one.
    one.client.session.passed(1 + received, one.now)
    one.publish(sender)
    one.heard.clear()
    one.again(resumed=False)
    assert one.items(Advertise)[-1].next == received + 1
    assert one.numbers() == []  # By its old alias it is not known any more.
    one.say(Advertised(sender, 5))
    assert one.numbers(5) == list(range(received + 1, 5))


def test_digests_that_were_not_acknowledged_are_sent_again_too() -> None:
    one = Played(sender_entries=8)
    sender = one.advertise(schema=NUMBERS)
    one.say(Demand(1, 1, [policy_bytes(EVERY)]))
    one.cut()
    for _ in range(50):
        one.publish(sender)
        one.client.senders[sender].flush(one.now)
    one.again()
    assert sent(one, 0).position.number == 50
    one.again(resumed=False)
    begin = one.items(Advertise)[-1].next - 1
    one.heard.clear()
    one.say(Advertised(sender, 1))
    books = sent(one, begin)
    assert (books.position.number, books.missing) == (50, 0)
    assert any(isinstance(item, DigestFrame) for item in one.heard)


def test_who_departs_sends_first_what_was_published() -> None:
    one = Played()
    sender = one.advertise(schema=NUMBERS)
    one.publish(sender, 2_000)
    one.client.depart(one.now)
    one.hear()
    assert one.items(Depart) == []
    for _ in range(20):
        one.acknowledge()
    assert one.numbers() == list(range(1, 2_001))
    assert one.heard[-1] == Depart()
    assert len(one.items(Depart)) == 1


@pytest.mark.parametrize("refused", [False, True])
def test_who_departs_waits_for_the_answer_that_its_events_wait_for(
    refused: bool,  # noqa: FBT001 - a case
) -> None:
    one = Played()
    sender = one.client.advertise("s", NUMBERS, one.now, 1)
    one.publish(sender, 3)
    one.client.depart(one.now)
    one.hear()
    assert one.items(Depart) == []
    one.say(Refused(sender, "another has it") if refused else Advertised(sender, 1))
    assert one.numbers() == ([] if refused else [1, 2, 3])
    one.hear()
    assert one.heard[-1] == Depart()


def test_a_stream_is_withdrawn_by_its_alias() -> None:
    one = Played()
    sender = one.advertise(alias=4)
    one.publish(sender)
    one.client.withdraw(sender, one.now)
    one.hear()
    assert one.heard[-1] == Withdraw(4)
    assert one.numbers(4) == []


def test_a_stream_that_is_withdrawn_before_the_answer_is_withdrawn_with_it() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    rig.settle()
    sender = ada.advertise("s", None, rig.now, 1)
    ada.withdraw(sender, rig.now)
    rig.settle()
    assert rig.error(ben, rig.advertise(ben, "s")) is None


def test_a_stream_that_is_offered_again_before_the_answer_is_not_withdrawn() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    receiver = rig.subscribe(ben, "s")
    ada.withdraw(ada.advertise("s", None, rig.now, 1), rig.now)
    sender = rig.advertise(ada, "s")
    rig.publish(ada, sender, 3)
    assert rig.take(ben, receiver).numbers == [1, 2, 3]


def test_an_event_that_was_published_before_its_length_was_refused_is_told_as_a_gap() -> None:
    rig = Rig(frame_bytes=4_096)
    ben = rig.client("ben")
    receiver = rig.subscribe(ben, "s")
    ada = rig.client("ada")  # It has not heard from a planet yet.
    sender = ada.advertise("s", None, rig.now, 1)
    ada.publish(sender, {"t": "x"}, 1, rig.now)
    ada.senders[sender].flush(rig.now)
    ada.publish(sender, {"t": "x" * 5_000}, 2, rig.now)
    rig.settle()
    rig.publish(ada, sender, 2, t="x")
    book = rig.take(ben, receiver)
    assert book.whole(4)
    assert book.numbers[-2:] == [3, 4]
    assert book.gaps == 4 - len(book.numbers) > 0
    assert ada.attached
    assert [log.event for log in rig.logs] == ["event_too_long"]


def displaced(one: Played) -> int:
    """Return a sender whose stream was taken over; it had sent 1 to 3, and 4 waits."""
    sender = one.advertise(schema=NUMBERS, alias=4)
    one.publish(sender, 3)
    one.hear()
    one.publish(sender)
    one.say(Displaced(4))
    return sender


def test_a_sender_whose_stream_was_taken_over_says_why_and_that_it_knows() -> None:
    one = Played(name="ada")
    sender = displaced(one)
    why = "another client of the name 'ada' offers the stream now; up to 4 events are lost"
    assert one.client.senders[sender].error == why
    with pytest.raises(EventError, match=f"s: {why}"):
        one.publish(sender)
    block = block_of("s", 1, [5], [0], [[5]], NUMBERS)
    with pytest.raises(EventError, match=f"s: {why}"):
        one.client.offer(sender, block, NUMBERS, one.now)
    one.hear()
    assert one.items(Withdraw) == [Withdraw(4)]
    assert one.logs == ["stream_taken_over"]
    assert one.heard[-1] == Withdraw(4)  # Behind all that was sent under the alias.
    assert one.numbers(4) == [1, 2, 3]
    assert one.client.attached


def test_a_displaced_sender_is_told_of_no_demand_and_not_offered_again() -> None:
    one = Played(name="ada")
    sender = displaced(one)
    other = one.advertise("t", NUMBERS, 5)
    one.say(Demand(4, 1, []))
    one.heard.clear()
    one.again(resumed=False)
    assert [asked.stream for asked in one.items(Advertise)] == ["t"]
    assert one.client.senders[sender].displaced
    assert one.client.senders[other].error is None


def test_who_was_displaced_may_close_and_offer_the_stream_anew() -> None:
    one = Played(name="ada")
    sender = displaced(one)
    one.client.withdraw(sender, one.now)
    one.hear()
    assert one.items(Withdraw) == [Withdraw(4)]  # It was said once, and is not said of no alias.
    again = one.advertise(schema=NUMBERS, alias=7)
    one.publish(again, 2)
    one.hear()
    assert one.numbers(7) == [1, 2]


def test_a_stream_that_was_withdrawn_before_it_was_taken_over_needs_no_word() -> None:
    one = Played(name="ada")
    sender = one.advertise(schema=NUMBERS, alias=4)
    one.client.withdraw(sender, one.now)
    one.say(Displaced(4), Displaced(9))
    assert one.items(Withdraw) == [Withdraw(4)]
    assert one.logs == []


def test_who_departs_does_not_wait_for_what_was_taken_over() -> None:
    one = Played(name="ada")
    displaced(one)
    one.client.depart(one.now)
    one.hear()
    one.acknowledge()
    assert one.heard[-1] == Depart()


def test_a_refusal_says_when_to_ask_again() -> None:
    one = Played()
    sender = one.client.advertise("s", NUMBERS, one.now, 1)
    one.hear()
    one.say(Refused(sender, "attached", 6_500))
    assert one.client.senders[sender].again == 6_500


def test_a_stream_that_was_refused_to_a_new_session_takes_no_events() -> None:
    one = Played()
    sender = one.advertise(schema=NUMBERS)
    one.again(resumed=False)
    one.publish(sender)
    one.say(Refused(sender, "another has it"))
    with pytest.raises(EventError, match="s: another has it"):
        one.publish(sender)
