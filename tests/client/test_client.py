"""A client with a planet: what an application does, and what becomes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.played import NUMBERS, Played, event
from heliograph.event.block import block_of
from heliograph.event.errors import EventError, PolicyError, UsageError
from heliograph.event.schema import Schema
from heliograph.policy.aim import Aim
from heliograph.policy.ladder import Ladder
from heliograph.wire.core import Answered
from heliograph.wire.frames import CURSOR_FRAME
from heliograph.wire.messages import Advertise, Subscribe, Unsubscribe
from planet.pair import Rig
from planet.policies import EVERY, TEXT, above
from strategies import PROPERTY


def test_a_stream_is_offered_once() -> None:
    one = Played()
    sender = one.advertise()
    with pytest.raises(UsageError, match="offers s already"):
        one.client.advertise("s", None, one.now, 2)
    one.client.withdraw(sender, one.now)
    assert one.client.advertise("s", None, one.now, 2) != sender


def test_whatever_was_asked_for_before_there_was_a_planet_is_asked_of_it() -> None:
    one = Played(attached=False)
    sender = one.client.advertise("s", NUMBERS, one.now, 1)
    receiver = one.client.subscribe("t", EVERY, one.now)
    gone = one.client.subscribe("u", None, one.now)
    one.client.unsubscribe(gone, one.now)
    one.publish(sender, 3)
    one.connect()
    assert len(one.heard) == 1
    one.greet()
    assert [asked.request for asked in one.items(Advertise)] == [sender]
    assert [asked.receiver for asked in one.items(Subscribe)] == [receiver]
    assert one.items(Unsubscribe) == []


def test_what_is_asked_anew_of_a_new_session_is_not_lost() -> None:
    one = Played()
    sender = one.client.advertise("s", NUMBERS, one.now, 1)
    receiver = one.client.subscribe("t", EVERY, one.now)
    one.hear()
    one.again(resumed=False)
    assert one.took(Answered) == []
    assert [asked.request for asked in one.items(Advertise)] == [sender] * 2
    assert [asked.receiver for asked in one.items(Subscribe)] == [receiver] * 2


def test_a_sender_is_idle_when_the_planet_has_acknowledged_everything() -> None:
    one = Played()
    sender = one.advertise(schema=NUMBERS)
    one.acknowledge()
    assert one.client.idle(sender)
    one.publish(sender)
    assert not one.client.idle(sender)
    one.hear()
    assert not one.client.idle(sender)
    one.acknowledge()
    assert one.client.idle(sender)


def test_a_block_of_many_events_is_published_at_once() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.publish(ada, sender, 2)
    wide = ada.senders[sender].schema.evolve({"more": NUMBERS.types[0]})
    numbers = range(3, 503)
    block = block_of("s", 1, numbers, [0] * 500, [[n, n] for n in numbers], wide)
    ada.offer(sender, block, wide, rig.now)
    rig.publish(ada, sender, 1)
    rig.run(1)
    book = rig.take(ben, receiver)
    assert book.values() == list(range(1, 504))
    assert book.values("more")[2:502] == list(numbers)


def test_a_policy_that_does_not_suit_is_refused_at_once_and_changes_nothing() -> None:
    one = Played()
    receiver = one.subscribe(above(3))
    with pytest.raises(PolicyError):
        one.client.repolicy(receiver, TEXT, one.now)
    assert one.client.receivers[receiver].policy == above(3)


def test_before_a_session_stands_a_policy_changes_at_once() -> None:
    one = Played(attached=False)
    receiver = one.client.subscribe("s", EVERY, one.now)
    request = one.client.repolicy(receiver, above(3), one.now)
    assert one.took(Answered) == [Answered(request)]
    one.connect()
    one.greet()
    (asked,) = one.items(Subscribe)
    assert b"GE" in asked.policy
    assert b"EVERY" not in asked.policy


@pytest.mark.parametrize(("controller", "kind"), [("ladder", Ladder), ("aim", Aim)])
def test_a_controller_of_both_ends_may_be_chosen(controller: str, kind: type) -> None:
    one = Played(controller=controller, sender_entries=4, inbox_entries=4)
    sender = one.advertise(schema=NUMBERS)
    one.client.withdraw(sender, one.now)
    receiver = one.subscribe(EVERY)
    sender = one.client.advertise("t", NUMBERS, one.now, 1)
    for number in range(1, 10):
        one.publish(sender)
        one.client.senders[sender].flush(one.now)
        one.send(event(number))
    lane = one.client.receivers[receiver].lane
    assert lane is not None
    assert type(lane.controller) is type(one.client.senders[sender].lane.controller) is kind


def test_a_receiver_that_nothing_is_known_of_has_an_empty_schema() -> None:
    one = Played()
    receiver = one.client.subscribe("s", None, one.now)
    assert one.client.schema(receiver) == Schema()
    assert one.client.take(receiver, 9, one.now) == []


def test_an_event_that_fits_nothing_is_refused_and_the_next_has_its_number() -> None:
    one = Played()
    sender = one.advertise(schema=NUMBERS)
    with pytest.raises(EventError):
        one.client.publish(sender, {"n": "text"}, 0, one.now)
    assert one.client.publish(sender, {"n": 1}, 0, one.now) == 1


def test_while_detached_a_sender_is_bounded_and_follows_what_its_receivers_demand() -> None:
    rig = Rig()
    ada, ben, eve = (rig.client(name, sender_entries=32) for name in ("ada", "ben", "eve"))
    sender = rig.advertise(ada, "s")
    wanted = [rig.subscribe(ben, "s", above(985)), rig.subscribe(eve, "s", above(990))]
    rig.run(1)  # What receivers demand is told after a while.
    ada.detach(rig.now)
    rig.settle()
    for number in range(1, 1_001):
        ada.publish(sender, {"n": number}, number, rig.now)
        ada.senders[sender].flush(rig.now)
        assert ada.senders[sender].lane.held_entries <= 32
    ada.attach(rig.now)
    rig.run(2)
    for client, receiver in zip((ben, eve), wanted, strict=True):
        book = rig.take(client, receiver)
        assert book.whole(1_000)
        assert book.gaps == 0
        assert book.numbers[-11:] == list(range(990, 1_001))
        assert book.dropped > 900


def test_what_a_crash_of_the_planet_takes_is_told_as_a_gap_and_the_rest_goes_on() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.publish(ada, sender, 10)
    rig.link(ben).client.reads = False
    for _ in range(2):
        rig.publish(ada, sender, 10)
        rig.run(0.1)
    rig.kill("p")
    rig.publish(ada, sender, 10)
    rig.begin("p")
    rig.run(10)
    rig.publish(ada, sender, 10)
    book = rig.take(ben, receiver)
    assert book.whole(50)
    assert book.numbers[-20:] == list(range(31, 51))
    assert book.gaps == 50 - len(book.events)
    assert ada.gaps == ben.gaps == 1


@PROPERTY
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["publish", "cut", "detach", "attach", "wait", "take"]),
            st.integers(0, 1),
            st.integers(1, 9),
        ),
        max_size=30,
    )
)
def test_however_clients_come_and_go_each_event_arrives_once(
    script: list[tuple[str, int, int]],
) -> None:
    rig = Rig()
    clients = rig.client("ada"), rig.client("ben")
    ada, ben = clients
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    for kind, place, amount in script:
        client = clients[place]
        if kind == "publish":
            rig.publish(ada, sender, amount)
        elif kind == "cut":
            rig.publish(ada, sender, 1)
            rig.cut(client)
        elif kind == "detach":
            client.detach(rig.now)
        elif kind == "attach":
            client.attach(rig.now)
        elif kind == "wait":
            rig.run(amount / 10)
        else:
            rig.take(ben, receiver)
    for client in clients:
        client.attach(rig.now)
    rig.run(20)
    book = rig.take(ben, receiver)
    assert book.numbers == list(range(1, ada.senders[sender].last + 1))
    assert ada.idle(sender)
    assert ada.gaps == ben.gaps == 0


def test_a_client_with_nothing_to_do_wakes_for_heartbeats_alone() -> None:
    rig = Rig(heartbeat_seconds=2.0)
    ada = rig.client("ada")
    rig.run(1)
    before = rig.link(ada).client.crossed
    rig.run(60)
    assert rig.link(ada).client.crossed - before <= 31 * CURSOR_FRAME.size
    assert ada.attached
