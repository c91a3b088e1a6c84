from __future__ import annotations

import pytest

from heliograph.event.digest import Digest
from heliograph.experiments.load import EVENT_BYTES, HEAD_BYTES, THIN_RATE
from heliograph.experiments.rig import Framed, Inbox, Rig, wire_bytes
from heliograph.planet.config import PlanetConfig
from heliograph.sim.quality import FAST
from heliograph.sim.story import MILLISECOND, SECOND


def rig() -> Rig:
    return Rig(1, PlanetConfig(name="sol"))


def test_a_framed_cable_charges_for_heads() -> None:
    cable = Framed(MILLISECOND, THIN_RATE, THIN_RATE)
    assert cable.head == HEAD_BYTES
    assert cable.duration(0, 1_000) == (1_000 + HEAD_BYTES) * 8 * SECOND // THIN_RATE


def test_what_is_published_arrives() -> None:
    one = rig()
    receiver = one.client("receiver", FAST)
    one.world.run(SECOND)
    inbox = receiver.subscribe(None)
    one.world.run(SECOND)
    one.publish()
    one.world.run(3 * SECOND)
    one.publishing = False
    one.world.run(SECOND)
    assert len(one.published) == 101
    assert [number for _, _, number in inbox.events] == list(range(1, 102))
    assert [sent for _, sent, _ in inbox.events] == one.published
    assert inbox.missing() == 0


def test_requests_are_answered() -> None:
    one = rig()
    receiver = one.client("receiver", FAST)
    one.world.run(SECOND)
    receiver.subscribe(None)
    one.world.run(SECOND)
    assert list(receiver.told.values()) == [pytest.approx(SECOND, abs=20 * MILLISECOND)]


def test_a_client_that_has_not_started_subscribes_to_nothing() -> None:
    with pytest.raises(RuntimeError, match="not started"):
        rig().sender.__class__(rig().network, "other").subscribe(None)


def test_an_inbox_counts_what_is_missing() -> None:
    inbox = Inbox([(0, 0, 1), (0, 0, 4)], [(5, Digest("load", 1, 1, 3, 2))])
    assert inbox.missing() == 0
    inbox.events.append((0, 0, 6))
    assert inbox.missing() == 1
    assert inbox.weights() == [(5, wire_bytes(inbox.digests[0][1]))]
    inbox.events.append((0, 0, 6))
    with pytest.raises(ValueError, match="twice"):
        inbox.missing()


def test_a_digest_is_a_few_tens_of_bytes() -> None:
    assert 10 < wire_bytes(Digest("load", 1, 1, 3, 2)) < 60 < EVENT_BYTES
