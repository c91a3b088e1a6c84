"""Receives a stream and prints each event and digest as a line of JSON; run as a process."""

from __future__ import annotations

import asyncio
import json
import sys

import heliograph
from heliograph.event.event import Event


def say(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def main(address: str, stream: str, policy: str, pause: float) -> None:
    async with heliograph.connect(address) as client:
        receiver = await client.subscribe(stream, policy=policy or None)
        say({"ready": True})
        async for entry in receiver:
            if isinstance(entry, Event):
                say({"number": entry.number, "values": entry.values})
            else:
                told = {"after": entry.after, "upto": entry.upto, "count": entry.count}
                say({**told, "filtered": entry.filtered, "gap": entry.gap})
            if pause:
                await asyncio.sleep(pause)


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], float((sys.argv[4:] or ["0"])[0])))
