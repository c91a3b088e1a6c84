from __future__ import annotations

from typing import TYPE_CHECKING

from heliograph.event.digest import Digest
from heliograph.event.schema import Schema
from heliograph.wire.forms import schema_bytes
from heliograph.wire.frames import digest_frame
from heliograph.wire.messages import Advertise, Advertised
from planet.pair import Rig
from planet.policies import EVERY, above
from planet.ward import event, row

if TYPE_CHECKING:
    from heliograph.client.client import Client


def test_an_event_reaches_every_receiver_once() -> None:
    rig = Rig()
    senders = [rig.client(f"s{one}") for one in range(3)]
    receivers = [rig.client(f"r{one}") for one in range(4)]
    offered = [rig.advertise(one, f"stream{place}") for place, one in enumerate(senders)]
    wanted = [[rig.subscribe(one, f"stream{two}") for two in range(3)] for one in receivers]
    for _ in range(5):
        for client, sender in zip(senders, offered, strict=True):
            rig.publish(client, sender, 10)
    for client, numbers in zip(receivers, wanted, strict=True):
        for number in numbers:
            assert rig.take(client, number).numbers == list(range(1, 51))
    events = rig.planet.status(rig.now)["events"]
    assert (events["received"], events["delivered"]) == (150, 600)


def test_two_hundred_receivers_of_which_fifty_never_read() -> None:
    rig = Rig(lane_entries=256, heartbeat_seconds=1_000.0)
    ada = rig.client("ada")
    sender = rig.advertise(ada, "s")
    clients = [rig.client(f"r{one}") for one in range(200)]
    receivers = {id(one): rig.subscribe(one, "s") for one in clients}
    for client in clients[:50]:
        rig.link(client).client.reads = False
    for _ in range(20):
        for number in range(100):
            ada.publish(sender, {"n": number}, number, rig.now)
        rig.settle()
    for client in clients[50:]:
        assert rig.take(client, receivers[id(client)]).numbers == list(range(1, 2_001))
    lanes = rig.planet.status(rig.now)["lanes"]
    assert max(one["entries"] for one in lanes) <= 256
    assert sum(one["packs"] > 0 for one in lanes) == 50
    for client in clients[:50]:
        rig.link(client).client.reads = True
    rig.run(5)
    for client in clients[:50]:
        book = rig.take(client, receivers[id(client)])
        assert book.whole(2_000)
        assert book.dropped > 0


def overload(rig: Rig, streams: int, size: int) -> list[tuple[Client, int]]:
    """Let clients that do not read want streams that are larger than memory."""
    ada = rig.client("ada")
    offered = [rig.advertise(ada, f"s{one}") for one in range(streams)]
    wanted = []
    for turn in range(4):
        client = rig.client(f"r{turn}")
        policy = [None, EVERY, above(10), above(10**6)][turn]
        wanted += [(client, rig.subscribe(client, f"s{one}", policy)) for one in range(streams)]
        rig.link(client).client.reads = False
    text = "x" * size
    for number in range(1, 401):
        for sender in offered:
            ada.publish(sender, {"n": number, "t": text}, number, rig.now)
        rig.settle()
        planet = rig.planet
        assert planet.multicast.pool.bytes <= planet.config.buffer_bytes
        held = sum(
            one.held_bytes for stream in planet.multicast.streams.values()
            for one, _, _ in stream.lanes
        )  # fmt: skip
        assert planet.multicast.pool.bytes == held
    return wanted


def test_all_lanes_together_stay_within_the_buffer_and_every_event_is_counted() -> None:
    rig = Rig(
        lane_bytes=65_536, buffer_bytes=262_144, window_bytes=16_384, heartbeat_seconds=1_000.0
    )
    wanted = overload(rig, streams=8, size=200)
    for state in rig.planet.mobility.clients.values():
        assert sum(len(frame) for frame, _ in state.session.unacked) <= 32_768
    assert rig.planet.status(rig.now)["buffer"]["bytes"] <= 262_144
    for client, _ in wanted:
        rig.link(client).client.reads = True
    rig.run(10)
    for client, receiver in wanted:
        assert rig.take(client, receiver).whole(400)


