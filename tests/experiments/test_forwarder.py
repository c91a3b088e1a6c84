"""Plain forwarding serves the clients that ship, with and without sessions."""

from __future__ import annotations

import pytest

from heliograph.experiments.forwarder import Forwarder
from heliograph.experiments.rig import Caller, Rig
from heliograph.sim.story import SECOND
from heliograph.wire.core import Close
from heliograph.wire.frames import CONTROL, GREETING, message_frame
from heliograph.wire.messages import Attach, Depart, encode_message
from heliograph.wire.reader import Cursor, Reader


@pytest.mark.parametrize("bare", [False, True])
def test_every_receiver_gets_every_event(bare: bool) -> None:  # noqa: FBT001 - a case
    rig = Rig(1, None)
    rig.host.core = Forwarder(bare=bare)
    clients = [Caller(rig.network, f"receiver-{number}") for number in range(3)]
    for one in clients:
        one.start()
    rig.world.run(SECOND)
    early = [one.subscribe(None) for one in clients[:2]]
    rig.world.run(SECOND)
    rig.publish()
    rig.world.run(SECOND)
    late = clients[2].subscribe(None)
    rig.world.run(SECOND)
    rig.publishing = False
    rig.world.run(SECOND)
    count = len(rig.published)
    for inbox in early:
        assert [number for _, _, number in inbox.events] == list(range(1, count + 1))
    assert [number for _, _, number in late.events][-1] == count
    assert late.missing() == 0
    assert rig.sender.core is not None
    assert not rig.sender.core.session.unacked, "the sender knows that all was received"


def test_no_planet_is_looked_for_where_there_is_none() -> None:
    with pytest.raises(TypeError, match="no planet"):
        _ = Rig(1, None).planet


def test_who_departs_is_let_go() -> None:
    one = Forwarder()
    one.connected(1, 0)
    one.feed(1, message_frame(GREETING, encode_message(Attach(1, [], None, 0))), 0)
    assert one.take_ready() == [1]
    assert one.pull(1, 10_000, 0)
    one.feed(1, message_frame(CONTROL, encode_message(Depart())), 0)
    assert one.take_effects() == [Close(1, "departed")]
    assert one.deadline() is not None
    one.disconnected(1, 0)
    assert one.deadline() is None


def test_a_cursor_that_is_due_is_sent() -> None:
    one = Forwarder()
    one.connected(1, 0)
    one.feed(1, message_frame(GREETING, encode_message(Attach(1, [], None, 0))), 0)
    one.pull(1, 10_000, 0)
    one.take_ready()
    one.feed(1, message_frame(CONTROL, encode_message(Depart())), 0)
    one.take_ready()
    due = one.deadline()
    assert due is not None
    one.tick(due)
    assert one.take_ready() == [1]
    (cursor,) = Reader(1_024).feed(one.pull(1, 10_000, due))
    assert isinstance(cursor, Cursor)
    assert cursor.frames == 1
