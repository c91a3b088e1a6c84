from __future__ import annotations

from heliograph.wire.messages import Bye
from planet.pair import Rig
from planet.policies import EVERY


def test_a_planet_that_closes_sends_first_what_waits() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.link(ben).rate = 20
    rig.publish(ada, sender, 500)
    rig.planet.close(rig.now)
    rig.run(4)
    assert rig.planet.closed
    book = rig.take(ben, receiver)
    assert book.numbers == list(range(1, 501))
    assert book.gaps == 0


def test_what_cannot_be_sent_in_time_is_told_in_digests() -> None:
    rig = Rig(drain_seconds=2.0)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s", EVERY)
    rig.link(ben).rate = 5
    rig.publish(ada, sender, 5_000)
    rig.planet.close(rig.now)
    rig.run(1.5)
    assert not rig.planet.closed
    rig.link(ben).rate = None
    rig.run(10)
    assert rig.planet.closed
    book = rig.take(ben, receiver)
    assert book.whole(5_000)
    assert book.gaps == 0


def test_a_late_receiver_gets_a_digest_of_the_rest_with_its_last_goodbye() -> None:
    rig = Rig(drain_seconds=2.0, window_bytes=65_536)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s", EVERY)
    rig.link(ben).rate = 10
    rig.publish(ada, sender, 5_000)
    rig.planet.close(rig.now)
    rig.run(10)
    assert rig.planet.closed
    book = rig.take(ben, receiver)
    assert book.whole(5_000)
    assert book.dropped > 0


def test_clients_of_a_planet_that_closed_go_on_at_the_next_without_loss() -> None:
    rig = Rig()
    ada, ben = rig.client("ada", "p, q"), rig.client("ben", "p, q")
    old = rig.planet
    new = rig.begin("q")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.publish(ada, sender, 100)
    old.close(rig.now)
    rig.publish(ada, sender, 100)  # Nobody acknowledges these here.
    rig.run(0.1)
    assert old.closed
    rig.run(3)
    rig.publish(ada, sender, 100)
    book = rig.take(ben, receiver)
    assert book.whole(300)
    assert set(range(1, 101)) | set(range(201, 301)) <= set(book.numbers)
    assert book.gaps + len(book.events) == 300
    assert new.status(rig.now)["clients"][0]["attached"]
    assert ada.attached
    assert ben.attached


def test_what_a_closing_planet_is_sent_is_not_acknowledged() -> None:
    rig = Rig(drain_seconds=1.0)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.link(ben).client.reads = False  # So that it drains for a while.
    rig.publish(ada, sender, 3_000)
    rig.run(0.1)
    rig.planet.close(rig.now)
    rig.settle()
    acked = ada.session.acked
    rig.publish(ada, sender, 50)
    rig.run(0.5)
    assert ada.session.acked == acked
    assert not ada.idle(sender)
    assert ben.receivers[receiver].error is None


def test_goodbye_comes_last_and_says_that_coming_back_makes_sense() -> None:
    rig = Rig()
    stranger = rig.stranger(attached=True)
    silent = rig.stranger()
    rig.planet.close(rig.now)
    rig.run(1)
    for one in (stranger, silent):
        assert one.items()[-1] == Bye("closing", "the planet closes", again=True)
        assert not one.open
    late = rig.stranger()
    rig.run(1)
    assert late.items(Bye)[0].again
    assert rig.planet.closed


def test_closing_twice_is_closing_once() -> None:
    rig = Rig()
    rig.client("ada")
    rig.settle()
    rig.planet.close(rig.now)
    rig.planet.close(rig.now + 1)
    rig.run(1)
    assert rig.planet.closed
    assert [one.event for one in rig.logs].count("planet_closing") == 1


def test_a_planet_without_a_link_is_closed_at_once() -> None:
    rig = Rig()
    rig.planet.close(rig.now)
    assert rig.planet.closed
