"""What the PACK report claims of nodes, clients and buffers (its sections 3, 4 and 5), one by one.

Where we depart from it, the test says what holds instead.
"""

from __future__ import annotations

from heliograph.policy.model import Digester, Filter, Level, Policy
from planet.pair import Rig
from planet.policies import EVERY, above

COUNTED = Policy(digesters=(Digester("MAX", "n"), Digester("MIN", "n")))


def test_3_a_client_attaches_before_its_endpoints_can_send_or_receive() -> None:
    rig = Rig()
    ada, ben = rig.client("ada", "nowhere"), rig.client("ben", "nowhere")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.publish(ada, sender, 5)
    rig.run(5)
    assert rig.take(ben, receiver).events == []
    for client in (ben, ada):
        client.start("p", rig.now)
        rig.run(6)
    assert rig.take(ben, receiver).numbers == [1, 2, 3, 4, 5]


def test_3_one_heartbeat_serves_all_endpoints_of_a_client() -> None:
    rig = Rig(heartbeat_seconds=1.0)
    ada = rig.client("ada")
    rig.run(10)
    before = rig.link(ada).client.crossed
    rig.run(20)
    alone = rig.link(ada).client.crossed - before
    for number in range(50):
        rig.advertise(ada, f"a{number}")
        rig.subscribe(ada, f"b{number}")
    rig.run(10)
    before = rig.link(ada).client.crossed
    rig.run(20)
    assert rig.link(ada).client.crossed - before <= alone + 8


def test_3_attached_becomes_detached_on_request_or_after_missing_heartbeats() -> None:
    rig = Rig(heartbeat_seconds=1.0)
    ada, ben = rig.client("ada"), rig.client("ben")
    rig.settle()
    ada.detach(rig.now)
    rig.link(ben).planet.reads = False  # Nothing of ben's arrives any more.
    rig.run(0.5)
    assert [one["attached"] for one in rig.planet.status(rig.now)["clients"]] == [False, True]
    ben.detach(rig.now)
    rig.run(8)
    assert [one["attached"] for one in rig.planet.status(rig.now)["clients"]] == [False, False]


def test_3_detached_for_too_long_becomes_departed_and_its_queues_are_removed() -> None:
    rig = Rig(session_seconds=30.0)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s")
    rig.subscribe(ben, "s")
    ben.detach(rig.now)
    rig.settle()
    rig.publish(ada, sender, 50)
    assert rig.planet.status(rig.now)["buffer"]["bytes"] > 0
    rig.run(40)
    status = rig.planet.status(rig.now)
    assert status["buffer"]["bytes"] == 0
    assert (status["lanes"], status["streams"][0]["receivers"]) == ([], 0)


def test_3_a_planet_appears_to_a_client_as_attached_or_detached() -> None:
    rig = Rig(heartbeat_seconds=1.0)
    ada = rig.client("ada")
    rig.run(1)
    assert ada.attached
    rig.link(ada).client.reads = False
    rig.run(10)
    assert len(rig.tries) > 1  # It gave the silent link up by itself, and tried again.


def test_3_events_are_buffered_on_the_sender_client_while_it_is_detached() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    ada.detach(rig.now)
    rig.settle()
    rig.publish(ada, sender, 100)
    assert rig.planet.status(rig.now)["events"]["received"] == 0
    ada.attach(rig.now)
    rig.run(1)
    assert rig.take(ben, receiver).numbers == list(range(1, 101))


def test_3_the_planet_may_force_a_client_to_choose_another() -> None:
    rig = Rig()
    ada = rig.client("ada", "p,q")
    rig.settle()
    old = rig.planet
    new = rig.begin("q")
    old.close(rig.now)
    rig.run(3)
    assert ada.attached
    assert [one["name"] for one in new.status(rig.now)["clients"]] == ["ada"]


def test_4_a_full_queue_is_packed_instead_of_dropping_the_newest() -> None:
    rig = Rig(lane_entries=20)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s", EVERY)
    ben.detach(rig.now)
    rig.settle()
    rig.publish(ada, sender, 21)
    ben.attach(rig.now)
    rig.run(1)
    book = rig.take(ben, receiver)
    assert book.numbers == [*range(1, 21, 2), 21]
    assert [(one.after, one.upto, one.count) for one in book.digests] == [(0, 20, 10)]


