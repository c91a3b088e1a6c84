from __future__ import annotations

from random import Random

import pytest

from heliograph.planet.config import PlanetConfig
from heliograph.planet.planet import Planet
from heliograph.wire.core import Close, Log
from heliograph.wire.frames import cursor_frame
from heliograph.wire.messages import Bye, Subscribe
from planet.pair import MS, SECOND, Rig


def planet(**settings: object) -> Planet:
    return Planet(PlanetConfig(**settings), rng=Random(1), now=0)  # type: ignore[arg-type]


def test_a_new_planet_wants_to_be_called_and_has_nothing_to_say() -> None:
    one = planet()
    assert one.deadline() == SECOND
    assert not one.take_effects()
    assert not one.take_ready()
    assert not one.closed


def test_effects_and_ready_links_are_given_once() -> None:
    one = planet(connections_max=1)
    for link in (1, 2):
        one.connected(link, 0)
    effects = one.take_effects()
    assert [type(effect) for effect in effects] == [Log, Close]
    assert one.take_effects() == []
    assert one.take_ready() == [2]
    assert one.take_ready() == []
    assert one.pull(2, 1_000, 0) != b""
    assert one.pull(2, 1_000, 0) == b""


def test_links_that_are_not_there_are_nobodys() -> None:
    one = planet()
    one.feed(7, b"\xff" * 99, 0)
    assert one.pull(7, 1_000, 0) == b""
    one.disconnected(7, 0)
    assert one.take_effects() == []


def test_a_refused_link_is_not_fed_any_more() -> None:
    one = planet()
    one.connected(1, 0)
    for _ in range(5):
        one.feed(1, b"\xff" * 99, 0)
    assert one.status(0)["refused"] == {"protocol": 1}


def test_a_link_may_end_at_any_moment() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    for turn in range(60):
        ada.publish(sender, {"n": turn}, turn, rig.now)
        rig.cut([ada, ben][turn % 2])
        rig.run(0.03 if turn % 3 else 1)
    rig.run(5)
    book = rig.take(ben, receiver)
    assert book.numbers == list(range(1, 61))
    assert rig.planet.status(rig.now)["refused"] == {}


def test_time_that_stands_still_or_leaps_loses_nothing() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    for leap in (0.0, 0.0, 3_600.0, 0.001, 86_400.0):
        rig.publish(ada, sender, 5)
        rig.now += int(leap * SECOND)
        rig.run(1)
    rig.run(10)
    rig.publish(ada, sender, 5)
    assert rig.take(ben, receiver).numbers == list(range(1, 31))


def test_the_same_calls_give_the_same_bytes() -> None:
    def story() -> list[object]:
        rig = Rig(lane_entries=64)
        ada, ben = rig.client("ada"), rig.client("ben")
        sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
        rig.link(ben).rate = 3
        rig.publish(ada, sender, 300)
        rig.run(2)
        rig.cut(ben)
        rig.run(3)
        book = rig.take(ben, receiver)
        return [book.numbers, book.digests, rig.logs, rig.tries, rig.planet.status(rig.now)]

    assert story() == story()


@pytest.mark.parametrize("kind", ["connections", "closing", "greeting"])
def test_who_was_only_unlucky_may_come_back(kind: str) -> None:
    rig = Rig(connections_max=1, greeting_seconds=1.0)
    if kind == "closing":
        rig.planet.close(rig.now)
    elif kind == "connections":
        rig.stranger()
    late = rig.stranger()
    rig.run(3)
    (bye,) = late.items(Bye)
    assert (bye.code, bye.again) == (kind, True)


def test_ticks_that_come_late_or_early_do_no_harm() -> None:
    rig = Rig()
    ada = rig.client("ada")
    rig.settle()
    for _ in range(50):
        rig.planet.tick(rig.now)
        ada.tick(rig.now)
        rig.settle()
    rig.now += 100 * MS
    rig.settle()
    assert ada.attached


def test_a_cursor_that_lets_nothing_go_asks_for_no_pull() -> None:
    rig = Rig()
    ada, eve = rig.client("ada"), rig.stranger(attached=True)
    sender = rig.advertise(ada, "s")
    eve.say(Subscribe(1, "s", b""))
    rig.publish(ada, sender, 3)
    assert rig.planet.take_ready() == []
    session = next(one.session for one in rig.planet.mobility.clients.values() if one.name != "ada")
    frames = session.acked + len(session.unacked)
    assert frames > session.acked
    rig.planet.feed(eve.link, cursor_frame(frames, 0), rig.now)
    assert rig.planet.take_ready() == []
    assert not session.unacked
