"""A stream whose owner is gone gives way to the same program started again, and to nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from heliograph.event.digest import Digest
from heliograph.event.errors import EventError
from heliograph.event.schema import Schema
from heliograph.wire.forms import schema_bytes
from heliograph.wire.frames import GREETING, block_frame, digest_frame, message_frame
from heliograph.wire.messages import (
    VERSION,
    Advertise,
    Advertised,
    Attach,
    Bye,
    Displaced,
    Grow,
    Refused,
    Withdraw,
    encode_message,
)
from planet.pair import Rig
from planet.policies import above
from planet.ward import PULSE, block, event, row

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.client.client import Client
    from planet.pair import Stranger


def displaced(rig: Rig, client: Client) -> list[int]:
    """Return what of a client's was displaced and is not known to it yet."""
    found = [one for one in rig.planet.mobility.clients.values() if one.name == client.config.name]
    return [alias for one in found for alias in one.displaced]


def logs(rig: Rig, event: str) -> list[dict[str, Any]]:
    return [dict(log.fields) for log in rig.logs if log.event == event]


def test_a_program_that_was_killed_and_starts_again_has_its_stream_at_once() -> None:
    rig = Rig()
    ben = rig.client("ben")
    receiver = rig.subscribe(ben, "s")
    for epoch in (10, 11, 12):
        ada = rig.client("ada")
        sender = rig.advertise(ada, "s", epoch=epoch)
        assert rig.error(ada, sender) is None
        rig.publish(ada, sender, 5)
        rig.lose(ada)
    book = rig.take(ben, receiver)
    assert [(one.epoch, one.number) for one in book.events] == [
        (epoch, number) for epoch in (10, 11, 12) for number in range(1, 6)
    ]
    assert book.dropped == 0
    assert [one["epoch"] for one in logs(rig, "sender_displaced")] == [10, 11]


def test_what_the_displaced_owner_left_open_is_told_as_a_gap() -> None:
    rig = Rig()
    ben = rig.client("ben")
    receiver = rig.subscribe(ben, "s")
    ada = rig.client("ada", sender_entries=16)
    sender = rig.advertise(ada, "s")
    rig.publish(ada, sender, 3)
    stream = rig.planet.multicast.streams["s"]
    alias = stream.alias
    # An event far ahead, and then the power cut: the digest that settles 4 to 9 never comes.
    link = rig.link(ada)
    rig.planet.feed(link.number, event(alias, 10, row(10)), rig.now)
    rig.lose(ada)
    again = rig.client("ada")
    other = rig.advertise(again, "s", epoch=2)
    rig.publish(again, other, 2)
    book = rig.take(ben, receiver)
    assert [(one.epoch, one.number) for one in book.events] == [
        (1, 1), (1, 2), (1, 3), (1, 10), (2, 1), (2, 2),
    ]  # fmt: skip
    assert (book.gaps, book.dropped) == (6, 6)
    assert book.whole(2)


@pytest.mark.parametrize("name", ["eve", ""])
def test_another_name_never_gets_a_stream_before_its_owner_departs(name: str) -> None:
    rig = Rig()
    ada = rig.client("ada")
    rig.advertise(ada, "s")
    rig.lose(ada)
    rig.run(200)
    eve = rig.client(name)
    sender = rig.advertise(eve, "s", epoch=2)
    assert "another client, which is detached; it is free again" in str(rig.error(eve, sender))
    assert eve.senders[sender].again == 0
    rig.run(150)  # The session has ended.
    late = rig.client(name)
    assert rig.error(late, rig.advertise(late, "s", epoch=2)) is None


def test_clients_without_a_name_are_not_the_same() -> None:
    rig = Rig()
    ada = rig.client("")
    rig.advertise(ada, "s")
    rig.lose(ada)
    other = rig.client("")
    assert "offered by another client" in str(rig.error(other, rig.advertise(other, "s", epoch=2)))


@pytest.mark.parametrize("epoch", [4, 5])
def test_an_epoch_that_is_not_larger_displaces_nobody(epoch: int) -> None:
    rig = Rig()
    ada = rig.client("ada")
    rig.advertise(ada, "s", epoch=5)
    rig.lose(ada)
    again = rig.client("ada")
    assert rig.error(again, rig.advertise(again, "s", epoch=epoch)) is not None
    assert displaced(rig, again) == []


def test_an_attached_owner_never_gives_way_and_it_is_said_how_long_silence_would_take() -> None:
    rig = Rig(heartbeat_seconds=2.0)
    ada = rig.client("ada")
    sender = rig.advertise(ada, "s")
    twin = rig.client("ada")
    rig.run(1.0)
    other = rig.advertise(twin, "s", epoch=2)
    error = str(rig.error(twin, other))
    assert "another client of this name, which is attached" in error
    again = twin.senders[other].again
    assert 6_000 <= again <= 7_000  # Three heartbeats and the time between two looks, less 1 s.
    assert f"within {again / 1_000:.1f} s" in error
    rig.run(60)
    rig.publish(ada, sender, 3)
    assert ada.senders[sender].error is None
    assert rig.planet.multicast.streams["s"].position == (1, 3)


