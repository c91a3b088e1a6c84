from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.queues import ran
from heliograph.experiments import thin_link, thin_real, thin_sim
from heliograph.experiments.findings import Setting
from heliograph.experiments.thin_link import QUEUE_BYTES, QUEUES, findings, tables
from heliograph.experiments.thin_table import Prompt
from heliograph.policy.builtin import OLDEST

if TYPE_CHECKING:
    import pytest

    from heliograph.experiments.transit import Transit


def test_the_first_queue_drops_at_its_tail_and_the_others_have_the_levels_of_the_paper() -> None:
    assert QUEUES[0].policy(1) == OLDEST
    assert [len(one.policy(1).levels) for one in QUEUES[1:]] == [3] * 4
    assert {one.controller for one in QUEUES} == {"ladder", "aim"}


def test_the_data_has_every_event_and_every_pack() -> None:
    one = ran("aim")
    found = tables({"aim": [one]})
    assert len(found["events"]["number"]) == len(one.published)
    assert sum(at is not None for at in found["events"]["arrived_ns"]) == len(one.events)
    assert found["packs"]["level"] == [level for _, level, _ in one.packs]


def test_the_findings_say_how_they_were_measured() -> None:
    runs = {name: [ran(name)] for name in ("DropTail", "aim")}
    found = findings(runs, Prompt([0.1], 0.1, 10), "runs: 1")
    assert found.notes[0] == "runs: 1"
    assert "from pack to pack" in found.notes[-1]


def test_all_queues_are_run_for_each_seed_with_the_same_capacity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, int, float, int]] = []
    known = {one.name: ran(one.name) for one in QUEUES}

    def simulate(queue: thin_link.Queue, size: int, seconds: float, seed: int) -> Transit:
        asked.append((queue.name, size, seconds, seed))
        return known[queue.name]

    shares: list[float] = []
    monkeypatch.setattr(thin_sim, "simulate", simulate)
    monkeypatch.setattr(thin_sim, "probe", lambda *_: Prompt([0.1], 0.1, 10))
    setting = Setting(seeds=2, seconds=9, tell=shares.append)
    assert thin_link.EXPERIMENT.run(setting).rows
    assert asked == [(one.name, QUEUE_BYTES, 9, seed) for seed in (1, 2) for one in QUEUES]
    assert shares[-1] == 1


def test_real_runs_of_as_many_seeds_begin_one_seed_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = {one.name: ran(one.name) for one in QUEUES}
    asked: list[tuple[str, int]] = []
    waited: list[float] = []

    def measure(queue: thin_link.Queue, *rest: float) -> Transit:
        asked.append((queue.name, int(rest[-1])))
        return known[queue.name]

    monkeypatch.setattr(thin_link, "sleep", waited.append)
    monkeypatch.setattr(thin_real, "measure", measure)
    monkeypatch.setattr(thin_real, "probe", lambda *_, **__: Prompt([0.1], 0.1, 10))
    found = thin_link.EXPERIMENT.run(Setting(real=True))
    assert sorted(asked) == sorted((one.name, seed) for one in QUEUES for seed in range(1, 9))
    assert sorted(set(waited)) == [5.0 * turn for turn in range(8)]
    assert found.notes[0].startswith("runs: 8 of 540 s a queue")
