"""Memory under overload: ten minutes of more than anyone takes, within the configured bound."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

import heliograph
from real.processes import PlanetProcess
from real.test_slow_receivers import deaf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECONDS = float(os.environ.get("HELIOGRAPH_SOAK_SECONDS", "600"))
MIB = 2**20
BUFFER = 64 * MIB
STREAMS = 20
# What lies beside the lanes: what the interpreter keeps, frames under way, chunks of one turn.
BESIDE = 64 * MIB


@pytest.mark.slow
def test_a_planet_stays_within_its_buffer_while_it_is_overloaded(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    async def story(planet: PlanetProcess) -> list[int]:
        loop = asyncio.get_running_loop()
        seen = []
        async with heliograph.connect(planet.address) as client:
            senders = [await client.advertise(f"load/{n}") for n in range(STREAMS)]
            begin = loop.time()
            while loop.time() - begin < SECONDS:
                for sender in senders:
                    for _ in range(100):
                        sender.publish({"text": "x" * 300, "v": 1})
                await asyncio.sleep(0.02)
                seen.append(planet.memory())
            status = await client.status()
        assert status["buffer"]["bytes"] <= BUFFER
        assert status["packs"] > 0
        return seen

    with PlanetProcess(tmp_path, buffer_bytes=BUFFER, lane_bytes=8 * MIB) as planet:
        idle = planet.memory()
        # One receiver each: lanes that share blocks count them once for each, and hold less.
        ones = [deaf(planet.port, f"load/{n}") for n in range(STREAMS)]
        try:
            seen = asyncio.run(story(planet))
        finally:
            for one in ones:
                one.close()
    highest = max(seen)
    record_property("idle_bytes", idle)
    record_property("highest_bytes", highest)
    assert highest <= idle + BUFFER + BESIDE, f"{highest / MIB:.0f} MiB, {idle / MIB:.0f} idle"
