"""Links are tried through hosts with toy cores: what one pulls, the other is fed."""

from __future__ import annotations

import pytest

from heliograph.sim.cable import DOWN, UP
from heliograph.sim.link import GIVE_UP
from heliograph.sim.quality import QUALITIES, quality
from heliograph.sim.story import MILLISECOND, SECOND
from sim.toys import LINE_BYTES, Pair, lines


@pytest.mark.parametrize("name", list(QUALITIES))
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_sent_arrives_whole_and_in_order(name: str, seed: int) -> None:
    pair = Pair(QUALITIES[name], seed)
    pair.left.send(500)
    pair.right.send(300)
    pair.world.run(60 * SECOND)
    assert pair.heard(pair.right) == lines(500)
    assert pair.heard(pair.left) == lines(300)


def test_a_thin_link_carries_what_its_rate_says() -> None:
    pair = Pair(QUALITIES["thin"])
    pair.left.send(10_000)
    pair.world.run(10 * SECOND)
    carried = len(pair.heard(pair.right)) * 8 / 10
    assert 0.95 * 50_000 < carried <= 50_000


def test_the_core_is_not_asked_for_more_than_the_kernel_takes() -> None:
    pair = Pair(QUALITIES["thin"])
    pair.left.send(10_000)
    pair.world.run(SECOND)
    under_way = pair.left.toy.pulled_bytes - len(pair.heard(pair.right))
    thin = QUALITIES["thin"]
    assert under_way <= thin.buffer + thin.window(UP) + LINE_BYTES


def test_a_host_that_stands_still_stops_its_peer() -> None:
    pair = Pair(QUALITIES["mobile"])
    pair.right.freeze()
    pair.left.send(100_000)
    pair.world.run(60 * SECOND)
    mobile = QUALITIES["mobile"]
    assert pair.left.toy.pulled_bytes <= mobile.buffer + mobile.window(UP) + LINE_BYTES
    assert pair.heard(pair.right) == b""
    pair.right.thaw()
    pair.world.run(120 * SECOND)
    assert pair.heard(pair.right) == lines(100_000)


def test_a_lost_segment_delays_what_follows_and_nothing_else() -> None:
    pair = Pair(quality("lossy loss=0.3"))
    pair.left.send(200)
    pair.world.run(100 * MILLISECOND)
    assert len(pair.heard(pair.right)) < len(lines(200))
    pair.world.run(120 * SECOND)
    assert pair.heard(pair.right) == lines(200)


def test_a_cut_that_heals_loses_nothing() -> None:
    pair = Pair()
    pair.cable.cut[:] = [True, True]
    pair.left.send(200)
    pair.world.run(10 * SECOND)
    assert pair.heard(pair.right) == b""
    pair.cable.cut[:] = [False, False]
    pair.world.run(10 * SECOND)
    assert pair.heard(pair.right) == lines(200)


def test_a_long_cut_ends_the_link_for_who_sends_and_leaves_it_half_open() -> None:
    pair = Pair()
    pair.cable.cut[UP] = True
    pair.left.send(20)
    pair.world.run(GIVE_UP + 20 * SECOND)
    assert pair.left.toy.gone == [1]
    assert pair.right.toy.links == [1], "it sends nothing, so it cannot know"
    pair.right.send(1)
    pair.world.run(SECOND)
    assert pair.right.toy.links == [1], "the reset that answers it is lost on the cut cable"
    pair.cable.cut[UP] = False
    pair.right.send(1)
    pair.world.run(SECOND)
    assert pair.right.toy.gone == [1]


def test_a_severed_link_swallows_what_is_sent_until_its_sender_gives_up() -> None:
    pair = Pair()
    pair.network.links[0].severed = True
    pair.left.send(100)
    pair.world.run(10 * SECOND)
    assert (pair.left.toy.links, pair.right.toy.links) == ([1], [1])
    assert pair.heard(pair.right) == b""
    pair.world.run(GIVE_UP + 20 * SECOND)
    assert (pair.left.toy.links, pair.right.toy.links) == ([], [1])


def test_a_swallowing_link_takes_everything_and_delivers_nothing() -> None:
    pair = Pair()
    pair.network.links[0].swallowing = True
    pair.left.send(10_000)
    pair.world.run(60 * SECOND)
    assert pair.left.toy.sent == 10_000
    assert pair.heard(pair.right) == b""
    assert (pair.left.toy.links, pair.right.toy.links) == ([1], [1])


def test_a_link_that_is_closed_delivers_what_was_written() -> None:
    pair = Pair(QUALITIES["mobile"])
    pair.left.send(100)
    pair.left.close(1)
    pair.world.run(10 * SECOND)
    assert pair.heard(pair.right) == lines(100)
    assert pair.left.toy.gone == [1]
    assert pair.right.toy.gone == [1]


def test_a_link_whose_peer_takes_nothing_is_closed_all_the_same() -> None:
    pair = Pair(QUALITIES["mobile"])
    pair.right.freeze()
    pair.left.send(100_000)
    pair.left.close(1)
    pair.world.run(6 * SECOND)
    assert pair.left.toy.gone == [1]
    pair.right.thaw()
    pair.world.run(SECOND)
    assert pair.right.toy.gone == [1]


def test_a_link_that_is_reset_ends_at_both_ends_at_once() -> None:
    pair = Pair()
    pair.left.ends[1].finish("by a fault")
    pair.left.ends.get(1)
    pair.world.run(SECOND)
    assert pair.left.toy.gone == [1]
    pair.right.send(1)
    pair.world.run(SECOND)
    assert pair.right.toy.gone == [1]


def test_one_link_does_not_delay_another() -> None:
    slow, fast = Pair(quality("fast jitter=50ms"), 4), Pair(seed=4)
    for pair in (slow, fast):
        pair.left.send(1)
        pair.world.run(4 * MILLISECOND)
    assert fast.heard(fast.right) == lines(1)
    assert pair.cable.cut == [False, False]
    assert slow.network.links[0].ends[DOWN].direction == DOWN
