from __future__ import annotations

from heliograph.event.schema import Schema
from heliograph.planet.demands import DEMAND_BYTES_MAX, DEMAND_MAX
from heliograph.wire.forms import schema_bytes
from heliograph.wire.messages import Advertise, Demand
from planet.pair import Rig
from planet.policies import above


def test_a_sender_is_told_what_its_receivers_would_give_up() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s")
    rig.subscribe(ben, "s", above(100))
    rig.subscribe(ben, "s", above(100))
    rig.subscribe(ben, "s", above(50))
    rig.run(3)
    assert ada.senders[sender].receivers == 3
    found = {policy.identity for policy in ada.senders[sender].policies}
    assert found == {above(100).identity, above(50).identity}


def test_a_detached_sender_drops_only_what_every_policy_drops() -> None:
    rig = Rig()
    ada = rig.client("ada", sender_entries=64)
    ben, cat = rig.client("ben"), rig.client("cat")
    sender = rig.advertise(ada, "s")
    receivers = [
        (rig.subscribe(ben, "s", above(1_970)), ben),
        (rig.subscribe(cat, "s", above(1_990)), cat),
    ]
    rig.run(3)
    ada.detach(rig.now)
    rig.settle()
    for number in range(1, 2_001):
        # The lane overflows early, while all numbers are small.
        ada.publish(sender, {"n": number}, number, rig.now)
        ada.senders[sender].flush(rig.now)
    assert len(ada.senders[sender].lane.entries) <= 64
    ada.attach(rig.now)
    rig.run(2)
    for receiver, client in receivers:
        book = rig.take(client, receiver)
        assert book.whole(2_000)
        assert set(range(1_970, 2_001)) <= set(book.numbers)


def test_receivers_that_come_and_go_do_not_cost_the_sender_its_link() -> None:
    rig = Rig()
    owner = rig.stranger(attached=True)
    owner.say(Advertise(1, "s", 1, 0, 1, schema_bytes(Schema())))
    eve = rig.client("eve")
    rig.settle()
    for turn in range(200):
        receiver = rig.subscribe(eve, "s", above(turn, 20))
        eve.unsubscribe(receiver, rig.now)
        rig.settle()
    assert len(owner.items(Demand)) <= 2
    rig.run(3)
    assert len(owner.items(Demand)) <= 4
    assert owner.items(Demand)[-1].receivers == 0


def test_a_demand_is_bounded_in_policies_and_in_bytes() -> None:
    rig = Rig()
    owner = rig.stranger(attached=True)
    owner.say(Advertise(1, "s", 1, 0, 1, schema_bytes(Schema())))
    eve = rig.client("eve")
    rig.settle()
    for turn in range(DEMAND_MAX):
        rig.subscribe(eve, "s", above(turn))
    rig.run(2)
    assert len(owner.items(Demand)[-1].policies) == DEMAND_MAX
    rig.subscribe(eve, "s", above(-1))
    rig.run(2)
    assert owner.items(Demand)[-1] == Demand(1, DEMAND_MAX + 1, [])
    assert max(sum(map(len, one.policies)) for one in owner.items(Demand)) <= DEMAND_BYTES_MAX


def test_a_demand_that_changed_while_the_owner_was_away_is_told_when_it_is_back() -> None:
    rig = Rig()
    ada, ben = rig.client("ada"), rig.client("ben")
    sender = rig.advertise(ada, "s")
    ada.detach(rig.now)
    rig.settle()
    rig.subscribe(ben, "s", above(5))
    rig.run(5)
    ada.attach(rig.now)
    rig.run(3)
    assert [one.identity for one in ada.senders[sender].policies] == [above(5).identity]
