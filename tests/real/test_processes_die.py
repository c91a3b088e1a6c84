"""Kill -9 and stopped processes: what is delivered or counted survives whoever dies."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any

import heliograph
from real.processes import PlanetProcess, ReceiverProcess, free_port, settled, until

if TYPE_CHECKING:
    from pathlib import Path

QUICK: dict[str, Any] = {"heartbeat_seconds": 0.3}
EVERY_SECOND = "levels:\n  - filters: [{name: EVERY, n: 2}]\n"


async def publish(sender: Any, count: int, pause: float = 0.001) -> int:
    last = 0
    for number in range(count):
        last = sender.publish({"v": number, "text": "x" * 40})
        if number % 20 == 0:
            await asyncio.sleep(pause)
    return last


async def told(receivers: list[ReceiverProcess], last: int) -> None:
    """Wait until every receiver has come to a number."""
    await asyncio.to_thread(
        until, lambda: all(one.position() >= last for one in receivers), f"all up to {last}"
    )


def test_a_killed_planet_costs_values_and_never_counts(tmp_path: Path) -> None:
    port = free_port()

    async def story(receiver: ReceiverProcess, planet: PlanetProcess) -> int:
        async with heliograph.connect(planet.address) as client:
            sender = await client.advertise("s")
            running = asyncio.create_task(publish(sender, 4_000))
            await asyncio.sleep(0.2)
            planet.kill()
            await asyncio.sleep(0.2)
            with PlanetProcess(tmp_path, port=port, **QUICK):
                last = await running
                await sender.flush()
                await told([receiver], last)
                return last

    with (
        PlanetProcess(tmp_path, port=port, **QUICK) as planet,
        ReceiverProcess(planet.address, "s") as receiver,
    ):
        receiver.ready()
        last = asyncio.run(story(receiver, planet))
        counts = settled(receiver.entries())
        assert counts["events"] + counts["gap"] + counts["dropped"] == last == 4_000


def test_a_killed_receiver_costs_nobody_else_anything(tmp_path: Path) -> None:
    async def story(planet: PlanetProcess, receivers: list[ReceiverProcess]) -> None:
        async with heliograph.connect(planet.address) as client:
            sender = await client.advertise("s")
            running = asyncio.create_task(publish(sender, 3_000))
            await asyncio.sleep(0.1)
            receivers[0].kill()
            last = await running
            await told(receivers[1:], last)

    with PlanetProcess(tmp_path, **QUICK) as planet:
        receivers = [ReceiverProcess(planet.address, "s") for _ in range(3)]
        try:
            for one in receivers:
                one.ready()
            asyncio.run(story(planet, receivers))
            for one in receivers[1:]:
                assert settled(one.entries())["events"] == 3_000
        finally:
            for one in receivers:
                one.kill()


def test_a_stopped_receiver_comes_back_to_books_that_add_up(tmp_path: Path) -> None:
    """The process is stopped for longer than silence is tolerated; its session waits for it."""

    async def story(planet: PlanetProcess, receivers: list[ReceiverProcess]) -> int:
        async with heliograph.connect(planet.address) as client:
            sender = await client.advertise("s")
            await publish(sender, 100)
            receivers[0].send(signal.SIGSTOP)
            last = await publish(sender, 6_000)
            await told(receivers[1:], last)
            await asyncio.sleep(1.5)
            receivers[0].send(signal.SIGCONT)
            last = await publish(sender, 100)
            await told(receivers, last)
            return last

    settings = {**QUICK, "lane_entries": 256}
    with PlanetProcess(tmp_path, **settings) as planet:
        receivers = [ReceiverProcess(planet.address, "s", EVERY_SECOND) for _ in range(2)]
        try:
            for one in receivers:
                one.ready()
            last = asyncio.run(story(planet, receivers))
            stopped, other = (settled(one.entries()) for one in receivers)
            assert stopped["dropped"] > 0
            assert stopped["events"] + stopped["dropped"] == last
            assert stopped["gap"] == other["gap"] == 0
        finally:
            for one in receivers:
                one.kill()


def test_a_sender_that_starts_again_begins_a_larger_epoch(tmp_path: Path) -> None:
    async def once(address: str) -> None:
        async with heliograph.connect(address) as client, await client.advertise("s") as sender:
            await publish(sender, 50)

    async def story(address: str) -> list[Any]:
        got: list[Any] = []
        async with heliograph.connect(address) as client:
            receiver = await client.subscribe("s")
            for _ in range(2):
                await once(address)
            async for event in receiver:
                got.append(event)
                if len(got) == 100:
                    return got
        return got

    with PlanetProcess(tmp_path, **QUICK) as planet:
        got = asyncio.run(asyncio.wait_for(story(planet.address), 30))
    epochs = list(dict.fromkeys(one.epoch for one in got))
    assert len(epochs) == 2
    assert epochs[0] < epochs[1]
    for epoch in epochs:
        assert [one.number for one in got if one.epoch == epoch] == list(range(1, 51))