def test_4_receivers_across_one_link_share_a_queue_under_normal_conditions() -> None:
    # We depart: the queue belongs to a distinct policy. Each event crosses the link once anyway.
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s")
    receivers = [rig.subscribe(ben, "s", one) for one in (EVERY, EVERY, above(3), None)]
    rig.publish(ada, sender, 50, text="x" * 1_000)
    assert all(rig.take(ben, one).numbers == list(range(1, 51)) for one in receivers)
    assert len(rig.planet.status(rig.now)["lanes"]) == 3
    assert rig.link(ben).planet.crossed < 1.1 * 50 * 1_020


def test_4_packed_queues_are_private_and_each_follows_its_own_policy() -> None:
    rig = Rig(lane_entries=20)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s")
    odd, high = rig.subscribe(ben, "s", EVERY), rig.subscribe(ben, "s", above(11))
    ben.detach(rig.now)
    rig.settle()
    rig.publish(ada, sender, 21)
    ben.attach(rig.now)
    rig.run(1)
    assert rig.take(ben, odd).numbers == [*range(1, 21, 2), 21]
    assert rig.take(ben, high).numbers == list(range(11, 22))


def test_4_queues_hold_references_to_one_event_and_not_copies() -> None:
    rig = Rig()
    ada = rig.client("ada")
    sender = rig.advertise(ada, "s")
    for number in range(20):
        ben = rig.client(f"b{number}")
        rig.subscribe(ben, "s", above(number))
        ben.detach(rig.now)
    rig.settle()
    rig.publish(ada, sender, 3)
    stream = rig.planet.multicast.streams["s"]
    entries = [id(one) for lane, _, _ in stream.lanes for one in lane.entries]
    assert (len(entries), len(set(entries))) == (60, 3)


def test_4_when_no_filter_can_drop_the_worst_case_summarises_all_by_the_policys_digesters() -> None:
    rig = Rig(lane_entries=20)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s", COUNTED)
    ben.detach(rig.now)
    rig.settle()
    rig.publish(ada, sender, 21)
    ben.attach(rig.now)
    rig.run(1)
    book = rig.take(ben, receiver)
    (digest,) = book.digests
    assert (digest.count, digest.first_time, digest.last_time) == (20, 1, 20)
    assert [(one.digester, one.value) for one in digest.parts] == [("MAX", 20), ("MIN", 1)]
    assert book.numbers == [21]


def test_4_a_suspended_queue_fills_and_packs_and_is_not_drained_until_it_is_resumed() -> None:
    rig = Rig(lane_entries=20)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s", EVERY)
    ben.detach(rig.now)
    rig.settle()
    for _ in range(10):
        rig.publish(ada, sender, 50)
        rig.run(1)
    (lane,) = rig.planet.status(rig.now)["lanes"]
    assert (lane["delivered"], lane["packs"] > 5) == (0, True)
    ben.attach(rig.now)
    rig.run(1)
    assert rig.take(ben, receiver).whole(500)


def test_4_a_subscription_reaches_back_to_the_client_of_its_sender() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s")
    rig.subscribe(ben, "s", EVERY)
    rig.run(2)
    assert [one.identity for one in ada.senders[sender].policies] == [EVERY.identity]


def test_4_a_slow_application_has_its_local_queue_packed_by_its_policy() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben", inbox_entries=20)
    sender = rig.advertise(ada, "s")
    receiver = rig.subscribe(ben, "s", EVERY)
    rig.publish(ada, sender, 500)
    rig.run(1)
    book = rig.take(ben, receiver)
    rig.run(1)
    book = rig.take(ben, receiver)
    assert book.whole(500)
    assert book.dropped > 0


def test_5_the_level_that_freed_enough_becomes_the_queues_level() -> None:
    levels = Policy(
        (
            Level((Filter("GE", (("value", 0),), "n"),)),  # Drops nothing.
            Level((Filter("EVERY", (("n", 4),)),)),
        )
    )
    rig = Rig(lane_entries=20)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s", levels)
    ben.detach(rig.now)
    rig.settle()
    rig.publish(ada, sender, 21)
    (lane,) = rig.planet.status(rig.now)["lanes"]
    assert (lane["level"], lane["levels"]) == (2, {"2": 1})
    ben.attach(rig.now)
    rig.run(1)
    assert rig.take(ben, receiver).numbers == [1, 5, 9, 13, 17, 21]


def test_5_little_is_under_way_beyond_the_reach_of_a_policy() -> None:
    # The report limits TCP's buffer to 1,024 bytes for this; we count what is not acknowledged.
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s")
    rig.subscribe(ben, "s", EVERY)
    rig.link(ben).client.reads = False
    rig.publish(ada, sender, 2_000)
    under_way = rig.planet.status(rig.now)["clients"][1]["under_way"]
    assert 0 < under_way <= 5_000
