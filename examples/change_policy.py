"""Change the policy of a live subscription: what waits is packed by the new one, none is lost."""

from __future__ import annotations

import asyncio

import heliograph

STREAM = "ward/3"
EVENTS = 1_000


async def take(receiver: heliograph.AsyncReceiver, upto: int) -> tuple[list[int], int]:
    """Receive up to a number; return the numbers of the events, and how many digests counted."""
    numbers, counted, at = [], 0, 0
    async for entry in receiver:
        if isinstance(entry, heliograph.Digest):
            counted += entry.settled
            at = max(at, entry.upto)
        else:
            numbers.append(entry.number)
            at = entry.number
        if at >= upto:
            break
    return numbers, counted


async def main() -> None:
    """Fill a small lane twice, under two policies."""
    config = heliograph.PlanetConfig(listen="127.0.0.1:0")
    small = heliograph.ClientConfig(inbox_entries=32)
    async with (
        heliograph.serve(config) as planet,
        heliograph.connect(planet.address) as monitor,
        heliograph.connect(planet.address, config=small) as viewer,
    ):
        receiver = await viewer.subscribe(STREAM, policy="oldest")
        sender = await monitor.advertise(STREAM)
        total = 0
        for name in ("oldest", "newest"):
            await receiver.repolicy(name)
            first = sender.publish({"bed": 0, "step": 0})
            for step in range(1, EVENTS):
                sender.publish({"bed": step % 5, "step": step})
            await sender.flush()  # Nobody has taken anything yet: the lane was packed.
            numbers, counted = await take(receiver, first + EVENTS - 1)
            total += len(numbers) + counted
            mean = sum(numbers) / len(numbers) - first
            place = "beginning" if mean < EVENTS / 2 else "end"
            print(f"{name}: {len(numbers)} events from the {place}, {counted} in digests")
    print(f"{total} of {2 * EVENTS} accounted for")


if __name__ == "__main__":
    asyncio.run(main())
