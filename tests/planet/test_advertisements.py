from __future__ import annotations

from typing import Any

import pytest

from heliograph.event.schema import Schema
from heliograph.event.types import TIME_MAX
from heliograph.wire.forms import schema_bytes
from heliograph.wire.messages import Advertise, Advertised, Depart, Refused
from planet.pair import Rig
from planet.policies import TEXT, above

PULSE = Schema.declare({"n": "int64"})


@pytest.mark.parametrize("first", ["advertise", "subscribe"])
def test_offering_and_subscribing_may_come_in_either_order(first: str) -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    if first == "advertise":
        sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    else:
        receiver, sender = rig.subscribe(ben, "s"), rig.advertise(ada, "s")
    rig.publish(ada, sender, 10)
    assert rig.take(ben, receiver).numbers == list(range(1, 11))
    assert rig.error(ada, sender) is rig.error(ben, receiver) is None


def test_a_stream_that_does_not_exist_yet_is_waited_for() -> None:
    rig = Rig()
    ben = rig.client("ben")
    receiver = rig.subscribe(ben, "s")
    rig.run(30)
    assert rig.error(ben, receiver) is None
    (stream,) = rig.planet.status(rig.now)["streams"]
    assert (stream["offered"], stream["receivers"]) == (False, 1)
    ada = rig.client("ada")
    sender = rig.advertise(ada, "s")
    rig.publish(ada, sender, 3)
    assert rig.take(ben, receiver).numbers == [1, 2, 3]


def test_publishing_may_begin_before_the_stream_is_accepted() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    receiver = rig.subscribe(ben, "s")
    sender = ada.advertise("s", None, rig.now, 1)
    for number in range(1, 11):
        ada.publish(sender, {"n": number}, number, rig.now)
    rig.settle()
    assert rig.take(ben, receiver).numbers == list(range(1, 11))


def test_the_first_client_owns_a_stream_and_a_second_is_told_why_not() -> None:
    rig = Rig(session_seconds=20.0)
    ada, eve = rig.client("ada"), rig.client("eve")
    rig.advertise(ada, "s")
    sender = rig.advertise(eve, "s")
    assert "offered by another client" in str(rig.error(eve, sender))
    assert "20 s after it is gone" in str(eve.senders[sender].error)


