from __future__ import annotations

import pytest

from heliograph.event.schema import Schema
from heliograph.lane.outlet import LANES_MAX
from heliograph.planet.subscriptions import MARKS_MAX
from heliograph.policy.document import loads
from heliograph.policy.model import Policy
from planet.pair import Rig
from planet.policies import EVERY, NEWEST, OLDEST, TEXT, above

ODD = loads(
    '{"levels": [{"always": true, "filters": '
    '[{"name": "INSET", "attribute": "n", "values": [2, 4, 6, 8, 10]}]}]}'
)


def test_equal_policies_share_one_lane_and_its_frames_cross_once() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s")
    receivers = [rig.subscribe(ben, "s", EVERY) for _ in range(8)]
    before = rig.link(ben).planet.crossed
    rig.publish(ada, sender, 100, text="x" * 100)
    for receiver in receivers:
        assert rig.take(ben, receiver).numbers == list(range(1, 101))
    (lane,) = rig.planet.status(rig.now)["lanes"]
    assert lane["receivers"] == 8
    assert rig.link(ben).planet.crossed - before < 100 * 150


def test_different_policies_cross_once_while_nothing_overflows() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s")
    receivers = [rig.subscribe(ben, "s", above(one)) for one in range(8)]
    before = rig.link(ben).planet.crossed
    rig.publish(ada, sender, 100, n=1, text="x" * 100)
    for receiver in receivers:
        assert rig.take(ben, receiver).numbers == list(range(1, 101))
    assert len(rig.planet.status(rig.now)["lanes"]) == 8
    assert rig.link(ben).planet.crossed - before < 100 * 150


def test_different_policies_get_each_its_own_when_their_lanes_overflow() -> None:
    rig = Rig(lane_entries=64)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s")
    receivers = {one: rig.subscribe(ben, "s", above(one)) for one in (50, 100, 150)}
    rig.link(ben).planet.reads = rig.link(ben).client.reads = False
    rig.publish(ada, sender, 1_000)
    rig.link(ben).planet.reads = rig.link(ben).client.reads = True
    rig.run(5)
    for threshold, receiver in receivers.items():
        book = rig.take(ben, receiver)
        assert book.whole(1_000)
        assert book.dropped > 0
        assert threshold or book.numbers


def test_a_lane_holds_what_its_receiver_wished_and_at_most_what_the_planet_gives() -> None:
    rig = Rig(lane_entries=100, lane_bytes=50_000)
    ben = rig.client("ben")
    ada = rig.client("ada")
    rig.advertise(ada, "s")
    for entries, size in ((10, 0), (0, 9_000), (10**6, 10**9), (1, 1)):
        ben.subscribe("s", None, rig.now, entries=entries, size=size)
        rig.settle()
    lanes = rig.planet.status(rig.now)["lanes"]
    found = {(one["capacity_entries"], one["capacity_bytes"]) for one in lanes}
    assert found == {(10, 50_000), (100, 9_000), (100, 50_000), (2, 512)}


def test_a_policy_changes_on_a_full_lane_and_nothing_is_lost() -> None:
    rig = Rig(lane_entries=32)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s", EVERY)
    rig.publish(ada, sender, 10)
    rig.link(ben).client.reads = False  # What ben says arrives; what he should hear does not.
    rig.publish(ada, sender, 1_500)
    at = ada.senders[sender].last
    request = ben.repolicy(receiver, NEWEST, rig.now)
    rig.settle()
    rig.publish(ada, sender, 1_500)
    lanes = rig.planet.status(rig.now)["lanes"]
    assert sorted(one["receivers"] for one in lanes) == [0, 1]  # That of the old policy too.
    rig.link(ben).client.reads = True
    rig.run(2)
    book = rig.take(ben, receiver)
    assert rig.error(ben, request) is None
    assert book.whole(3_010)
    # No digest of the one policy covers a number of the other.
    assert not [one for one in book.digests if one.after < at < one.upto]
    assert any(one.upto <= at for one in book.digests)
    assert any(one.after >= at for one in book.digests)
    assert book.numbers[-10:] == list(range(3_001, 3_011))  # As `newest` has it.


def test_a_policy_that_changes_again_and_again_loses_nothing() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    other = rig.subscribe(ben, "s", EVERY)
    for turn in range(40):
        ben.repolicy(receiver, [EVERY, NEWEST, OLDEST][turn % 3], rig.now)
        rig.publish(ada, sender, 5)
    assert rig.take(ben, receiver).numbers == list(range(1, 201))
    assert rig.take(ben, other).numbers == list(range(1, 201))
    rig.run(5)
    assert len(rig.planet.status(rig.now)["lanes"]) <= 2


def test_so_many_changes_wait_in_a_lane_and_no_more() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s", EVERY)
    rig.link(ben).client.reads = False
    rig.publish(ada, sender, 2_000)
    asked = []
    for _ in range(3 * MARKS_MAX):
        rig.subscribe(ben, "s", EVERY)  # Each joins the lane at a marker.
        rig.publish(ada, sender, 1)
    rig.link(ben).client.reads = True
    rig.run(2)
    asked = [ben.receivers[one].error for one in sorted(ben.receivers)]
    assert sum(error is None for error in asked) == 1 + MARKS_MAX
    assert "changes wait in the lane" in str(asked[-1])
    assert rig.take(ben, receiver).whole(ada.senders[sender].last)


