"""What campaigns found, each as the smallest run that shows it."""

from __future__ import annotations

import pytest

from heliograph.sim.application import Receiver, Sender
from heliograph.sim.faults import Away, Crash, Cut, Depart, Freeze, HalfOpen, Repolicy, Resubscribe
from heliograph.sim.quality import QUALITIES
from heliograph.sim.story import MILLISECOND, SECOND
from heliograph.sim.topology import PLANET
from sim.wards import Ward


def test_a_client_that_attaches_while_its_old_link_seems_alive_is_answered() -> None:
    ward = Ward()
    ward.publish(1_000)
    ward.run(1)
    HalfOpen("nurse", "client").strike(ward.topology)
    ward.run(1)
    assert ward.ledger.position.number > 190
    ward.run(10)
    ward.check()


def test_a_client_that_refuses_what_a_planet_says_begins_a_new_session() -> None:
    ward = Ward()
    ward.publish(300)
    ward.run(1)
    assert ward.nurse.core is not None
    ward.topology.truth.losses += 1
    ward.nurse.core.feed(1, bytes(64), ward.world.now)
    ward.nurse.settle()
    assert any("planet_refused" in line for line in ward.world.story.lines)
    ward.run(10)
    assert len(ward.nurse.ends) == 1
    ward.check()


def test_what_is_sent_again_to_a_new_planet_may_reach_across_a_cursor() -> None:
    ward = Ward()
    ward.sender.interval = 3 * MILLISECOND
    ward.publish(1_000)
    ward.run(1.0005)
    Crash(PLANET, SECOND).strike(ward.topology)
    ward.run(20)
    ward.check()