@pytest.mark.parametrize("how", ["withdraw", "depart", "end"])
def test_a_stream_is_free_when_its_owner_lets_go(how: str) -> None:
    rig = Rig(session_seconds=20.0)
    ada, eve, ben = rig.client("ada"), rig.client("eve"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.publish(ada, sender, 5)
    if how == "withdraw":
        ada.withdraw(sender, rig.now)
    elif how == "depart":
        ada.depart(rig.now)
    else:
        rig.lose(ada)
        rig.run(25)
    rig.run(1)
    other = rig.advertise(eve, "s", epoch=2)
    assert rig.error(eve, other) is None
    rig.publish(eve, other, 5)
    book = rig.take(ben, receiver)
    assert [(one.epoch, one.number) for one in book.events] == [
        (epoch, number) for epoch in (1, 2) for number in range(1, 6)
    ]


def test_an_owner_that_is_only_detached_keeps_its_stream() -> None:
    rig = Rig()
    ada, eve = rig.client("ada"), rig.client("eve")
    rig.advertise(ada, "s")
    ada.detach(rig.now)
    rig.run(100)
    sender = rig.advertise(eve, "s")
    assert rig.error(eve, sender) is not None


def test_a_sender_that_starts_again_begins_a_larger_epoch_and_nothing_is_lost() -> None:
    rig = Rig(session_seconds=5.0)
    ben = rig.client("ben")
    receiver = rig.subscribe(ben, "s")
    for epoch in (10, 11, 15):
        ada = rig.client("ada")
        sender = rig.advertise(ada, "s", epoch=epoch)
        rig.publish(ada, sender, 7)
        rig.lose(ada)
        rig.run(10)
    book = rig.take(ben, receiver)
    assert [(one.epoch, one.number) for one in book.events] == [
        (epoch, number) for epoch in (10, 11, 15) for number in range(1, 8)
    ]
    assert rig.planet.status(rig.now)["streams"][0]["epoch"] == 15


def test_epochs_with_other_schemas_are_read_each_by_its_own() -> None:
    rig = Rig(session_seconds=5.0)
    ben = rig.client("ben")
    receiver = rig.subscribe(ben, "s")
    for epoch, values in ((1, {"a": 1, "b": "x"}), (2, {"b": 2.5}), (3, {"c": True, "a": "y"})):
        ada = rig.client("ada")
        sender = rig.advertise(ada, "s", epoch=epoch)
        rig.publish(ada, sender, 3, **values)
        rig.lose(ada)
        rig.run(10)
    seen: list[dict[str, Any]] = [dict(one.values) for one in rig.take(ben, receiver).events]
    assert seen == [{"a": 1, "b": "x"}] * 3 + [{"b": 2.5}] * 3 + [{"c": True, "a": "y"}] * 3


def test_a_detached_lane_packs_epochs_with_other_schemas_each_by_its_own() -> None:
    rig = Rig(lane_entries=32, session_seconds=600.0)
    ben = rig.client("ben")
    receiver = rig.subscribe(ben, "s", above(100))
    ben.detach(rig.now)
    for epoch, values in ((1, {"n": 7, "b": "x"}), (2, {"b": 2.5, "n": 200}), (3, {"n": 1})):
        ada = rig.client("ada")
        sender = rig.advertise(ada, "s", epoch=epoch)
        rig.publish(ada, sender, 14, **values)
        ada.depart(rig.now)
        rig.run(1)
    ben.attach(rig.now)
    rig.run(1)
    book = rig.take(ben, receiver)
    assert book.epoch == 3
    assert book.whole(14)
    assert {one.values["n"] for one in book.events if one.epoch == 2} == {200}
    assert len([one for one in book.events if one.epoch == 2]) == 14
    assert rig.planet.status(rig.now)["refused"] == {}


def test_a_smaller_epoch_is_refused() -> None:
    rig = Rig()
    ada, eve, ben = rig.client("ada"), rig.client("eve"), rig.client("ben")
    rig.subscribe(ben, "s")
    rig.advertise(ada, "s", epoch=7)
    ada.depart(rig.now)
    rig.run(1)
    sender = rig.advertise(eve, "s", epoch=6)
    assert "has come to the epoch 7" in str(rig.error(eve, sender))


def test_a_schema_grows_on_a_live_stream_before_the_events_that_need_it() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.publish(ada, sender, 2, v=21)
    rig.publish(ada, sender, 2, v=21.5, w="new")
    rig.publish(ada, sender, 2, v=22)
    book = rig.take(ben, receiver)
    assert [dict(one.values) for one in book.events] == [
        {"v": 21}, {"v": 21}, {"v": 21.5, "w": "new"}, {"v": 21.5, "w": "new"}, {"v": 22},
        {"v": 22},
    ]  # fmt: skip
    assert ben.schema(receiver).version == ada.senders[sender].schema.version == 3


def test_a_schema_that_grew_while_a_receiver_was_away_reads_what_waited() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    ben.detach(rig.now)
    rig.publish(ada, sender, 3, v=1)
    rig.publish(ada, sender, 3, v=1.5)
    rig.publish(ada, sender, 3, w=True)
    ben.attach(rig.now)
    rig.run(1)
    values = [dict(one.values) for one in rig.take(ben, receiver).events]
    assert values == [{"v": 1}] * 3 + [{"v": 1.5}] * 3 + [{"w": True}] * 3


def test_a_policy_that_does_not_suit_a_stream_is_denied_with_the_reason() -> None:
    rig = Rig()
    ada, ben, cat = rig.client("ada"), rig.client("ben"), rig.client("cat")
    early = rig.subscribe(ben, "s", TEXT)
    assert rig.error(ben, early) is None  # It may wait for what does not exist.
    rig.advertise(ada, "s", PULSE)
    late = rig.subscribe(cat, "s", TEXT)
    for client, receiver in ((ben, early), (cat, late)):
        assert "attribute n is int64" in str(client.receivers[receiver].error)
    assert rig.planet.status(rig.now)["streams"][0]["receivers"] == 0


def test_a_schema_that_grows_into_what_a_policy_cannot_judge_denies_it() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s", TEXT)
    rig.publish(ada, sender, 3, m=1)
    assert ben.receivers[receiver].error is None
    rig.publish(ada, sender, 3, n=1)
    assert "attribute n is int64" in str(ben.receivers[receiver].error)


def test_an_advertisement_that_is_refused_leaves_no_stream_behind() -> None:
    rig = Rig(streams_max=2)
    eve = rig.stranger(attached=True)
    wrong: list[dict[str, Any]] = [
        {"epoch": 0}, {"epoch": 2**63}, {"base": 2**62}, {"next": 0}, {"schema": b"\xc1"},
        {"stream": ""}, {"stream": "x" * 300},
    ]  # fmt: skip
    good = {"epoch": 1, "base": 0, "next": 1, "schema": schema_bytes(PULSE)}
    for request, change in enumerate(wrong, 1):
        eve.say(Advertise(**{"request": request, "stream": f"s{request}", **good, **change}))
    rig.settle()
    assert [one.request for one in eve.items(Refused)] == list(range(1, len(wrong) + 1))
    assert rig.planet.status(rig.now)["streams"] == []
    assert eve.open


def test_a_schema_that_contradicts_the_one_before_costs_its_sender_only() -> None:
    rig = Rig()
    eve, ben = rig.stranger(attached=True), rig.client("ben")
    eve.say(Advertise(1, "s", 1, 0, 1, schema_bytes(PULSE)))
    receiver = rig.subscribe(ben, "s")
    other = schema_bytes(Schema.declare({"other": "string"}))
    eve.say(Advertise(2, "s", 1, 0, 1, other))
    rig.settle()
    assert eve.items(Advertised)[0].request == 1
    assert "none that 1 can grow to" in eve.items(Refused)[0].reason
    assert ben.receivers[receiver].error is None


def test_a_client_offers_so_many_streams_and_no_more() -> None:
    rig = Rig(senders_per_client_max=3)
    ada = rig.client("ada")
    errors = [rig.error(ada, rig.advertise(ada, f"s{one}")) for one in range(5)]
    assert [error is None for error in errors] == [True, True, True, False, False]
    assert len(rig.planet.status(rig.now)["streams"]) == 3


@pytest.mark.parametrize("number", [0, 2**62 + 1, 2**64 - 1])
def test_a_stream_cannot_begin_where_no_numbers_are_left(number: int) -> None:
    rig = Rig()
    eve, ben = rig.stranger(attached=True), rig.client("ben")
    receiver = rig.subscribe(ben, "s")
    eve.say(Advertise(1, "s", 1, 0, number, schema_bytes(PULSE)))
    rig.settle()
    (no,) = eve.items(Refused)
    assert "cannot be" in no.reason
    assert ben.receivers[receiver].account is None


def test_who_offers_an_epoch_that_is_too_small_is_told_which_it_has_to_exceed() -> None:
    rig = Rig()
    ada, eve, ben = rig.client("ada"), rig.stranger(attached=True), rig.client("ben")
    rig.subscribe(ben, "s")
    rig.advertise(ada, "s", epoch=2**40)
    ada.depart(rig.now)
    rig.run(1)
    eve.say(Advertise(1, "s", 7, 0, 1, schema_bytes(PULSE)))
    rig.settle()
    (no,) = eve.items(Refused)
    assert no.epoch == 2**40
    eve.say(Advertise(2, "s", no.epoch + 1, 0, 1, schema_bytes(PULSE)))
    rig.settle()
    assert [one.request for one in eve.items(Advertised)] == [2]


def test_nobody_takes_all_epochs_of_a_stream() -> None:
    rig = Rig()
    ben = rig.client("ben")
    rig.subscribe(ben, "s")
    for epoch, taken in ((2**62, False), (TIME_MAX, True)):
        eve = rig.stranger(attached=True)
        eve.say(Advertise(1, "s", epoch, 0, 1, schema_bytes(PULSE)))
        rig.settle()
        assert bool(eve.items(Advertised)) is taken
        eve.say(Depart())
        rig.settle()
    ada = rig.client("ada")
    sender = rig.advertise(ada, "s", epoch=TIME_MAX + 1)
    assert rig.error(ada, sender) is None
