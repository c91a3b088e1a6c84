from __future__ import annotations

import json

from heliograph.planet.control import ANSWER_BYTES_MAX, SHOWN_MAX
from heliograph.wire.messages import Ask, Told
from planet.pair import Rig
from planet.policies import EVERY, above


def busy() -> Rig:
    rig = Rig(lane_entries=64)
    ada, ben, cat = rig.client("ada"), rig.client("ben"), rig.client("cat")
    sender = rig.advertise(ada, "s")
    rig.subscribe(ben, "s", EVERY)
    rig.subscribe(cat, "s", above(2))
    rig.subscribe(cat, "later")
    rig.link(ben).client.reads = False
    rig.publish(ada, sender, 1_000)
    return rig


def test_the_status_says_what_flows_where_and_what_was_dropped() -> None:
    rig = busy()
    status = rig.planet.status(rig.now)
    assert [one["name"] for one in status["clients"]] == ["ada", "ben", "cat"]
    assert [(one["senders"], one["receivers"]) for one in status["clients"]] == [
        (1, 0), (0, 1), (0, 2),
    ]  # fmt: skip
    s, later = status["streams"]
    assert (s["stream"], s["offered"], s["number"], s["events"]) == ("s", True, 1_000, 1_000)
    assert (s["receivers"], s["lanes"], later["offered"], later["lanes"]) == (2, 2, False, 0)
    slow, fast = status["lanes"]  # The fullest first.
    assert (slow["name"], fast["name"]) == ("ben", "cat")
    assert slow["fill"] > 0.5
    assert fast["fill"] == 0
    assert (slow["entries"] <= 64, slow["capacity_entries"]) == (True, 64)
    assert slow["packs"] == sum(slow["levels"].values()) == status["packs"] > 0
    assert slow["dropped"] == status["events"]["dropped"]
    assert sum(slow["dropped"].values()) > 500
    assert status["events"]["received"] == 1_000
    assert status["buffer"]["bytes"] == slow["bytes"]


def test_the_status_is_json_and_a_client_may_ask_for_it() -> None:
    rig = busy()
    client = rig.client("asker")
    request = client.ask_status(rig.now)
    rig.settle()
    request = client.ask_status(rig.now)
    rig.settle()
    answer = client.answer(request)
    assert answer == json.loads(json.dumps(answer))
    assert {one["name"] for one in answer["clients"]} >= {"ada", "ben", "cat"}
    assert client.answer(request) is None


def test_an_answer_fits_into_a_frame_however_much_there_is_to_tell() -> None:
    rig = Rig()
    ada = rig.client("ada")
    stranger = rig.stranger(attached=True)
    for number in range(SHOWN_MAX - 100):
        ada.subscribe("long" * 50 + str(number), None, rig.now)
    rig.settle()
    rig.link(stranger).planet.reads = True
    stranger.say(Ask(1))
    rig.settle()
    (told,) = stranger.items(Told)
    assert len(told.body) <= ANSWER_BYTES_MAX
    streams = json.loads(told.body)["streams"]
    assert 100 < len(streams) < SHOWN_MAX


def test_an_answer_is_a_tenth_of_a_second_old_at_most() -> None:
    rig = Rig()
    stranger = rig.stranger(attached=True)
    for wait in (0.0, 0.05, 0.2):
        rig.run(wait)
        stranger.say(Ask(1))
        rig.settle()
    ages = [json.loads(one.body)["uptime_seconds"] for one in stranger.items(Told)]
    assert ages[0] == ages[1] < ages[2]