def test_a_policy_that_does_not_suit_is_refused_and_the_old_one_goes_on() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s", Schema.declare({"n": "int64"}))
    receiver = rig.subscribe(ben, "s")
    with pytest.raises(Exception, match="attribute n is int64"):
        ben.repolicy(receiver, TEXT, rig.now)
    rig.publish(ada, sender, 5)
    assert rig.take(ben, receiver).numbers == [1, 2, 3, 4, 5]


def test_what_an_always_level_removes_is_told_as_filtered_when_the_stream_falls_silent() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s", ODD)
    rig.publish(ada, sender, 10)
    assert rig.take(ben, receiver).numbers == [1, 3, 5, 7, 9]
    rig.run(5)
    book = rig.take(ben, receiver)
    assert book.whole(10)
    assert (book.filtered, book.dropped) == (5, 0)
    assert rig.planet.status(rig.now)["events"]["filtered"] == 5


def test_a_receiver_is_told_how_far_a_silent_stream_has_come() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s")
    rig.publish(ada, sender, 10)
    assert ben.receivers[receiver].missing == 0
    rig.run(5)
    assert ben.receivers[receiver].beacon.number == 10


def test_a_receiver_that_joins_a_shared_lane_has_books_that_begin_clean() -> None:
    rig = Rig(lane_entries=32)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, first = rig.advertise(ada, "s"), rig.subscribe(ben, "s", EVERY)
    rig.link(ben).client.reads = False
    rig.publish(ada, sender, 1_500)
    second = rig.subscribe(ben, "s", EVERY)
    rig.publish(ada, sender, 1_500)
    rig.link(ben).client.reads = True
    rig.run(2)
    assert len(rig.planet.status(rig.now)["lanes"]) == 1
    assert rig.take(ben, first).whole(3_000)
    book = rig.take(ben, second)
    assert book.whole(3_000)
    assert min(book.numbers) > 1_500
    assert book.dropped + len(book.events) == 1_500


def test_a_receiver_that_leaves_takes_its_lane_and_its_memory_with_it() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s", EVERY)
    rig.link(ben).client.reads = False
    rig.publish(ada, sender, 2_000)
    ben.repolicy(receiver, NEWEST, rig.now)
    rig.settle()
    rig.publish(ada, sender, 100)
    assert rig.planet.multicast.pool.bytes > 0
    ben.unsubscribe(receiver, rig.now)
    rig.settle()
    assert rig.planet.multicast.pool.bytes == 0
    assert not next(iter(rig.planet.multicast.streams.values())).lanes
    rig.link(ben).client.reads = True
    rig.run(5)
    assert [len(one.outlet.groups) for one in rig.planet.mobility.clients.values()] == [0, 0]
    again = rig.subscribe(ben, "s")
    rig.publish(ada, sender, 5)
    assert rig.take(ben, again).numbers == list(range(2_101, 2_106))


def test_counters_do_not_go_back_when_lanes_and_streams_go() -> None:
    rig = Rig(lane_entries=32)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender, receiver = rig.advertise(ada, "s"), rig.subscribe(ben, "s", EVERY)
    rig.link(ben).client.reads = False
    rig.publish(ada, sender, 3_000)
    rig.link(ben).client.reads = True
    rig.run(2)
    rig.take(ben, receiver)
    before = rig.planet.status(rig.now)
    for client in (ben, ada):
        client.depart(rig.now)
    rig.run(2)
    after = rig.planet.status(rig.now)
    assert after["events"] == before["events"]
    assert after["packs"] == before["packs"] > 0
    assert after["lanes"] == after["streams"] == []


def test_one_client_has_so_many_policies_for_one_stream() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s")
    receivers = [rig.subscribe(ben, "s", above(one)) for one in range(LANES_MAX + 2)]
    errors = [ben.receivers[one].error for one in receivers]
    assert errors[:LANES_MAX] == [None] * LANES_MAX
    assert all("at most 64 policies" in str(error) for error in errors[LANES_MAX:])
    rig.publish(ada, sender, 5)
    assert rig.take(ben, receivers[LANES_MAX - 1]).numbers == [1, 2, 3, 4, 5]


def test_a_receiver_closed_before_it_was_opened_takes_nothing_from_the_other() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s")
    first = ben.subscribe("s", None, rig.now)
    second = ben.subscribe("s", None, rig.now)
    ben.unsubscribe(first, rig.now)
    rig.settle()
    rig.publish(ada, sender, 5)
    assert rig.take(ben, second).numbers == [1, 2, 3, 4, 5]


def test_what_a_client_filters_itself_is_told_when_the_stream_falls_silent() -> None:
    rig = Rig(pack_steps=1)
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s")
    receiver = rig.subscribe(ben, "s", Policy(always=above(20).levels[0].filters))
    for _ in range(3):
        rig.publish(ada, sender, 10)
        rig.run(5)
        assert ben.receivers[receiver].missing == 0
    book = rig.take(ben, receiver)
    assert book.whole(30)
    assert book.filtered == 30 - len(book.numbers) > 10
    assert rig.planet.status(rig.now)["events"]["filtered"] < 5
