"""Toy cores: what the shell is tested with, each small enough to be seen through."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any

from heliograph.wire.core import Close, Log

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.wire.core import Effect


class Echo:
    """Sends everything back to where it came from, and writes down how it was called."""

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.ready: dict[int, None] = {}
        self.waiting: dict[int, bytearray] = {}
        self.calls: list[tuple[Any, ...]] = []
        self.ticks: deque[int] = deque()
        self.next: int | None = None

    def connected(self, link: int, now: int) -> None:  # noqa: ARG002 - the surface of a core
        self.calls.append(("connected", link))
        self.waiting[link] = bytearray()

    def disconnected(self, link: int, now: int) -> None:  # noqa: ARG002
        self.calls.append(("disconnected", link))
        del self.waiting[link]

    def feed(self, link: int, data: bytes, now: int) -> None:  # noqa: ARG002
        if data.startswith(b"fail"):
            raise RuntimeError("the toy is broken")
        if data.startswith(b"close"):
            self.effects.append(Close(link, "as you wish"))
            data = b"goodbye"
        if data.startswith(b"log"):
            self.effects.append(Log("warning", "toy_said", {"what": "a line"}))
        self.send(link, data)

    def send(self, link: int, data: bytes) -> None:
        self.waiting[link] += data
        self.ready[link] = None

    def pull(self, link: int, max_bytes: int, now: int) -> bytes:  # noqa: ARG002
        held = self.waiting[link]
        data = bytes(held[:max_bytes])
        del held[:max_bytes]
        return data

    def tick(self, now: int) -> None:
        self.ticks.append(now)
        self.next = None

    def deadline(self) -> int | None:
        return self.next

    def take_effects(self) -> list[Effect]:
        taken, self.effects = self.effects, []
        return taken

    def take_ready(self) -> list[int]:
        taken, self.ready = list(self.ready), {}
        return taken


async def until(true: Callable[[], object]) -> None:
    """Wait until something is so; a test that waits in vain is ended by this, and fails."""
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.002)
