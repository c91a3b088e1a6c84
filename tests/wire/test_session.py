"""A session survives its connections: nothing is lost, doubled or reordered, and all is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.errors import WireError
from heliograph.wire.frames import WANT_FRAME
from heliograph.wire.messages import Bye, Grow, Withdraw
from heliograph.wire.session import CONTROL_BYTES_MAX, CURSOR_DELAY, Session
from heliograph.wire.window import WINDOW_BEGIN
from strategies import PROPERTY
from wire.sides import LARGE, Pair, Side, event_frame, read
from wire.streams import FRAME_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Callable

FRAME: Final = len(event_frame(1))


def nothing(size: int) -> None:
    del size


def open_session(window_bytes: int = LARGE) -> Session:
    session = Session(window_bytes, FRAME_BYTES_MAX)
    session.connect(1, 0)
    session.resume(0)
    return session


def traffic(pair: Pair) -> None:
    for side in pair.sides:
        side.publish(3)
        side.say(2)


def test_a_connection_may_be_cut_behind_every_byte() -> None:
    whole = Pair()
    traffic(whole)
    sizes = [len(side.pull(LARGE, 0)) for side in whole.sides]
    for place, size in enumerate(sizes):
        for cut in range(size + 1):
            pair = Pair()
            traffic(pair)
            side = pair.sides[place]
            side.pull(LARGE, 0)
            pair.move(side, cut)
            pair.cut()
            pair.settle()
            assert len(side.sent) == 5
            pair.check()


def test_greetings_may_be_cut_behind_every_byte() -> None:
    for cut in range(200):
        pair = Pair()
        traffic(pair)
        for side in pair.sides:
            side.pull(LARGE, 0)
        pair.cut()
        pair.connect()
        left = cut
        for side in (pair.client, pair.planet, pair.client):
            side.pull(LARGE, 0)
            size = min(left, len(side.pipe))
            pair.move(side, size)
            left -= size
        pair.cut()
        pair.settle()
        pair.check()


def test_what_was_not_received_is_sent_again_byte_for_byte() -> None:
    for received in range(6):
        pair = Pair()
        traffic(pair)
        first = pair.client.pull(LARGE, 0)
        frames = list(pair.client.sent)
        assert first == b"".join(frames)
        pair.move(pair.client, len(b"".join(frames[:received])))
        pair.cut()
        session = pair.client.session
        session.connect(9, 0)
        session.resume(received)
        assert pair.client.pull(LARGE, 0) == b"".join(frames[received:])


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[str, int, int]]:
    """Draw what happens to two sides: the name, the side, how much."""
    kinds = ["pull", "pull", "move", "move", "move", "publish", "say", "wait", "connect", "cut"]
    one = st.tuples(st.sampled_from(kinds), st.integers(0, 1), st.integers(0, 150))
    return draw(st.lists(one, max_size=120))


def step(pair: Pair, kind: str, side: Side, amount: int) -> None:
    if kind == "publish":
        side.publish(amount % 5)
    elif kind == "say":
        side.say(amount % 3)
    elif kind == "wait":
        pair.now += amount * CURSOR_DELAY // 100
    elif not pair.connected:
        if kind == "connect":
            pair.connect()
    elif kind == "cut":
        pair.cut()
    elif kind == "pull":
        side.pull(amount, pair.now)
    elif kind == "move":
        pair.move(side, amount)


@PROPERTY
@given(steps(), st.sampled_from([60, 300, LARGE]))
def test_whatever_happens_each_frame_arrives_once_and_in_order(
    script: list[tuple[str, int, int]], window: int
) -> None:
    pair = Pair(window, connected=False)
    for kind, place, amount in script:
        step(pair, kind, pair.sides[place], amount)
        for side in pair.sides:
            got = pair.other(side).got
            assert got == read(side.sent)[: len(got)]
            assert side.session.window.under_way < window + FRAME
            assert side.session.acked <= pair.other(side).session.reader.frames
    pair.settle()
    pair.check()


def test_before_both_have_greeted_nothing_is_said() -> None:
    pair = Pair(connected=False)
    traffic(pair)
    pair.connect()
    pair.client.pull(LARGE, 0)
    pair.planet.pull(LARGE, 0)
    assert pair.client.sent == pair.planet.sent == []
    pair.settle()
    assert len(pair.client.sent) == len(pair.planet.sent) == 5


def test_a_greeting_belongs_to_its_connection_alone() -> None:
    session = Session(LARGE, FRAME_BYTES_MAX)
    session.connect(1, 0)
    session.greet(Bye("a", "b"))
    assert session.waiting
    session.disconnect()
    session.connect(2, 0)
    assert not session.waiting
    assert session.pull(LARGE, 0, nothing) == b""


def test_nothing_new_overtakes_what_is_sent_again() -> None:
    pair = Pair()
    traffic(pair)
    pair.client.pull(LARGE, 0)
    pair.cut()
    pair.connect()
    pair.client.session.resume(0)
    first = pair.client.session.pull(1, 0, nothing)  # The greeting is beyond all counting.
    assert first.endswith(pair.client.sent[0])
    pair.client.say()
    pair.client.publish()
    for place in (1, 2, 3):
        assert pair.client.pull(1, 0) == pair.client.sent[place]
        assert pair.client.session.waiting
    assert len(pair.client.sent) == 5
    last = pair.client.pull(LARGE, 0)
    assert last == b"".join(pair.client.sent[4:])
    assert read([last])[1:] == [Withdraw(3), *read([event_frame(4)])]


@pytest.mark.parametrize("frames", [-1, 1, 4, 6, 2**63])
@pytest.mark.parametrize("way", [Session.resume, lambda one, frames: one.passed(frames, 0)])
def test_no_cursor_passes_what_was_never_sent_or_goes_back(
    way: Callable[[Session, int], None], frames: int
) -> None:
    side = Side(LARGE)
    side.session = open_session()
    side.publish(5)
    side.pull(LARGE, 0)
    side.session.passed(2, 0)
    if frames == 4:
        way(side.session, frames)
        assert side.session.acked == 4
        return
    with pytest.raises(WireError, match="between 2 and 5"):
        way(side.session, frames)
    assert (side.session.acked, len(side.session.unacked)) == (2, 3)
    assert side.session.window.under_way == 3 * FRAME


def test_messages_have_a_bound_that_cursors_free() -> None:
    session = open_session()
    large = Grow(1, bytes(CONTROL_BYTES_MAX // 8))
    for _ in range(7):
        session.say(large)
    with pytest.raises(WireError, match="none are taken"):
        session.say(large)
    before = session.control_bytes
    assert before <= CONTROL_BYTES_MAX
    session.pull(LARGE, 0, nothing)
    assert session.control_bytes == before  # They are under way, and may have to be sent again.
    with pytest.raises(WireError):
        session.say(large)
    session.passed(1, 0)
    session.say(large)
    assert session.control_bytes == before


def test_a_message_takes_the_place_of_one_that_was_not_sent_yet() -> None:
    session = open_session()
    for size in (9, 5, 7):
        session.say(Grow(1, bytes(size)), ("grow", 1))
        session.say(Withdraw(size))
    assert read([data := session.pull(LARGE, 0, nothing)]) == [
        Grow(1, bytes(7)), Withdraw(9), Withdraw(5), Withdraw(7),
    ]  # fmt: skip
    assert session.control_bytes == len(data)
    session.say(Grow(1, b""), ("grow", 1))
    assert read([session.pull(LARGE, 0, nothing)]) == [Grow(1, b"")]
    session.passed(5, 0)
    assert session.control_bytes == 0


def test_a_message_waits_for_no_window_and_for_no_room() -> None:
    side = Side(60)
    side.session = open_session(60)
    side.publish(9)
    side.pull(LARGE, 0)
    assert side.session.window.room() <= 0
    side.say()
    assert read([side.pull(1, 0)]) == [Withdraw(1)]


def test_no_more_data_is_under_way_than_the_window_lets_through() -> None:
    side = Side(LARGE)
    side.session = open_session()
    side.publish(1_000)
    data = side.pull(LARGE, 0)
    sent = len(side.sent)
    assert WINDOW_BEGIN <= sent * FRAME < WINDOW_BEGIN + FRAME
    assert data == b"".join(side.sent) + WANT_FRAME  # All is used up: it asks for a cursor.
    assert side.pull(LARGE, 0) == b""
    assert len(side.waiting) == 1_000 - sent
    side.session.passed(sent, 1)
    assert side.pull(LARGE, 1)


def test_a_new_connection_is_open_however_much_the_old_one_had_under_way() -> None:
    side = Side(LARGE)
    side.session = open_session()
    side.publish(300)
    side.pull(LARGE, 0)
    sent = len(side.sent)
    side.session.disconnect()
    side.session.connect(2, 0)
    side.session.resume(sent)
    assert side.session.window.under_way == 0
    side.pull(LARGE, 0)
    assert side.sent[sent:]


def test_in_a_hurry_all_is_sent_that_the_link_takes() -> None:
    side = Side(60)
    side.session = open_session(60)
    side.session.hurry = True
    side.publish(1_000)
    side.pull(10 * FRAME, 0)
    assert len(side.sent) == 10
    side.pull(LARGE, 0)
    assert len(side.sent) == 1_000


def test_a_frame_may_be_as_long_as_what_is_left_and_a_quarter_of_the_window() -> None:
    side = Side(LARGE)
    side.session = open_session()
    side.publish(1)
    side.pull(500, 0)
    assert side.asked == [500, 500 - FRAME]
    side.asked.clear()
    side.publish(1)
    side.pull(LARGE, 0)
    assert side.asked == [WINDOW_BEGIN // 4] * 2
