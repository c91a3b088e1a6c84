"""What a session acknowledges and when, how it shows life, and how it begins anew."""

from __future__ import annotations

from typing import Final

import pytest

from heliograph.event.errors import WireError
from heliograph.wire.frames import CONTROL, HEARTBEAT_FRAME, WANT_FRAME, cursor_frame, message_frame
from heliograph.wire.messages import Detach, Withdraw, encode_message
from heliograph.wire.session import CURSOR_BYTES, CURSOR_DELAY, Session
from wire.sides import LARGE, Pair, event_frame
from wire.streams import FRAME_BYTES_MAX

FRAME: Final = len(event_frame(1))


def nothing(size: int) -> None:
    del size


def open_session(window_bytes: int = LARGE) -> Session:
    session = Session(window_bytes, FRAME_BYTES_MAX)
    session.connect(1, 0)
    session.resume(0)
    return session


def received(session: Session, size: int, now: int, *, first: int = 1) -> int:
    """Let a session receive at least so many bytes of events, and return how many events."""
    count = -(-size // FRAME)
    frames = [event_frame(number) for number in range(first, first + count)]
    session.feed(b"".join(frames), now)
    return count


def test_little_is_acknowledged_after_a_delay() -> None:
    session = open_session()
    received(session, 1, now=100)
    assert session.cursor_at == 100 + CURSOR_DELAY
    assert not session.cursor_urgent
    received(session, 1, now=200, first=2)
    assert session.cursor_at == 100 + CURSOR_DELAY
    assert session.pull(LARGE, 99 + CURSOR_DELAY, nothing) == b""
    told = session.pull(LARGE, 100 + CURSOR_DELAY, nothing)
    assert told == cursor_frame(2, 2 * FRAME)
    assert session.cursor_at is None
    assert session.pull(LARGE, 10 * CURSOR_DELAY, nothing) == b""


def test_much_is_acknowledged_at_once() -> None:
    session = open_session()
    count = received(session, CURSOR_BYTES, now=100)
    assert session.cursor_urgent
    assert session.pull(LARGE, 100, nothing) == cursor_frame(count, count * FRAME)
    assert not session.cursor_urgent


def test_whoever_wants_a_cursor_gets_it_at_once() -> None:
    session = open_session()
    session.feed(WANT_FRAME, 0)
    assert session.pull(LARGE, 0, nothing) == b""  # There is nothing to tell.
    session.feed(event_frame(1) + WANT_FRAME, 0)
    assert session.cursor_urgent
    assert session.pull(LARGE, 0, nothing) == cursor_frame(1, FRAME)
    received(session, 1, now=0, first=2)
    assert not session.cursor_urgent


def test_a_cursor_counts_the_bytes_of_its_connection_and_the_frames_of_its_session() -> None:
    session = open_session()
    received(session, CURSOR_BYTES, now=0)
    session.disconnect()
    session.connect(2, 50)
    session.resume(0)
    assert not session.cursor_urgent  # Resuming has told all of it.
    assert session.pull(LARGE, CURSOR_DELAY, nothing) == b""
    before = session.reader.frames
    received(session, 1, now=100, first=before + 1)
    told = session.pull(LARGE, 100 + CURSOR_DELAY, nothing)
    assert told == cursor_frame(before + 1, FRAME)


def test_what_comes_behind_a_freeze_is_never_acknowledged() -> None:
    session = open_session()
    received(session, 1, now=0)
    session.freeze()
    received(session, 2 * CURSOR_BYTES, now=0, first=2)
    session.feed(WANT_FRAME, 0)
    assert session.pull(LARGE, CURSOR_DELAY, nothing) == cursor_frame(1, FRAME)
    assert session.cursor_at is None
    assert not session.waiting


def test_a_freeze_does_not_outlive_its_connection() -> None:
    session = open_session()
    session.freeze()
    session.disconnect()
    session.connect(2, 0)
    session.resume(0)
    received(session, 1, now=0)
    assert session.pull(LARGE, CURSOR_DELAY, nothing) == cursor_frame(1, FRAME)


def test_a_sign_of_life_is_sent_where_nothing_else_is() -> None:
    session = open_session()
    session.beat()
    assert session.waiting
    assert session.pull(LARGE, 5, nothing) == HEARTBEAT_FRAME
    assert session.spoke == 5
    assert not session.unacked  # Nobody counts it.
    session.say(Detach())
    session.beat()
    assert session.pull(LARGE, 6, nothing) == message_frame(CONTROL, encode_message(Detach()))
    assert session.pull(LARGE, 7, nothing) == b""
    assert session.spoke == 6


def test_any_byte_is_a_sign_of_life() -> None:
    session = open_session()
    assert session.feed(HEARTBEAT_FRAME[:1], 9) == []
    assert session.heard == 9
    assert session.reader.frames == 0


def test_all_bytes_are_counted_those_that_are_sent_again_too() -> None:
    pair = Pair()
    pair.client.publish(3)
    client, planet = pair.client.session, pair.planet.session
    before = client.sent_bytes
    size = len(pair.client.pull(LARGE, 0))
    assert client.sent_bytes == before + size
    pair.cut()
    pair.settle()
    assert client.sent_bytes > before + 2 * size
    assert planet.received_bytes == client.sent_bytes - size


def test_a_session_that_is_lost_returns_its_data_and_forgets_its_messages() -> None:
    pair = Pair()
    side, session = pair.client, pair.client.session
    side.publish(2)
    side.say()
    side.pull(LARGE, 0)
    side.say()
    assert session.lost(0) == [event_frame(1), event_frame(2)]
    assert (session.acked, session.control_bytes, session.window.under_way) == (0, 0, 0)
    session.resume(0)
    assert session.pull(LARGE, 0, nothing) == b""


def test_what_a_new_session_has_sent_counts_although_the_old_one_was_lost() -> None:
    session = open_session()
    told = received(session, 5 * FRAME, now=0)
    session.disconnect()
    session.connect(2, 0)
    # Behind its greeting a planet may say something in the same packet.
    received(session, 2 * FRAME, now=0)
    session.lost(told)
    session.resume(0)
    assert session.pull(LARGE, CURSOR_DELAY, nothing) == cursor_frame(2, 2 * FRAME)


def test_a_session_that_was_lost_counts_from_nothing() -> None:
    pair = Pair()
    pair.client.publish(3)
    pair.settle()
    session = pair.client.session
    session.lost(session.reader.frames)
    session.resume(0)
    session.say(Withdraw(1))
    session.pull(LARGE, 0, nothing)
    with pytest.raises(WireError, match="between 0 and 1"):
        session.passed(3, 0)
    session.passed(1, 0)
    assert not session.unacked
