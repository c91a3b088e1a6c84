from __future__ import annotations

import pytest

from heliograph.event.errors import UsageError
from heliograph.sim.network import CONNECT_TIMEOUT
from heliograph.sim.quality import FAST, QUALITIES
from heliograph.sim.story import MILLISECOND, SECOND
from sim.toys import Pair, ToyHost, lines


def test_a_link_comes_about_after_a_round_trip() -> None:
    pair = Pair(QUALITIES["far"], connect=False)
    pair.connect()
    pair.world.run(2 * QUALITIES["far"].latency - MILLISECOND)
    assert pair.left.toy.links == []
    pair.world.run(15 * MILLISECOND)
    assert (pair.left.toy.links, pair.right.toy.links) == ([1], [1])
    assert len(pair.network.between("left", "right")) == 1


def test_a_host_where_nobody_listens_refuses_at_once() -> None:
    pair = Pair(connect=False)
    pair.right.crash()
    pair.connect()
    pair.world.run(10 * MILLISECOND)
    assert pair.left.refusals == ["nobody listens"]


def test_a_host_without_power_and_a_cut_cable_do_not_answer() -> None:
    pair = Pair(connect=False)
    pair.right.crash(power=True)
    pair.connect()
    pair.world.run(CONNECT_TIMEOUT - MILLISECOND)
    assert pair.left.refusals == []
    pair.cable.cut[:] = [True, True]
    pair.connect()
    pair.world.run(CONNECT_TIMEOUT + SECOND)
    assert pair.left.refusals == ["no answer", "no answer"]


def test_a_host_that_stands_still_is_connected_to_by_its_kernel() -> None:
    pair = Pair(connect=False)
    pair.right.freeze()
    pair.connect()
    pair.left.send(10)
    pair.world.run(SECOND)
    assert (pair.left.toy.links, pair.right.toy.links) == ([1], [])
    pair.right.thaw()
    pair.world.run(SECOND)
    assert pair.heard(pair.right) == lines(10)


def test_links_that_are_over_are_forgotten() -> None:
    pair = Pair()
    for _ in range(5):
        pair.left.close(pair.left.toy.links[0])
        pair.world.run(SECOND)
        pair.connect()
        pair.world.run(SECOND)
    assert len(pair.network.links) == 1


def test_a_name_is_given_once_and_cables_are_laid_as_needed() -> None:
    pair = Pair()
    with pytest.raises(UsageError, match="already"):
        ToyHost(pair.network, "left")
    assert pair.network.cable("left", "nobody").quality == FAST
