from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from heliograph.wire.frames import CONTROL, WORD, word
from heliograph.wire.messages import ANEW, Attached, Bye
from planet.pair import Rig

if TYPE_CHECKING:
    from heliograph.client.client import Client


def test_a_client_that_resumes_by_its_token_gets_everything_once() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    for end in (ben, ada, ben, ada):
        rig.publish(ada, sender, 10)
        rig.cut(end)
        rig.publish(ada, sender, 10)
        rig.run(1)
    assert rig.take(ben, receiver).numbers == list(range(1, 81))
    assert ada.gaps == ben.gaps == 0
    assert len(rig.planet.mobility.clients) == 2
    assert rig.planet.status(rig.now)["events"]["delivered"] == 80


@pytest.mark.parametrize("order", list(permutations(["detach", "cut", "publish", "attach"])))
def test_attaching_and_detaching_in_any_order_loses_nothing(order: tuple[str, ...]) -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.publish(ada, sender, 5)
    for step in order:
        do(rig, ben, step, lambda: rig.publish(ada, sender, 5))
    ben.attach(rig.now)
    rig.run(10)
    assert rig.take(ben, receiver).numbers == list(range(1, 11))
    assert ben.attached
    assert [one["attached"] for one in rig.planet.status(rig.now)["clients"]] == [True, True]


def do(rig: Rig, client: Client, step: str, publish: object) -> None:
    if step == "publish":
        assert callable(publish)
        publish()
    elif step == "cut":
        rig.cut(client)
    elif step == "detach":
        client.detach(rig.now)
    else:
        client.attach(rig.now)
    rig.settle()


def test_a_detached_client_has_its_lane_filled_and_packed_and_not_drained() -> None:
    rig = Rig(lane_entries=16)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    ben.detach(rig.now)
    rig.settle()
    rig.publish(ada, sender, 40)
    (lane,) = rig.planet.status(rig.now)["lanes"]
    assert not lane["attached"]
    assert lane["entries"] <= 16
    assert lane["packs"] > 0
    assert lane["delivered"] == 0
    ben.attach(rig.now)
    rig.run(1)
    book = rig.take(ben, receiver)
    assert book.whole(40)
    assert book.dropped == lane["dropped"]["worst"] > 0


def test_a_client_that_departs_leaves_nothing_behind() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.publish(ada, sender, 5)
    rig.take(ben, receiver)
    for client in (ben, ada):
        client.depart(rig.now)
    rig.run(1)
    status = rig.planet.status(rig.now)
    assert status["clients"] == status["streams"] == status["lanes"] == []
    assert status["connections"] == 0
    assert status["events"]["delivered"] == status["events"]["received"] == 5
    assert not ada.attached
    assert not ben.attached
    assert rig.tries[2:] == []  # Nobody comes back.


def test_departing_sends_first_what_was_published() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.link(ada).rate = 200
    for number in range(1, 501):
        ada.publish(sender, {"n": number}, number, rig.now)
    ada.depart(rig.now)
    rig.run(10)
    assert rig.take(ben, receiver).numbers == list(range(1, 501))
    assert len(rig.planet.mobility.clients) == 1


def test_a_client_that_stays_away_for_too_long_has_departed() -> None:
    rig = Rig(session_seconds=20.0)
    ada, ben = rig.client("ada"), rig.client("ben")
    rig.advertise(ada, "s")
    rig.subscribe(ben, "s")
    rig.lose(ada)
    ben.detach(rig.now)
    rig.run(15)
    assert len(rig.planet.mobility.clients) == 2
    rig.run(10)
    status = rig.planet.status(rig.now)
    assert status["clients"] == status["streams"] == []
    assert [one.event for one in rig.logs].count("session_ended") == 2


def test_a_session_that_ended_begins_anew_and_tells_the_gap() -> None:
    rig = Rig(session_seconds=5.0)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.publish(ada, sender, 10)
    ben.detach(rig.now)
    rig.run(10)
    rig.publish(ada, sender, 10)
    ben.attach(rig.now)
    rig.run(1)
    rig.publish(ada, sender, 10)
    book = rig.take(ben, receiver)
    assert book.numbers == [*range(1, 11), *range(21, 31)]
    assert book.gaps == 10
    assert ben.gaps == 1


def test_a_client_that_falls_silent_is_detached_after_three_heartbeats() -> None:
    rig = Rig(heartbeat_seconds=1.0)
    stranger = rig.stranger(attached=True)
    rig.run(2.4)
    assert stranger.open
    rig.run(2)
    assert not stranger.open
    (client,) = rig.planet.status(rig.now)["clients"]
    assert not client["attached"]