@pytest.mark.parametrize("steps", range(1, 12))
def test_a_receiver_that_is_ahead_of_a_new_planet_gets_the_next_epoch_whole(steps: int) -> None:
    ward = Ward(session_seconds=1.0)
    ward.sender.interval = 3 * MILLISECOND
    ward.publish(200)
    ward.world.run(500 * MILLISECOND + steps * MILLISECOND // 4)
    Cut("ward", 3 * SECOND).strike(ward.topology)
    ward.run(0.01)
    Crash(PLANET, SECOND).strike(ward.topology)
    ward.run(4)
    Crash("ward", SECOND).strike(ward.topology)
    ward.run(10)
    ward.publish(100)
    ward.run(5)
    ward.check()


def test_a_receiver_that_subscribes_again_behind_the_same_link_gets_clean_books() -> None:
    ward = Ward("one-ward", QUALITIES["mobile"])
    ward.publish(300)
    for _ in range(4):
        ward.run(0.7)
        Resubscribe("nurse", 0).strike(ward.topology)
    ward.run(10)
    ward.check()


def test_what_is_asked_while_the_client_is_away_is_asked_when_it_is_back() -> None:
    ward = Ward()
    for client in ("ward", "nurse"):
        Away(client, 2 * SECOND).strike(ward.topology)
    ward.run(1)
    ward.ward.application.senders.append(Sender("warmth", 10 * MILLISECOND))
    ward.ward.application.advertise(ward.ward.application.senders[-1])
    ward.nurse.application.receivers.append(Receiver("warmth"))
    ward.nurse.application.subscribe(ward.nurse.application.receivers[-1])
    ward.run(3)
    ward.ward.application.publish(ward.ward.application.senders[-1], 50)
    ward.run(2)
    ward.check()


@pytest.mark.parametrize("policy", ["feverish", "one-ward"])
@pytest.mark.parametrize("entries", [16, 64])
def test_a_lane_with_an_always_level_keeps_its_books_while_it_is_suspended(
    policy: str, entries: int
) -> None:
    ward = Ward(policy, lane_entries=entries, session_seconds=100.0)
    ward.publish(3_000)
    for seconds in (1, 6, 12):
        ward.run(0.5)
        Freeze("nurse", seconds * SECOND).strike(ward.topology)
        ward.run(seconds + 1)
    ward.run(20)
    ward.check()


@pytest.mark.parametrize("policy", ["feverish", "one-ward", "none"])
@pytest.mark.parametrize("burst", [1, 30])
def test_what_a_sender_packs_while_it_is_cut_off_is_settled_once(policy: str, burst: int) -> None:
    ward = Ward(policy, sender_entries=50, lane_entries=40)
    ward.sender.burst = burst
    ward.publish(2_000)
    for _ in range(4):
        ward.run(0.5)
        Cut("ward", 2 * SECOND).strike(ward.topology)
        ward.run(5)
    ward.run(40)
    ward.check()


@pytest.mark.parametrize("pause", range(1, 6))
def test_a_digest_that_comes_to_a_full_lane_goes_on_from_what_is_settled_there(pause: int) -> None:
    ward = Ward("oldest", sender_entries=20, inbox_entries=16)
    ward.receiver.batch, ward.receiver.interval = 7, pause * 100 * MILLISECOND
    ward.publish(1_000)
    for _ in range(4):
        ward.run(0.5)
        Cut("ward", SECOND).strike(ward.topology)
        ward.run(3)
    ward.run(60)
    ward.check()


@pytest.mark.parametrize("count", range(1, 12))
def test_what_was_filtered_before_a_policy_changed_is_told(count: int) -> None:
    ward = Ward("feverish")
    ward.publish(count)
    ward.run((count - 1) / 100 + 0.005)
    Repolicy("nurse", 0, "one-ward").strike(ward.topology)
    ward.run(10)
    ward.check()


def test_a_client_whose_link_takes_nothing_does_not_ask_to_be_called_all_the_time() -> None:
    ward = Ward(quality=QUALITIES["thin"], heartbeat_seconds=1.0)
    ward.publish(300)
    ward.run(1)
    HalfOpen("nurse").strike(ward.topology)
    HalfOpen("ward").strike(ward.topology)
    ward.run(20)  # A deadline that stays in the past would raise.
    ward.check()


@pytest.mark.parametrize("count", range(1, 12))
def test_what_was_filtered_in_an_epoch_is_told_when_the_next_one_begins(count: int) -> None:
    ward = Ward("one-ward", heartbeat_seconds=5.0)
    ward.publish(count)
    ward.run((count - 1) / 100 + 0.005)
    ward.ward.application.withdraw(ward.sender)
    ward.run(0.01)
    ward.ward.application.advertise_again(ward.sender)
    ward.run(10)
    ward.check()


def test_what_a_sender_packs_before_it_first_attaches_is_told() -> None:
    ward = Ward(sender_entries=20)
    ward.ward.crash()
    Crash("ward", SECOND).strike(ward.topology)
    ward.run(1)
    Cut("ward", 2 * SECOND).strike(ward.topology)
    ward.sender.stream = ward.receiver.stream = "warmth"
    ward.nurse.application.unsubscribe(ward.receiver)
    ward.nurse.application.subscribe(ward.receiver)
    ward.ward.start()
    ward.publish(150)
    ward.run(10)
    ward.check()
    assert (ward.ledger.events + ward.ledger.dropped, ward.ledger.gaps) == (150, 0)


@pytest.mark.parametrize("pause", [0.3, 1.0])
def test_what_is_sent_behind_a_detach_is_received_or_sent_again(pause: float) -> None:
    ward = Ward()
    ward.publish(1_000)
    ward.run(1)
    Freeze(PLANET, 2 * SECOND).strike(ward.topology)
    ward.run(pause)
    Away("ward", 3 * SECOND).strike(ward.topology)
    ward.run(20)
    ward.check()


def test_what_was_published_is_sent_before_a_client_departs() -> None:
    ward = Ward()
    ward.sender.burst = 50
    ward.publish(50)
    Depart("ward", 5 * SECOND).strike(ward.topology)
    ward.run(4)
    assert ward.ledger.events == 50
