"""Frames are made once for all links, and no more of them are kept than a bound."""

from __future__ import annotations

import pytest

from heliograph.event.block import block_of
from heliograph.event.schema import Schema
from heliograph.lane.entry import Entry
from heliograph.planet import frames as module
from heliograph.planet.frames import Frames
from heliograph.wire.forms import entry_frame
from planet.pair import Rig
from planet.policies import EVERY

SCHEMA = Schema.declare({"t": "string"})


def entry(number: int, size: int = 100) -> Entry:
    return Entry(block_of("s", 1, [number], [0], [["x" * size]], SCHEMA))


def test_links_share_one_frame() -> None:
    frames, one = Frames(), entry(1)
    first = frames.shared(one, 3, 0)
    assert frames.shared(one, 3, 0) is first
    assert first == entry_frame(entry(1), 3, 0)
    assert frames.bytes == len(first)


@pytest.mark.parametrize(("bytes_max", "entries_max"), [(1_000, 10**6), (10**9, 7)])
def test_only_the_last_ones_are_kept_and_others_are_made_again(
    bytes_max: int, entries_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BYTES_MAX", bytes_max)
    monkeypatch.setattr(module, "ENTRIES_MAX", entries_max)
    frames, many = Frames(), [entry(number) for number in range(1, 50)]
    made = [frames.shared(one, 3, 0) for one in many]
    kept = [one for one in many if one.frame]
    assert kept == many[-len(kept) :]
    assert sum(len(one.frame) for one in kept) == frames.bytes <= bytes_max
    assert 5 <= len(kept) <= 8
    assert [frames.shared(one, 3, 0) for one in many] == made


def test_a_lane_that_nobody_drains_holds_no_frames_beside_its_blocks() -> None:
    rig = Rig()
    ada, ben, deaf = rig.client("ada"), rig.client("ben"), rig.client("deaf")
    sender = rig.advertise(ada, "s")
    rig.subscribe(ben, "s")
    rig.subscribe(deaf, "s", EVERY)
    rig.link(deaf).client.reads = False
    for _ in range(100):
        rig.publish(ada, sender, 100, t="x" * 300)
    lanes = rig.planet.multicast.streams["s"].lanes
    held = {id(one): one for lane, _, _ in lanes for one in lane.entries}
    bodies = sum(one.size for one in held.values())
    assert bodies > 2_000_000
    assert sum(len(one.frame) for one in held.values()) <= module.BYTES_MAX
