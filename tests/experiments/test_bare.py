from __future__ import annotations

from heliograph.experiments.bare import Bare
from heliograph.wire.frames import EVENT, EVENT_HEAD, WANT_FRAME, word
from heliograph.wire.messages import Attach, Detach
from heliograph.wire.reader import Cursor, Reader


def event(number: int) -> bytes:
    row = b"row"
    return EVENT_HEAD.pack(word(EVENT, EVENT_HEAD.size + len(row)), 1, number) + row


def test_events_come_out_as_they_came_in_however_they_are_cut() -> None:
    one, data = Bare(), event(1) + event(2)
    found = [frame for at in range(len(data)) for frame in one.hear(data[at : at + 1], 0)[0]]
    assert found == [event(1), event(2)]


def test_what_came_is_acknowledged_a_moment_later_or_at_once_where_that_is_wanted() -> None:
    one = Bare()
    one.hear(event(1), 1_000)
    assert one.cursor_at is not None
    assert one.draw(1_000, 1_001) == b""
    assert Reader(1_000).feed(one.draw(1_000, one.cursor_at)) == [Cursor(1, len(event(1)))]
    one.hear(event(2) + WANT_FRAME, 0)
    assert Reader(1_000).feed(one.draw(1_000, 0)) == [Cursor(2, 2 * len(event(1)))]


def test_messages_are_read_and_written() -> None:
    one, other = Bare(), Bare()
    one.connect(1, 0)
    one.resume(0)
    one.greet(Attach(1, [], None, 0))
    one.say(Detach())
    frames, messages = other.hear(one.draw(1_000, 0), 0)
    assert (frames, messages) == ([], [Attach(1, [], None, 0), Detach()])