def test_a_half_open_owner_gives_way_when_the_time_that_was_said_is_over() -> None:
    rig = Rig(heartbeat_seconds=1.0)
    old = rig.stranger(attached=True)  # It never beats.
    old.say(Advertise(1, "s", 1, 0, 1, schema_bytes(PULSE)))
    rig.settle()
    again = rig.client("stranger")
    sender = rig.advertise(again, "s", epoch=2)
    wait = again.senders[sender].again
    again.withdraw(sender, rig.now)
    rig.run(wait / 1_000)
    assert rig.error(again, rig.advertise(again, "s", epoch=2)) is None


def test_an_owner_whose_link_is_being_closed_is_not_attached() -> None:
    rig = Rig(heartbeat_seconds=1.0)
    old = rig.stranger(attached=True)
    old.say(Advertise(1, "s", 1, 0, 1, schema_bytes(PULSE)))
    rig.settle()
    link = rig.link(old)
    link.client.reads = False  # So that what the planet still has to say keeps the link open.
    rig.run(4.5)
    (state,) = rig.planet.mobility.clients.values()
    assert state.link == link.number
    assert not rig.planet.mobility.attached(state)
    again = rig.client("stranger")
    assert rig.error(again, rig.advertise(again, "s", epoch=2)) is None


def test_an_owner_that_cannot_be_told_keeps_its_stream() -> None:
    rig = Rig()
    old = rig.stranger()
    old.send(message_frame(GREETING, encode_message(Attach(VERSION, ["to"], None, 0, "ada"))))
    rig.settle()
    old.say(Advertise(1, "s", 1, 0, 1, schema_bytes(PULSE)))
    rig.settle()
    rig.cut(old)
    again = rig.client("ada")
    sender = rig.advertise(again, "s", epoch=2)
    assert "which is detached; it is free again when" in str(rig.error(again, sender))


def test_an_advertisement_that_is_wrong_displaces_nobody() -> None:
    rig = Rig(senders_per_client_max=1)
    ada = rig.client("ada")
    rig.advertise(ada, "s")
    rig.lose(ada)
    full = rig.client("ada")
    rig.advertise(full, "t")
    sender = rig.advertise(full, "s", epoch=2)
    assert "offers at most 1 streams" in str(rig.error(full, sender))
    eve = rig.stranger(attached=True)
    eve.say(Advertise(1, "s", 2**63, 0, 1, schema_bytes(PULSE)))
    rig.settle()
    assert len(eve.items(Refused)) == 1
    assert displaced(rig, full) == []


