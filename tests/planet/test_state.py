from __future__ import annotations

from collections import Counter

from heliograph.event.block import block_of
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.lane.entry import Entry
from heliograph.lane.lane import Lane
from heliograph.planet.config import PlanetConfig
from heliograph.planet.frames import Frames
from heliograph.planet.state import ClientState, Name, Stream, Totals
from heliograph.policy.limits import Limits
from heliograph.policy.model import Policy
from heliograph.wire.frames import BLOCK_HEAD
from heliograph.wire.reader import BlockFrame, Reader, Run, To

PULSE = Schema.declare({"n": "int64"})


def stream_and_client(lanes: int) -> tuple[Stream, ClientState]:
    client, stream = ClientState(1, bytes(16), "x", PlanetConfig(), Frames()), Stream("s")
    stream.names[1] = Name(9, 0, PULSE)
    client.streams["s"] = stream
    group = client.outlet.group("s")
    for bit in range(lanes):
        group.lanes[bit] = Lane(Policy(), PULSE, Limits(100), begin=Position(1, 0))
    return stream, client


def give(client: ClientState, first: int, count: int, bits: tuple[int, ...]) -> None:
    numbers = range(first, first + count)
    block = block_of("s", 1, numbers, list(numbers), [[one] for one in numbers], PULSE)
    entry = Entry(block)
    group = client.outlet.group("s")
    for bit in bits:
        group.lanes[bit].offer(entry, 0)
    client.outlet.wake(group)


def frames(client: ClientState, size: int = 10_000) -> list[object]:
    reader = Reader(2**20)
    found: list[object] = []
    while (frame := client.next_frame(size)) is not None:
        found += reader.feed(frame)
    return found


def test_a_stream_that_nobody_offers_stands_at_no_position() -> None:
    stream = Stream("s")
    assert stream.position == Position(0, 0)
    assert stream.owner is None


def test_a_block_at_the_head_of_several_lanes_is_sent_once_to_all_of_them() -> None:
    _, client = stream_and_client(3)
    give(client, 1, 4, (0, 1, 2))
    give(client, 5, 4, (0, 2))
    one, first, other, second = frames(client)
    assert (one, other) == (To(9, 0b111), To(9, 0b101))
    assert isinstance(first, BlockFrame)
    assert isinstance(second, BlockFrame)
    assert (first.first, second.first) == (1, 5)
    assert all(not lane.entries for lane in client.outlet.group("s").lanes.values())


def test_whom_frames_are_for_is_said_only_when_it_changes() -> None:
    _, client = stream_and_client(1)
    for number in range(1, 6):
        give(client, number, 1, (0,))
    kinds = Counter(type(one) for one in frames(client))
    assert kinds[To] == 1
    assert kinds[Run] + kinds[BlockFrame] == 5


def test_a_block_that_is_longer_than_a_frame_is_cut() -> None:
    _, client = stream_and_client(2)
    give(client, 1, 90, (0, 1))
    blocks = [one for one in frames(client, 200) if isinstance(one, BlockFrame)]
    assert len(blocks) >= 3
    assert sum(one.count for one in blocks) == 90
    assert max(BLOCK_HEAD.size + len(one.presence) + len(one.body) for one in blocks) <= 220


def test_totals_keep_what_a_lane_counted() -> None:
    _, client = stream_and_client(1)
    lane = client.outlet.group("s").lanes[0]
    give(client, 1, 5, (0,))
    lane.take()
    lane.dropped["worst"] += 3
    totals = Totals()
    totals.keep(lane)
    totals.keep(lane)
    assert (totals.taken, totals.dropped) == (10, Counter(worst=6))
