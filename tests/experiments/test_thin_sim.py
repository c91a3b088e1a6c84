"""The claims of PACK's Figure 8, each on a small queue over a simulated link."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.queues import SIZE, ran
from heliograph.experiments import thin_sim
from heliograph.experiments.load import STREAM, capacity
from heliograph.experiments.rig import PLANET, Rig
from heliograph.experiments.thin_link import QUEUES
from heliograph.experiments.transit import SECOND
from heliograph.planet.config import PlanetConfig

POLICIES = [one.name for one in QUEUES[1:]]


def test_a_bulk_transfer_gets_what_the_heads_of_its_packets_leave() -> None:
    share = 1_460 / (1_460 + 66)
    assert thin_sim.bulk(1, 20) == pytest.approx(share * 50_000, rel=0.02)


def test_drop_tail_loses_what_the_link_cannot_carry() -> None:
    found = ran("DropTail")
    assert 0.28 < found.loss < 0.32, "about 30 % (PACK 6)"


def test_drop_tail_is_always_as_late_as_its_full_queue() -> None:
    late = ran("DropTail").latencies()
    assert np.std(late) < np.mean(late) / 10


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_is_less_late_than_drop_tail(name: str) -> None:
    assert ran(name).latency < 0.8 * ran("DropTail").latency


def test_aim_is_less_late_than_the_ladder() -> None:
    assert ran("aim").latency < ran("ladder").latency


@pytest.mark.parametrize("name", ["ladder", "aim"])
def test_the_link_stays_busy_and_little_more_is_lost_than_must_be(name: str) -> None:
    found = ran(name)
    assert found.share > 0.98
    assert 0 <= found.excess < 0.02


def test_a_digest_for_each_run_costs_what_its_bytes_cost() -> None:
    each_run, each_pack = ran("aim, digest a run"), ran("aim")
    assert each_run.told > 5 * each_pack.told
    assert each_run.excess < 0.02 + each_run.told


def test_loss_is_high_where_the_queue_was_packed_and_zero_elsewhere() -> None:
    _, losses = ran("ladder").losses()
    assert max(losses) > 0.4
    assert min(losses[20:-20]) == 0


def test_most_packs_are_at_level_two_and_take_what_the_paper_says() -> None:
    (queue,) = [one for one in QUEUES if one.name == "aim"]
    found = thin_sim.simulate(queue, capacity(192), 320.0, 1)
    assert found.levels()[2] > 0.9 * found.levels().total()
    assert np.mean(found.parts(2)) == pytest.approx(0.325, abs=0.03)


def test_one_seed_gives_one_run_and_another_gives_another() -> None:
    one = ran("ladder")
    again = thin_sim.simulate(QUEUES[1], SIZE, 150.0, 1)
    assert (one.events, one.packs) == (again.events, again.packs)
    assert one.packs != ran("ladder", seed=2).packs


def test_answers_come_soon_and_little_is_stale_beside_a_full_link() -> None:
    found = thin_sim.probe(QUEUES[1], SIZE, 40.0, 1, 4.0)
    assert len(found.answers) > 30
    assert not found.unanswered
    assert max(found.answers) < 1
    assert found.silence < 2
    assert 0 < found.beyond < 8_192


def test_hosts_that_stand_still_make_no_thin_link_look_fast() -> None:
    rig = Rig(1, PlanetConfig(name=PLANET, lane_bytes=SIZE))
    receiver = rig.client("receiver", thin_sim.QUALITY)
    rig.world.run(SECOND)
    receiver.subscribe(QUEUES[1].policy(1))
    rig.world.run(SECOND)
    rig.publish()
    rig.world.run(20 * SECOND)
    window = rig.planet.multicast.streams[STREAM].lanes[0][2].session.window
    for turn in range(12):
        host = rig.host if turn % 2 else receiver
        host.freeze()
        rig.world.run(SECOND)
        host.thaw()
        rig.world.run(SECOND)
        assert window.limit < 8_192
