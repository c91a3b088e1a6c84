from __future__ import annotations

import json
from typing import TYPE_CHECKING

from heliograph.experiments import reattach_ends
from heliograph.experiments.reattach_ends import Visits, VisitsJob, visit
from heliograph.experiments.returns import Returns
from heliograph.net import loops
from heliograph.net.server import serve
from heliograph.planet.config import PlanetConfig

if TYPE_CHECKING:
    import pytest


async def visits(turns: int) -> Visits:
    async with serve(PlanetConfig(listen="127.0.0.1:0")) as server:
        return await visit(VisitsJob("127.0.0.1", server.port, 2, turns, 0.1))


def test_clients_come_and_go_over_sockets_and_miss_nothing() -> None:
    said = loops.run(visits(3))
    found = Returns(1, said.published)
    for attached, events in zip(said.attached, said.events, strict=True):
        found.enter(attached, events)
    assert (found.lost, found.doubled) == (0, 0)
    assert [len(one) for one in found.delays] == [3, 3]


def test_the_program_tells_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []

    async def none(job: VisitsJob) -> Visits:
        return Visits(job.receivers)

    monkeypatch.setattr(reattach_ends, "visit", none)
    monkeypatch.setattr(reattach_ends, "say", told.append)
    job = {"address": "127.0.0.1", "port": 1, "receivers": 2, "turns": 3, "wait": 0.5}
    reattach_ends.main([json.dumps(job)])
    assert told == [{"published": 2, "attached": [], "events": []}]
