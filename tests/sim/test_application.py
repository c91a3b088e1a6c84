from __future__ import annotations

from heliograph.sim.application import TIME_BEGIN, Receiver, event_time
from heliograph.sim.story import MILLISECOND, SECOND
from sim.wards import Ward


def test_virtual_time_is_event_time_from_2026_on() -> None:
    assert event_time(0) == TIME_BEGIN
    assert event_time(3 * SECOND) == TIME_BEGIN + 3_000_000


def test_a_program_publishes_in_bursts() -> None:
    ward = Ward()
    ward.sender.burst, ward.sender.interval = 5, 100 * MILLISECOND
    ward.publish(12)
    ward.run(0.15)
    assert ward.sender.left == 2
    ward.run(1)
    assert ward.ledger.events == 12
    ward.check()


def test_a_burst_may_be_published_as_one_block() -> None:
    ward = Ward()
    ward.sender.burst, ward.sender.blocks = 300, True
    ward.publish(700)
    ward.run(2)
    assert ward.ledger.events == 700
    ward.check()


def test_an_open_schema_grows() -> None:
    ward = Ward(stream="pulse+")
    ward.publish(150)
    ward.run(3)
    assert ward.ledger.events == 150
    ward.check()


def test_a_sender_that_withdraws_may_advertise_again() -> None:
    ward = Ward()
    ward.publish(20)
    ward.run(1)
    ward.ward.application.withdraw(ward.sender)
    ward.run(1)
    ward.ward.application.advertise_again(ward.sender)
    ward.publish(20)
    ward.run(1)
    assert ward.ledger.events == 40
    ward.check()


def test_a_program_that_stands_still_publishes_later() -> None:
    ward = Ward()
    ward.ward.freeze()
    ward.publish(5)
    ward.run(1)
    assert ward.ledger.events == 0
    ward.ward.thaw()
    ward.run(1)
    assert ward.ledger.events == 5


def test_a_receiver_takes_at_its_pace() -> None:
    ward = Ward()
    ward.receiver.interval, ward.receiver.batch = SECOND, 3
    ward.publish(12)
    ward.run(2.5)
    assert ward.ledger.events <= 9
    ward.run(5)
    ward.check()


def test_a_receiver_that_stalls_takes_nothing_until_it_takes_again() -> None:
    ward = Ward()
    ward.nurse.application.stall(ward.receiver)
    ward.publish(10)
    ward.run(1)
    assert ward.ledger.events == 0
    ward.nurse.application.resume(ward.receiver)
    assert ward.ledger.events == 10


def test_a_process_that_starts_again_begins_a_new_epoch_and_new_ledgers() -> None:
    ward = Ward(session_seconds=1.0)
    ward.publish(10)
    ward.run(1)
    first = ward.ledger
    ward.ward.crash()
    ward.nurse.crash()
    assert ward.receiver.past == [first]
    ward.ward.start()
    ward.nurse.start()
    ward.run(10)
    assert ward.sender.epoch is not None
    assert ward.sender.epoch.epoch > 1
    ward.publish(10)
    ward.run(1)
    assert ward.ledger is not first
    ward.check()


def test_what_was_acknowledged_is_owed_by_a_sender_that_is_gone() -> None:
    ward = Ward()
    ward.publish(10)
    ward.run(1)
    epoch = ward.sender.epoch
    ward.ward.crash()
    assert epoch is not None
    assert (epoch.over, epoch.owed) == (True, 10)


def test_a_refused_sender_asks_again() -> None:
    ward = Ward(heartbeat_seconds=1.0)
    ward.ward.crash(power=True)  # Nobody tells the planet.
    ward.ward.start()
    ward.run(1)
    assert any("of this name, which is attached" in words for words in ward.ward.application.told)
    ward.run(10)
    assert ward.sender.accepted


def test_a_program_that_starts_again_at_once_has_its_stream_at_once() -> None:
    ward = Ward()
    ward.publish(10)
    ward.run(1)
    ward.ward.crash()
    ward.run(0.1)
    ward.ward.start()
    ward.run(0.5)
    assert ward.sender.accepted
    ward.publish(10)
    ward.run(1)
    assert ward.ledger.events == 20
    ward.check()


def test_a_refused_receiver_is_told_why() -> None:
    ward = Ward(receivers_per_client_max=1)
    ward.nurse.application.receivers.append(Receiver("warmth"))
    ward.nurse.application.subscribe(ward.nurse.application.receivers[-1])
    ward.run(1)
    assert ward.nurse.application.told
    assert not ward.nurse.application.receivers[-1].accepted
