"""Offering: asking a planet for a stream, and asking again where its owner may be gone.

A program that lost its power and is back at once finds itself attached still: nobody has told the
planet that the old link is dead. It shows by its silence, and so long the program may wait.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

from heliograph.event.errors import EventError

if TYPE_CHECKING:
    from heliograph.event.schema import Schema
    from heliograph.net.client import AsyncClient

# How often it is asked again; how long beyond the time that the planet said; how long at all.
STEP_SECONDS: Final = 0.25
SLACK_SECONDS: Final = 1.0
PATIENCE_SECONDS: Final = 60.0


async def offer(client: AsyncClient, stream: str, schema: Schema | None, epoch: int | None) -> int:
    """Return the number of a sender whose stream the planet has accepted.

    Without an epoch it begins one by the time, or by what the planet says where that is too early.

    Raises:
        EventError: The planet refuses the stream; the message says why.
    """
    loop = client.shell.loop
    until: float | None = None
    begun = time.time_ns() // 1_000 if epoch is None else epoch
    while True:
        client.check()
        with client.shell.lock:
            number = client.core.advertise(stream, schema, client.shell.clock(), begun)
        sender = client.core.senders[number]
        try:
            await client.expect(number)
        except BaseException as error:
            with client.shell.lock:
                client.core.withdraw(number, client.shell.clock())
            if not isinstance(error, EventError):
                raise
            if sender.beyond and epoch is None:
                begun = sender.beyond + 1  # A clock was set back.
                continue
            if not sender.again:
                raise
            if until is None:
                seconds = min(sender.again / 1_000 + SLACK_SECONDS, PATIENCE_SECONDS)
                until = loop.time() + seconds
                fields = {"stream": stream, "seconds": round(seconds, 1), "reason": str(error)}
                client.shell.journal.write("warning", "owner_attached", fields)
            elif loop.time() >= until:
                raise
        else:
            return number
        await asyncio.sleep(STEP_SECONDS)
