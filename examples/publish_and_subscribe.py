"""A planet, a monitor that publishes, and two receivers: one keeps up, and one does not."""

from __future__ import annotations

import asyncio

import heliograph
from heliograph.policy import build

STREAM = "patient/7/pulse"
EVENTS = 2_000
# What is normal may go first; then one event out of two, and so on.
POLICY = build.policy("PulseRate", build.within(60, 90), build.every(2), build.latest(8))


async def receive(receiver: heliograph.AsyncReceiver, pause: float) -> tuple[int, int]:
    """Receive until all is accounted for; return how many events came, how many were counted."""
    events = counted = 0
    async for entry in receiver:
        if isinstance(entry, heliograph.Digest):
            counted += entry.settled
        else:
            events += 1
            if pause:
                await asyncio.sleep(pause)
        if events + counted == EVENTS:
            break
    return events, counted


async def main() -> None:
    """Publish more than a slow application can take."""
    config = heliograph.PlanetConfig(listen="127.0.0.1:0")  # 0: any port that is free.
    small = heliograph.ClientConfig(name="slow", inbox_entries=64)  # So that its lane is soon full.
    async with (
        heliograph.serve(config) as planet,
        heliograph.connect(planet.address, name="monitor") as monitor,
        heliograph.connect(planet.address, name="fast") as fast,
        heliograph.connect(planet.address, config=small) as slow,
    ):
        receivers = [
            await fast.subscribe(STREAM, policy=POLICY),
            await slow.subscribe(STREAM, policy=POLICY),
        ]
        tasks = [
            asyncio.create_task(receive(one, pause), name=f"receive {pause}")
            for one, pause in zip(receivers, (0.0, 0.001), strict=True)
        ]
        sender = await monitor.advertise(STREAM)
        for number in range(EVENTS):
            sender.publish({"PulseRate": 70 + number % 40})  # A plain call: it never waits.
            if number % 50 == 0:
                await asyncio.sleep(0.001)
        await sender.flush()  # All of it has been acknowledged.
        results = await asyncio.gather(*tasks)

    for name, (events, counted) in zip(("fast", "slow"), results, strict=True):
        print(f"{name}: {events} events, {counted} counted in digests")
    whole = all(events + counted == EVENTS for events, counted in results)
    print(f"every event delivered or counted: {whole}")


if __name__ == "__main__":
    asyncio.run(main())
