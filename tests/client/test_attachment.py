"""A client comes to a planet, stays there, and comes back, by its token and its cursor."""

from __future__ import annotations

import pytest

from client.played import SECOND, Played, event, opened
from heliograph.wire.core import Answered
from heliograph.wire.frames import CURSOR, HEARTBEAT_FRAME, WORD, cursor_frame, word
from heliograph.wire.messages import ANEW, FEATURES, VERSION, Ask, Attach, Detach, Done


def test_a_client_greets_with_its_version_and_without_a_token() -> None:
    one = Played(attached=False, name="ada")
    assert one.tries == ["p"]
    assert not one.client.attached
    one.connect()
    assert one.heard == [Attach(VERSION, list(FEATURES), None, 0, "ada")]
    one.greet()
    assert one.client.attached
    assert one.client.gaps == 0
    assert one.client.deadline() == SECOND


def test_it_comes_back_by_its_token_and_the_frames_that_it_received() -> None:
    one = Played()
    one.say(Done(7), Done(8), Done(9))
    one.again()
    assert (one.attach.token, one.attach.frames) == (b"t" * 16, 3)
    assert one.client.attached
    assert one.client.gaps == 0
    assert one.tries == ["p", "p"]


def test_what_the_planet_did_not_receive_is_said_again_and_nothing_else() -> None:
    one = Played()
    for _ in range(3):
        one.client.ask_status(one.now)
    one.hear()
    one.reader.frames = 1
    one.again()
    assert [ask.request for ask in one.items(Ask)] == [1, 2, 3, 2, 3]


def test_what_is_said_while_no_connection_stands_is_said_with_the_next() -> None:
    one = Played()
    one.cut()
    one.client.ask_status(one.now)
    assert one.client.pull(one.link, 1_000, one.now) == b""
    one.client.attach(one.now)
    one.wait(1)
    one.connect()
    assert one.items(Ask) == []
    one.greet(resumed=True)
    assert len(one.items(Ask)) == 1


def test_a_planet_that_forgot_the_session_makes_a_gap_and_a_line() -> None:
    one = Played()
    request = one.client.ask_status(one.now)
    one.again(resumed=False)
    assert one.client.gaps == 1
    assert one.logs == ["session_lost"]
    (answer,) = one.took(Answered)
    assert (answer.request, answer.error) == (
        request, "the planet lost this session: ask again",
    )  # fmt: skip


@pytest.mark.parametrize("frames", [5, -1])
def test_a_planet_that_received_what_was_never_sent_is_asked_to_forget_the_session(
    frames: int,
) -> None:
    one = Played()
    one.client.ask_status(one.now)
    one.hear()
    one.again(frames=frames)
    assert not one.client.attached
    assert "planet_refused" in one.logs
    assert len(one.closed) == 1
    one.wait(1)
    one.connect()
    assert (one.attach.token, one.attach.frames) == (b"t" * 16, ANEW)
    one.greet()
    assert one.client.attached
    assert one.client.gaps == 1
    one.again()
    assert one.attach.frames == 0


@pytest.mark.parametrize("version", [0, VERSION + 1, -1])
def test_a_planet_that_answers_in_a_version_that_is_not_known_is_left(version: int) -> None:
    one = Played(attached=False)
    one.connect()
    one.greet(version=version)
    assert not one.client.attached
    assert "version" in one.closed[0]


@pytest.mark.parametrize("data", [b"\xff" * 8, cursor_frame(1, 1), event(1), b"\x00" * 4])
def test_who_breaks_the_protocol_is_left_and_met_anew(data: bytes) -> None:
    one = Played()
    one.send(data)
    assert not one.client.attached
    assert len(one.closed) == 1
    one.wait(1)
    assert one.tries == ["p", "p"]
    one.connect()
    assert one.attach.frames == ANEW


def test_nothing_counts_before_a_planet_has_greeted() -> None:
    one = Played(attached=False)
    one.connect()
    one.say(Done(1))
    assert one.closed == ["the planet says something before it has greeted"]


def test_a_silent_planet_is_left_after_three_heartbeats() -> None:
    one = Played()
    one.wait(2.9)
    assert one.client.attached
    one.wait(0.2)
    assert not one.client.attached
    assert one.closed == ["the planet fell silent"]
    one.wait(1)
    assert one.tries == ["p", "p"]


def test_any_byte_is_a_sign_of_life() -> None:
    one = Played()
    one.send(WORD.pack(word(CURSOR, 20)))
    for _ in range(9):
        one.wait(2.5)
        one.send(b"\x00")
    assert one.client.attached


