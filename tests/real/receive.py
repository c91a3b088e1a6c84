"""Receives a stream and prints each event and digest as a line of JSON; run as a process."""

from __future__ import annotations

import asyncio
import json
import sys

import heliograph
from heliograph.event.event import Event


async def main(address: str, stream: str, policy: str, pause: float) -> None:
    async with heliograph.connect(address) as client:
        receiver = await client.subscribe(stream, policy=policy or None)
        print(json.dumps({"ready": True}), flush=True)
        async for entry in receiver:
            if isinstance(entry, Event):
                print(json.dumps({"number": entry.number, "values": entry.values}))
            else:
                told = {"after": entry.after, "upto": entry.upto, "count": entry.count}
                print(json.dumps({**told, "filtered": entry.filtered, "gap": entry.gap}))
            sys.stdout.flush()
            if pause:
                await asyncio.sleep(pause)


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], float((sys.argv[4:] or ["0"])[0])))