def test_heartbeats_keep_an_idle_client_attached() -> None:
    rig = Rig(heartbeat_seconds=1.0)
    ada = rig.client("ada")
    rig.run(60)
    assert ada.attached
    assert len(rig.tries) == 1


def test_any_byte_is_a_sign_of_life() -> None:
    rig = Rig(heartbeat_seconds=1.0)
    stranger = rig.stranger(attached=True)
    stranger.send(WORD.pack(word(CONTROL, 1_000)))
    for _ in range(10):
        stranger.send(b"x")
        rig.run(2.5)
        assert stranger.open


def test_a_token_that_nobody_was_given_begins_a_new_session() -> None:
    rig = Rig()
    ada = rig.client("ada")
    rig.settle()
    thief = rig.stranger()
    thief.attach(token=bytes(16), frames=7)
    rig.settle()
    (answer,) = thief.items(Attached)
    assert not answer.resumed
    assert answer.token != bytes(16)
    assert ada.attached
    assert len(rig.planet.mobility.clients) == 2


def test_tokens_differ_and_are_too_long_to_guess() -> None:
    rig = Rig()
    tokens = set()
    for _ in range(50):
        stranger = rig.stranger(attached=True)
        tokens.add(stranger.items(Attached)[0].token)
    assert len(tokens) == 50
    assert {len(token) for token in tokens} == {16}


def test_who_holds_the_token_may_resume_while_the_old_link_seems_alive() -> None:
    rig = Rig()
    one = rig.stranger(attached=True)
    token = one.items(Attached)[0].token
    other = rig.stranger()
    other.attach(token, frames=0)
    rig.settle()
    assert other.items(Attached)[0].resumed
    rig.run(1)
    assert not one.open
    assert other.open
    assert len(rig.planet.mobility.clients) == 1


def test_a_resume_that_passes_what_was_sent_is_refused_and_the_session_kept() -> None:
    rig = Rig()
    one = rig.stranger(attached=True)
    token = one.items(Attached)[0].token
    other = rig.stranger()
    other.attach(token, frames=1_000)
    rig.run(1)
    assert other.items(Bye)[0].code == "protocol"
    assert not other.open
    third = rig.stranger()
    third.attach(token, frames=0)
    rig.settle()
    assert third.items(Attached)[0].resumed


def test_a_client_may_ask_to_be_forgotten_and_begin_anew() -> None:
    rig = Rig()
    one = rig.stranger(attached=True)
    token = one.items(Attached)[0].token
    other = rig.stranger()
    other.attach(token, frames=ANEW)
    rig.settle()
    assert not other.items(Attached)[0].resumed
    assert len(rig.planet.mobility.clients) == 1


def test_a_full_planet_refuses_new_clients_and_knows_old_ones() -> None:
    rig = Rig(clients_max=2)
    ada, ben = rig.client("ada"), rig.client("ben")
    rig.settle()
    late = rig.stranger()
    late.attach()
    rig.run(1)
    assert late.items(Bye)[0] == Bye("clients", "this planet has 2 clients, its clients_max")
    rig.cut(ada)
    rig.run(1)
    assert ada.attached
    assert ben.attached
    assert rig.planet.status(rig.now)["refused"] == {"clients": 1}


def test_who_left_nothing_here_makes_room_for_another_client() -> None:
    rig = Rig(clients_max=5)
    ada = rig.client("ada")
    ben = rig.client("ben")
    rig.subscribe(ben, "s")
    ben.detach(rig.now)
    rig.settle()
    for turn in range(40):
        stranger = rig.stranger(attached=True)
        assert stranger.open, turn
        rig.cut(stranger)
    assert len(rig.planet.mobility.clients) == 5
    cat = rig.client("cat")
    rig.settle()
    assert cat.attached
    assert ada.attached
    ben.attach(rig.now)  # It has a receiver here, so it was kept.
    rig.run(1)
    assert (ben.attached, ben.gaps) == (True, 0)


def test_who_comes_back_is_not_sent_away_for_another() -> None:
    rig = Rig(clients_max=2)
    ada = rig.client("ada")
    ada.detach(rig.now)
    rig.settle()
    ada.attach(rig.now)
    rig.run(1)
    rig.client("ben")
    cat = rig.client("cat")
    rig.settle()
    assert (ada.attached, cat.attached) == (True, False)