def test_one_lane_stays_within_its_bytes_whatever_comes() -> None:
    rig = Rig(lane_bytes=8_192, lane_entries=1_000)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s", EVERY)
    ben.detach(rig.now)
    rig.settle()
    for size in (10, 5_000, 100, 20_000, 1, 8_000, 100_000, 3):
        rig.publish(ada, sender, 5, t="x" * size)
        (lane,) = rig.planet.status(rig.now)["lanes"]
        assert lane["bytes"] <= 8_192
    ben.attach(rig.now)
    rig.run(2)
    assert rig.take(ben, receiver).whole(40)


def test_digests_from_the_sender_reach_receivers_with_their_numbers() -> None:
    rig = Rig()
    eve, ben = rig.stranger(attached=True), rig.client("ben")
    receiver = rig.subscribe(ben, "s")
    eve.say(Advertise(1, "s", 1, 0, 1, schema_bytes(Schema.declare({"n": "int64"}))))
    rig.settle()
    alias = eve.items(Advertised)[0].alias
    eve.send(event(alias, 1, row(1)) + event(alias, 4, row(4)))
    eve.send(digest_frame(Digest("s", 1, 0, 6, 4), alias))
    eve.send(event(alias, 7, row(7)))
    rig.settle()
    book = rig.take(ben, receiver)
    assert book.numbers == [1, 4, 7]
    assert book.dropped == 4


def test_who_subscribes_while_a_gap_is_open_begins_when_it_closes() -> None:
    rig = Rig()
    eve, ben = rig.stranger(attached=True), rig.client("ben")
    eve.say(Advertise(1, "s", 1, 0, 1, schema_bytes(Schema.declare({"n": "int64"}))))
    rig.settle()
    alias = eve.items(Advertised)[0].alias
    eve.send(event(alias, 1, row(1)) + event(alias, 4, row(4)))
    rig.settle()
    receiver = rig.subscribe(ben, "s")
    assert ben.receivers[receiver].account is None
    eve.send(digest_frame(Digest("s", 1, 0, 6, 4), alias))
    eve.send(event(alias, 7, row(7)) + event(alias, 8, row(8)))
    rig.settle()
    assert rig.take(ben, receiver).numbers == [7, 8]


def test_what_an_owner_left_open_is_told_as_a_gap_when_it_goes() -> None:
    rig = Rig()
    eve, ben = rig.stranger(attached=True), rig.client("ben")
    receiver = rig.subscribe(ben, "s")
    eve.say(Advertise(1, "s", 1, 0, 1, schema_bytes(Schema.declare({"n": "int64"}))))
    rig.settle()
    alias = eve.items(Advertised)[0].alias
    eve.send(event(alias, 3, row(3)) + event(alias, 9, row(9)))
    rig.run(0.1)
    eve.send(b"\xff" * 8)
    rig.run(1)
    book = rig.take(ben, receiver)
    assert book.numbers == [3, 9]
    assert (book.gaps, book.whole(9)) == (7, True)
    assert rig.planet.status(rig.now)["streams"][0]["gaps"] == 7


def test_a_planet_that_is_killed_costs_only_what_nobody_else_held() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.publish(ada, sender, 50)
    rig.run(1)
    rig.cut(ben)
    rig.publish(ada, sender, 50)  # Acknowledged, and lost with the planet.
    rig.run(0.04)
    rig.kill()
    rig.publish(ada, sender, 50)  # The sender still has these.
    ada.detach(rig.now)
    rig.begin()
    rig.run(3)
    ada.attach(rig.now)
    rig.run(3)
    rig.publish(ada, sender, 50)
    book = rig.take(ben, receiver)
    assert book.whole(200)
    assert book.numbers == [*range(1, 51), *range(101, 201)]
    assert book.gaps == book.dropped == 50
    assert ada.gaps == ben.gaps == 1


def test_a_slow_link_does_not_slow_another() -> None:
    rig = Rig(lane_entries=64)
    ada, ben, cat = rig.client("ada"), rig.client("ben"), rig.client("cat")
    sender = rig.advertise(ada, "s")
    slow, fast = rig.subscribe(ben, "s", EVERY), rig.subscribe(cat, "s")
    rig.link(ben).rate = 1
    for turn in range(1, 41):
        rig.publish(ada, sender, 50)
        rig.run(0.05)
        assert rig.take(cat, fast).last == 50 * turn
    rig.link(ben).rate = None
    rig.run(2)
    book = rig.take(ben, slow)
    assert book.whole(2_000)
    assert book.dropped > 500