def test_a_displaced_owner_that_comes_back_is_told_and_keeps_the_rest() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    lost, kept = rig.advertise(ada, "s"), rig.advertise(ada, "t")
    own = rig.subscribe(ada, "u")
    heard = [rig.subscribe(ben, "s"), rig.subscribe(ben, "t")]
    rig.publish(ada, lost, 3)
    ada.detach(rig.now)
    rig.settle()
    twin = rig.client("ada")
    sender = rig.advertise(twin, "s", epoch=2)
    rig.publish(twin, sender, 2)
    rig.publish(ada, lost, 4)  # It does not know yet; this waits in its lane.
    ada.attach(rig.now)
    rig.run(1)
    assert ada.senders[lost].error == (
        "another client of the name 'ada' offers the stream now; up to 4 events are lost"
    )
    assert [one["lost"] for one in logs(rig, "stream_taken_over")] == [4]
    with pytest.raises(EventError, match="s: another client of the name 'ada'"):
        ada.publish(lost, {"n": 1}, 1, rig.now)
    assert [one["stream"] for one in logs(rig, "stream_taken_over")] == ["s"]
    rig.publish(ada, kept, 3)
    rig.publish(twin, sender, 2)
    other = rig.advertise(ben, "u")
    rig.publish(ben, other, 3)
    assert rig.take(ada, own).numbers == [1, 2, 3]
    assert rig.take(ben, heard[1]).numbers == [1, 2, 3]
    book = rig.take(ben, heard[0])
    assert [(one.epoch, one.number) for one in book.events] == [
        (1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (2, 4),
    ]  # fmt: skip
    assert ada.gaps == 0
    assert rig.planet.status(rig.now)["refused"] == {}
    assert displaced(rig, ada) == []


def test_what_is_sent_again_before_the_owner_has_heard_is_ignored_and_logged_once() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.publish(ada, sender, 3)
    rig.link(ada).planet.reads = False
    for _ in range(3):
        rig.publish(ada, sender, 5, text="a schema that grows")
    rig.cut(ada)
    twin = rig.client("ada")
    # The old one comes back at once too, but the new one is first.
    other = rig.advertise(twin, "s", epoch=2)
    assert rig.error(twin, other) is None
    rig.publish(twin, other, 5)
    rig.run(5)
    assert ada.attached
    assert ada.senders[sender].displaced
    assert len(logs(rig, "displaced_data_ignored")) == 1
    assert rig.planet.status(rig.now)["refused"] == {}
    book = rig.take(ben, receiver)
    assert [(one.epoch, one.number) for one in book.events] == [
        *((1, number) for number in range(1, 4)), *((2, number) for number in range(1, 6)),
    ]  # fmt: skip
    assert displaced(rig, ada) == []


LATE: dict[str, Callable[[int], bytes]] = {
    "an event": lambda alias: event(alias, 4, row(4)),
    "a block": lambda alias: block_frame(block(4, [row(1)] * 3), alias, 1),
    "a digest that adds nothing up": lambda alias: digest_frame(
        Digest("s", 1, 0, 50, 3), alias
    ),
    "a schema": lambda alias: message_frame(
        1, encode_message(Grow(alias, schema_bytes(Schema.declare({"z": "bool"}))))
    ),
}  # fmt: skip


def resumed(rig: Rig) -> tuple[Stranger, int]:
    """Return an owner that was displaced while its link was down, and is back; and its alias."""
    old = rig.stranger(attached=True)
    old.say(Advertise(1, "s", 1, 0, 1, schema_bytes(PULSE)))
    rig.settle()
    (alias,) = [one.alias for one in old.items(Advertised)]
    rig.cut(old)
    twin = rig.client("stranger")
    assert rig.error(twin, rig.advertise(twin, "s", epoch=2)) is None
    (state,) = [one for one in rig.planet.mobility.clients.values() if one.displaced]
    back = rig.stranger()
    back.attach(state.token, frames=state.session.acked)
    rig.settle()
    assert back.items(Displaced) == [Displaced(alias)]
    return back, alias


@pytest.mark.parametrize("what", LATE)
def test_late_data_of_every_kind_is_ignored_until_the_owner_says_that_it_knows(what: str) -> None:
    rig = Rig()
    old, alias = resumed(rig)
    for _ in range(3):
        old.send(LATE[what](alias))
    rig.run(1)
    assert old.open
    assert len(logs(rig, "displaced_data_ignored")) == 1
    assert rig.planet.multicast.streams["s"].position == (2, 0)
    old.say(Withdraw(alias))
    old.send(LATE[what](alias))
    rig.run(1)
    assert [one.code for one in old.items(Bye)] == ["protocol"]


def test_a_withdrawal_of_a_displaced_stream_is_not_that_of_its_new_owner() -> None:
    rig = Rig()
    old, alias = resumed(rig)
    old.say(Withdraw(alias))
    rig.settle()
    (stream,) = rig.planet.status(rig.now)["streams"]
    assert (stream["offered"], stream["epoch"]) == (True, 2)


def test_a_displaced_owner_that_departs_leaves_its_successor_alone() -> None:
    rig = Rig(session_seconds=5.0)
    ada = rig.client("ada")
    rig.advertise(ada, "s")
    rig.lose(ada)
    twin = rig.client("ada")
    sender = rig.advertise(twin, "s", epoch=2)
    rig.run(20)  # The old session has ended.
    assert [one.name for one in rig.planet.mobility.clients.values()] == ["ada"]
    rig.publish(twin, sender, 3)
    assert rig.planet.multicast.streams["s"].position == (2, 3)


def test_what_is_kept_of_displaced_streams_is_bounded() -> None:
    rig = Rig(senders_per_client_max=3)
    old = rig.stranger(attached=True)
    aliases: list[int] = []
    for turn in range(1, 6):
        old.say(Advertise(turn, "s", turn * 10, 0, 1, schema_bytes(PULSE)))
        rig.settle()
        aliases.append(old.items(Advertised)[-1].alias)
        (state,) = rig.planet.mobility.clients.values()
        rig.cut(old)
        twin = rig.client("stranger")
        rig.advertise(twin, "s", epoch=turn * 10 + 1)
        twin.depart(rig.now)
        rig.run(1)
        back = rig.stranger()
        back.attach(state.token, frames=state.session.acked)
        rig.settle()
        rig.strangers.remove(old)
        old = back
    assert list(state.displaced) == aliases[-3:]


def test_the_receivers_lanes_and_policies_go_on_over_the_change() -> None:
    rig = Rig(lane_entries=32)
    ben = rig.client("ben")
    receiver = rig.subscribe(ben, "s", above(100))
    ben.detach(rig.now)
    for epoch, values in ((1, {"n": 7, "b": "x"}), (2, {"n": 200}), (3, {"n": 1})):
        ada = rig.client("ada")
        sender = rig.advertise(ada, "s", epoch=epoch)
        rig.publish(ada, sender, 14, **values)
        rig.lose(ada)
    ben.attach(rig.now)
    rig.run(1)
    book = rig.take(ben, receiver)
    assert book.epoch == 3
    assert book.whole(14)
    assert len([one for one in book.events if one.epoch == 2]) == 14


def test_the_new_owner_hears_at_once_what_its_receivers_would_give_up() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    rig.advertise(ada, "s")
    rig.subscribe(ben, "s", above(5))
    rig.lose(ada)
    again = rig.client("ada")
    sender = rig.advertise(again, "s", epoch=2)
    rig.run(2)
    assert again.senders[sender].policies == [above(5)]
