from __future__ import annotations

from heliograph.planet.config import PlanetConfig
from heliograph.planet.cursors import Cursors
from heliograph.planet.frames import Frames
from heliograph.planet.state import ClientState
from heliograph.wire.session import CURSOR_DELAY
from planet.pair import Rig


def client(number: int, due: int | None) -> ClientState:
    found = ClientState(number, bytes(16), "", PlanetConfig(), Frames())
    found.session.link, found.session.cursor_at = number, due
    return found


def test_cursors_are_sent_when_they_are_due_and_not_before() -> None:
    marked: list[int] = []
    cursors = Cursors(lambda one: marked.append(one.number))
    for number, due in ((1, 30), (2, 10), (3, 20), (4, None)):
        cursors.owe(client(number, due))
    assert cursors.at == 10
    cursors.send(20)
    assert marked == [2, 3]
    assert cursors.at == 30
    cursors.send(30)
    assert marked == [2, 3, 1]
    assert cursors.at is None


def test_an_urgent_cursor_is_sent_at_once() -> None:
    marked: list[int] = []
    cursors = Cursors(lambda one: marked.append(one.number))
    one = client(1, 10)
    one.session.cursor_urgent = True
    cursors.owe(one)
    assert marked == [1]


def test_a_client_that_is_gone_or_was_told_is_owed_nothing() -> None:
    marked: list[int] = []
    cursors = Cursors(lambda one: marked.append(one.number))
    gone, told = client(1, 10), client(2, 10)
    cursors.owe(gone)
    cursors.owe(told)
    gone.session.link, told.session.cursor_at = None, None
    cursors.send(10)
    assert marked == []
    assert cursors.at is None


def test_what_a_sender_sent_is_acknowledged_within_the_delay() -> None:
    rig = Rig()
    ada = rig.client("ada")
    sender = rig.advertise(ada, "s")
    rig.publish(ada, sender, 1)
    assert not ada.idle(sender)
    rig.run(CURSOR_DELAY / 1e9 + 0.002)
    assert ada.idle(sender)


def test_much_data_is_acknowledged_without_delay() -> None:
    rig = Rig()
    ada = rig.client("ada")
    sender = rig.advertise(ada, "s")
    before = rig.now
    for _ in range(400):
        rig.publish(ada, sender, 1, text="x" * 1_000)
        rig.settle()
    assert rig.now == before
    assert len(ada.senders[sender].lane.entries) < 40