def test_a_client_that_has_nothing_to_say_shows_life_once_a_heartbeat() -> None:
    one = Played()
    size = one.client.session.sent_bytes
    for _ in range(20):
        one.wait(0.5)
        one.send(HEARTBEAT_FRAME)
    assert one.client.attached
    assert one.client.session.sent_bytes - size == 10 * len(HEARTBEAT_FRAME)


def test_a_planet_that_does_not_answer_is_given_up() -> None:
    one = Played(attached=False, attach_seconds=4.0)
    one.connect()
    one.wait(3.9)
    assert one.closed == []
    one.wait(0.2)
    assert one.closed == ["the planet fell silent"]


def test_a_connection_that_cannot_be_made_is_tried_again_at_the_next_address() -> None:
    one = Played("p, q", attached=False)
    for _ in range(3):
        one.client.refused(one.now)
        one.wait(5)
    assert one.tries == ["p", "q", "p", "q"]


def test_who_was_attached_comes_back_soon_however_long_it_had_tried() -> None:
    one = Played(attached=False)
    for _ in range(9):
        one.client.refused(one.now)
        one.wait(5)
    one.connect()
    one.greet()
    one.cut()
    due = one.client.deadline()
    assert due is not None
    assert due - one.now <= 0.1 * SECOND


def test_a_detached_client_does_not_come_back_until_it_wants_to() -> None:
    one = Played()
    one.client.detach(one.now)
    one.hear()
    assert one.heard[-1] == Detach()
    one.cut()
    assert one.client.deadline() is None
    one.wait(100)
    assert one.tries == ["p"]
    one.client.attach(one.now)
    assert one.tries == ["p", "p"]
    one.connect()
    assert one.attach.token == b"t" * 16


def test_who_detaches_while_it_greets_hangs_up() -> None:
    one = Played(attached=False)
    one.connect()
    one.client.detach(one.now)
    assert one.closed == ["detached"]
    assert one.client.deadline() is None


def test_a_connection_that_comes_too_late_is_closed() -> None:
    one = Played(attached=False)
    one.client.detach(one.now)
    one.connect()
    assert one.closed == ["not wanted any more"]
    assert one.heard == []
    one.client.attach(one.now)
    assert one.tries == ["p", "p"]


def test_who_wants_to_be_attached_twice_makes_one_try() -> None:
    one = Played(attached=False)
    one.client.attach(one.now)
    one.client.attach(one.now)
    assert one.tries == ["p"]
    one.connect()
    one.client.attach(one.now)
    one.greet()
    one.client.attach(one.now)
    assert one.tries == ["p"]


def test_a_goodbye_for_a_while_is_followed_by_a_new_try() -> None:
    one = Played()
    one.bye(again=True)
    assert one.closed == ["the reason"]
    assert one.logs == ["planet_said_bye"]
    one.wait(1)
    assert one.tries == ["p", "p"]
    one.connect()
    assert one.attach.token == b"t" * 16


def test_what_stands_behind_a_goodbye_is_for_nobody() -> None:
    one = Played()
    receiver = one.subscribe()
    one.bye(again=True, behind=event(1))
    assert one.client.take(receiver, 9, one.now) == []
    assert one.logs == ["planet_said_bye"]


def test_a_goodbye_for_good_ends_everything_that_waits() -> None:
    one = Played()
    receiver = one.subscribe()
    sender = one.advertise("t", alias=2)
    request = one.client.ask_status(one.now)
    one.bye(again=False)
    one.wait(100)
    assert one.tries == ["p"]
    assert one.client.ended == "the reason"
    assert one.client.receivers[receiver].error == "the reason"
    assert one.client.senders[sender].error == "the reason"
    assert Answered(request, "the reason") in one.took(Answered)
    one.client.attach(one.now)
    one.connect()
    assert one.attach.token is None


def test_an_old_connection_is_not_listened_to() -> None:
    one = Played()
    one.again()
    one.client.feed(1, b"\xff" * 9, one.now)
    one.client.disconnected(1, one.now)
    assert one.client.pull(1, 1_000, one.now) == b""
    assert one.client.attached


def test_its_link_is_ready_once_until_it_is_pulled() -> None:
    one = Played()
    one.client.take_ready()
    one.client.ask_status(one.now)
    one.client.ask_status(one.now)
    assert one.client.take_ready() == [one.link]
    assert one.client.take_ready() == []
    assert one.client.pull(one.link, 1_000, one.now)
    one.client.ask_status(one.now)
    assert one.client.take_ready() == [one.link]


def test_what_was_received_is_acknowledged_in_time() -> None:
    one = Played()
    receiver = one.subscribe()
    for number in range(1, 4):
        one.send(event(number))
    one.wait(0.05)
    assert one.heard[-1].frames == 5
    one.say(opened(receiver, 3))
    one.wait(0.05)
    assert one.heard[-1].frames == 6
