"""The programs of a real fan-out, here in one process over loopback."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from heliograph.experiments import fanout_ends
from heliograph.experiments.fanout_ends import ClientsJob, clients, forwarder, planet, words_of
from heliograph.net import loops

if TYPE_CHECKING:
    import pytest


def test_events_to_all_kinds_are_timed_at_every_receiver(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> list[list[list[float]]]:
        said: asyncio.Queue[int] = asyncio.Queue()
        monkeypatch.setattr(fanout_ends, "say", said.put_nowait)
        running, ports = [], []
        for kind in (
            planet("127.0.0.1"),
            forwarder("127.0.0.1"),
            forwarder("127.0.0.1", bare=True),
        ):
            running.append(asyncio.create_task(kind))
            ports.append(await said.get())
        found = await clients(ClientsJob("127.0.0.1", ports, 2, 30, 0.01))
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        return found

    found = loops.run(run())
    assert [[len(one) for one in kind] for kind in found] == [[10, 10]] * 3
    assert all(late > 0 for kind in found for one in kind for late in one)


def test_a_job_survives_the_command_line() -> None:
    job = ClientsJob("127.0.0.1", [1, 2], 3, 4, 0.5)
    kind, given = words_of(job)
    assert kind == "clients"
    assert json.loads(given) == asdict(job)
