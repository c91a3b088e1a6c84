"""Watching: how the lanes of one receiver are, looked at while it runs.

A status costs the planet time where it has many lanes; so the next look waits fifty times as long
as the last one took, and a second at least.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from heliograph.cli.words import pack_words
from heliograph.event.errors import HeliographError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heliograph.net.sync import SyncClient, SyncReceiver

_LOOK_SECONDS: Final = 1.0
_SHARE: Final = 50
_ANSWER_SECONDS: Final = 2.0


class Watch:
    """The lanes that a receiver's events pass: one at the planet, and one in its own client."""

    def __init__(self, client: SyncClient, receiver: SyncReceiver, name: str) -> None:
        """Begin without a look; `name` is what the planet calls this client."""
        self._client, self._receiver, self._name = client, receiver, name
        self.looks = 0
        self.fill_max = 0.0
        self.lanes: list[dict[str, Any]] = []
        self.offered = True
        self.missing = 0

    def look(self) -> None:
        """Look once; a planet that is away is looked at later."""
        try:
            status = self._client.status(_ANSWER_SECONDS)
        except HeliographError:
            return
        stream = self._receiver.stream
        lanes = [
            one for one in status["lanes"] if one["name"] == self._name and one["stream"] == stream
        ]
        own = self._receiver.status()
        self.missing = own.get("missing", 0)
        self.lanes = [*lanes, own] if own else lanes
        self.fill_max = max([self.fill_max, *(one["fill"] for one in self.lanes)])
        self.offered = any(one["stream"] == stream and one["offered"] for one in status["streams"])
        self.looks += 1

    def last(self, dropped: int) -> None:
        """Look a last time; what a planet says is up to a second old, so drops are waited for."""
        self.look()
        if dropped and not any(one["packs"] for one in self.lanes):
            time.sleep(_LOOK_SECONDS)
            self.look()

    def words(self, dropped: int = 0) -> str:
        """Say how the lanes were packed, or why they were not."""
        return pack_words(self.lanes, self.looks, self.fill_max, dropped)


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Look again and again, in a thread, for the time of a `with`."""
    over = threading.Event()

    def run() -> None:
        wait = _LOOK_SECONDS
        while not over.wait(wait):
            began = time.monotonic()
            watch.look()
            wait = max(_LOOK_SECONDS, _SHARE * (time.monotonic() - began))

    thread = threading.Thread(target=run, name="watching", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
