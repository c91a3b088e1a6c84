"""Whoever wants too much, or lies about its events, pays for it alone, and memory is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from heliograph.event.block import ARROW, Block
from heliograph.event.schema import Schema
from heliograph.event.types import TIME_MAX, Type
from heliograph.policy.model import Policy
from heliograph.wire.forms import policy_bytes, schema_bytes
from heliograph.wire.frames import BLOCK, BLOCK_HEAD, word
from heliograph.wire.messages import (
    Advertise,
    Advertised,
    Ask,
    Bye,
    Denied,
    Depart,
    Grow,
    Subscribe,
    Told,
)  # fmt: skip
from planet.policies import EVERY, above
from planet.ward import Ward, event, row

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.client.client import Client


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"\xff\xfe", "UTF-8"),
        (b"x" * 2**19, "at most"),
        (b"[" * 50_000, ""),
        (b"<policy>" * 2_000, ""),
        (b'<!DOCTYPE a [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><policy>&b;</policy>', ""),
        (b'{"levels": [{"filters": [{"name": "NONE"}]}]}', "NONE"),
    ],
)
def test_a_policy_that_is_none_is_denied_in_words(document: bytes, reason: str) -> None:
    ward = Ward()
    ward.eve.say(Subscribe(1, "good", document))
    ward.rig.run(0.1)
    (denied,) = ward.eve.items(Denied)
    assert reason in denied.reason
    assert ward.eve.open
    assert ward.well()


def test_a_catastrophic_pattern_costs_no_more_than_another() -> None:
    ward = Ward(lane_entries=64, pack_steps=10_000)
    text = b'{"levels": [{"filters": [{"name": "MATCH", "attribute": "t", "pattern": "(a+)+$"}]}]}'
    ward.eve.say(Subscribe(1, "good", text))
    ward.rig.settle()
    ward.rig.link(ward.eve).client.reads = False
    ward.rig.publish(ward.ada, ward.sender, 500, t="a" * 2_000 + "b")
    ward.rig.take(ward.ben, ward.receiver)
    assert ward.well()


def test_more_receivers_than_a_client_may_have_are_denied() -> None:
    ward = Ward(receivers_per_client_max=10)
    for number in range(1, 100):
        ward.eve.say(Subscribe(number, f"x{number}", policy_bytes(above(number))))
    ward.rig.run(0.1)
    assert len(ward.eve.items(Denied)) == 89
    assert len(ward.rig.planet.multicast.streams) == 11
    assert ward.well()


def test_a_flood_of_streams_ends_at_streams_max_and_spares_those_that_are() -> None:
    ward = Ward(streams_max=50)
    for number in range(1, 200):
        ward.eve.say(Subscribe(number, f"x{number}", b""))
    ward.rig.run(0.1)
    assert len(ward.rig.planet.multicast.streams) == 50
    assert "its streams_max" in ward.eve.items(Denied)[-1].reason
    assert ward.well()
    ward.eve.say(Depart())
    ward.rig.run(1)
    assert len(ward.rig.planet.multicast.streams) == 1


def test_idle_connections_are_turned_away_at_connections_max() -> None:
    ward = Ward(attached=False, connections_max=200, greeting_seconds=5.0)
    crowd = [ward.rig.stranger() for _ in range(1_000)]
    ward.rig.run(0.1)
    assert sum(one.open for one in crowd) == 197
    assert crowd[-1].items(Bye)[0] == Bye(
        "connections", "this planet has all the connections it takes", again=True
    )
    assert ward.well()
    ward.rig.run(6)
    assert not any(one.open for one in crowd)
    assert ward.rig.planet.status(ward.rig.now)["refused"] == {"connections": 803, "greeting": 198}


def lying(ward: Ward) -> int:
    """Let the stranger offer a stream whose rows are not of its schema; return the last number."""
    alias = ward.offer()
    for number in range(1, 61):
        ward.eve.send(event(alias, number, row(number, 7 if number < 20 else "seven")))
    ward.rig.settle()
    return 60


def far(ward: Ward) -> int:
    """Let the stranger offer a stream whose times no calendar has; return the last number."""
    alias = ward.offer()
    for number in range(1, 61):
        late = msgspec.msgpack.encode([TIME_MAX + number, number])
        ward.eve.send(event(alias, number, late))
    ward.rig.settle()
    return 60


def read_all(ward: Ward, client: Client, receiver: int) -> tuple[int, int, int]:
    """Return how many events came, how many were counted, and up to which number."""
    events = counted = upto = 0
    for item in client.take(receiver, 10_000, ward.rig.now):
        if isinstance(item, Block):
            events, upto = events + item.count, item.last
        else:
            counted, upto = counted + item.count, item.upto
    return events, counted, upto


@pytest.mark.parametrize("harm", [lying, far])
def test_events_that_cannot_be_told_cost_their_owner_when_a_lane_packs_them(
    harm: Callable[[Ward], int],
) -> None:
    ward = Ward(lane_entries=32)
    slow = ward.rig.client("slow")
    receiver = ward.rig.subscribe(slow, "bad", EVERY)
    slow.detach(ward.rig.now)
    ward.rig.settle()
    harm(ward)
    assert ward.refused("unreadable")
    slow.attach(ward.rig.now)
    ward.rig.run(2)
    events, counted, upto = read_all(ward, slow, receiver)
    assert events + counted == upto
    assert counted > 0
    assert slow.gaps == 0
    # The stream is free for someone honest.
    other = ward.rig.advertise(ward.ada, "bad", epoch=2)
    assert ward.rig.error(ward.ada, other) is None
    ward.rig.publish(ward.ada, other, 5)
    assert read_all(ward, slow, receiver) == (5, 0, 5)


def test_rows_that_are_not_of_the_schema_cost_their_owner_where_a_level_is_always() -> None:
    ward = Ward()
    cat = ward.rig.client("cat")
    always = Policy(always=above(5).levels[0].filters)
    receiver = ward.rig.subscribe(cat, "bad", always)
    lying(ward)
    assert ward.refused("unreadable")
    events, counted, upto = read_all(ward, cat, receiver)
    assert events + counted == upto == 60
    assert counted > 0


def test_a_client_that_never_reads_is_closed_before_its_messages_pile_up() -> None:
    ward = Ward()
    ward.rig.link(ward.eve).client.reads = False
    for request in range(8_000):
        ward.eve.say(Ask(request))
        if not request % 500:
            ward.rig.settle()
    ward.rig.run(4)
    assert not ward.eve.open
    assert ward.rig.planet.status(ward.rig.now)["refused"] == {"messages": 1}
    assert ward.well()


def test_a_sender_that_floods_its_receivers_with_epochs_loses_them_and_nobody_else_does() -> None:
    ward = Ward()
    cat = ward.rig.client("cat")
    bad, good = ward.rig.subscribe(cat, "bad"), ward.rig.subscribe(cat, "good")
    cat.detach(ward.rig.now)
    wide = Schema.declare({f"attribute-{one}" * 10: "string" for one in range(100)})
    ward.offer(wide)
    for epoch in range(2, 900):
        ward.eve.say(Advertise(epoch, "bad", epoch, 0, 1, schema_bytes(wide)))
        if not epoch % 50:
            ward.rig.settle()
    ward.rig.settle()
    assert ward.well()
    cat.attach(ward.rig.now)
    ward.rig.run(5)
    assert cat.gaps == 0
    assert "began anew or grew too often" in str(cat.receivers[bad].error)
    assert ward.rig.take(cat, good).whole(20)


def test_a_sender_that_grows_its_schema_without_end_does_not_burden_who_is_away() -> None:
    ward = Ward()
    cat = ward.rig.client("cat")
    receiver = ward.rig.subscribe(cat, "bad")
    alias = ward.offer(Schema())
    cat.detach(ward.rig.now)
    schema = Schema()
    for one in range(400):
        schema = schema.evolve({f"attribute-{one}": Type.INT64})
        ward.eve.say(Grow(alias, schema_bytes(schema)))
        if not one % 20:
            ward.rig.settle()
    state = next(one for one in ward.rig.planet.mobility.clients.values() if one.name == "cat")
    assert state.session.control_bytes < 100_000
    cat.attach(ward.rig.now)
    ward.rig.run(1)
    ward.eve.send(event(alias, 1, row(1, 3)))
    ward.rig.settle()
    assert [one.values for one in ward.rig.take(cat, receiver).events] == [{"attribute-0": 3}]


def test_who_asks_again_and_again_gets_one_answer_made_once() -> None:
    ward = Ward()
    for request in range(200):
        ward.eve.say(Ask(request))
    ward.rig.settle()
    told = ward.eve.items(Told)
    assert len(told) == 200
    assert len({one.body for one in told}) == 1


@pytest.mark.parametrize("body", [bytes(9), b"\0", b"\xff" * 40])
def test_columns_that_are_none_cost_their_owner_and_no_receiver_misses_a_number(
    body: bytes,
) -> None:
    ward = Ward()
    cat, dan = ward.rig.client("cat"), ward.rig.client("dan")
    always = Policy(always=above(5).levels[0].filters)
    wanted = [(cat, ward.rig.subscribe(cat, "bad", always)), (dan, ward.rig.subscribe(dan, "bad"))]
    alias = ward.offer()
    for number in range(1, 6):
        ward.eve.send(event(alias, number, row(number, 9)))
    length = BLOCK_HEAD.size + len(body)
    head = BLOCK_HEAD.pack(word(BLOCK, length), alias, 6, 3, 3, 1, ARROW, 0, 0)
    ward.eve.send(head + body)
    ward.rig.settle()
    assert ward.refused("unreadable")
    for client, receiver in wanted:
        events, counted, upto = read_all(ward, client, receiver)
        assert events + counted == upto == 8


def test_a_mistake_in_a_pack_costs_that_lane_and_is_logged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ward = Ward()
    cat, dan = ward.rig.client("cat"), ward.rig.client("dan")
    first, second = ward.rig.subscribe(cat, "good"), ward.rig.subscribe(dan, "good")
    lane, _, _ = ward.rig.planet.multicast.streams["good"].lanes[1]
    monkeypatch.setattr(lane, "offer", lambda *_: 1 // 0)
    ward.rig.publish(ward.ada, ward.sender, 5)
    monkeypatch.undo()
    ward.rig.publish(ward.ada, ward.sender, 5)
    assert [one.event for one in ward.rig.logs] == ["pack_failed"] * 5
    assert "ZeroDivisionError" in ward.rig.logs[0].fields["error"]
    assert read_all(ward, dan, second) == (10, 0, 10)
    assert read_all(ward, cat, first) == (5, 5, 10)


def test_a_planet_that_stumbles_over_a_chunk_begins_the_session_anew_and_tells_a_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ward = Ward()
    planet = ward.rig.planet
    monkeypatch.setattr(planet.multicast, "run", lambda *_: 1 // 0)
    ward.ada.publish(ward.sender, {"n": 1}, 1, ward.rig.now)
    with pytest.raises(ZeroDivisionError):
        ward.rig.settle()
    monkeypatch.undo()
    ward.rig.run(3)
    assert planet.status(ward.rig.now)["refused"] == {"mistake": 1}
    assert ward.ada.gaps == 1
    ward.rig.publish(ward.ada, ward.sender, 3)
    book = ward.rig.take(ward.ben, ward.receiver)
    assert book.whole(4)


def test_lanes_of_former_policies_are_packed_too_when_all_lanes_hold_too_much() -> None:
    ward = Ward(lane_bytes=65_536, buffer_bytes=131_072, window_bytes=4_096)
    cat = ward.rig.client("cat")
    many = [ward.rig.subscribe(cat, "bad", above(one)) for one in range(4)]
    ward.rig.link(cat).client.reads = False
    bad = ward.rig.advertise(ward.ada, "bad")
    for turn in range(6):
        for number, receiver in enumerate(many):
            cat.repolicy(receiver, above(100 * turn + number), ward.rig.now)
        ward.rig.publish(ward.ada, bad, 120, t="x" * 500)
        for _ in range(3):
            ward.rig.publish(ward.ada, ward.sender, 20, t="x" * 500)
    status = ward.rig.planet.status(ward.rig.now)
    assert status["buffer"]["bytes"] <= 131_072
    held = {one["name"]: 0 for one in status["lanes"]}
    for one in status["lanes"]:
        held[one["name"]] += one["bytes"]
    assert sum(held.values()) == status["buffer"]["bytes"]
    book = ward.rig.take(ward.ben, ward.receiver)
    assert (len(book.events), book.dropped) == (360, 0)


def test_schemas_that_grow_large_cost_their_own_stream_at_who_is_away() -> None:
    ward = Ward()
    cat = ward.rig.client("cat")
    bad = [ward.rig.subscribe(cat, f"bad{one}") for one in range(120)]
    good = ward.rig.subscribe(cat, "good")
    ward.rig.link(cat).client.reads = False
    for one in range(120):
        ward.eve.say(Advertise(one + 1, f"bad{one}", 1, 0, 1, schema_bytes(Schema())))
    ward.rig.settle()
    large = {f"{one:03}" + "x" * 120: Type.INT64 for one in range(250)}
    for told in ward.eve.items(Advertised):
        ward.eve.say(Grow(told.alias, schema_bytes(Schema().evolve(large))))
        ward.rig.settle()
    ward.rig.publish(ward.ada, ward.sender, 20)
    ward.rig.link(cat).client.reads = True
    ward.rig.run(5)
    assert cat.gaps == 0
    assert sum(cat.receivers[one].error is not None for one in bad) > 10
    assert ward.rig.take(cat, good).whole(20)
