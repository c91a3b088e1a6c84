"""Cursors: which clients are owed one, and when the first of them is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.planet.state import ClientState


class Cursors:
    """Clients that have sent something, and have not been told yet that it came."""

    __slots__ = ("_mark", "_owed", "at")

    def __init__(self, mark: Callable[[ClientState], None]) -> None:
        """Begin owing nobody; `mark` lets a client's link be pulled from."""
        self._mark = mark
        self._owed: dict[int, ClientState] = {}
        self.at: int | None = None  # When the first is due.

    def passed(self, client: ClientState, frames: int, now: int) -> None:
        """Take a client's own cursor; a pull is asked for where that lets something go."""
        client.session.passed(frames, now)
        if client.outlet.turn or client.session.waiting:
            self._mark(client)

    def owe(self, client: ClientState) -> None:
        """Take note of a client that has sent something."""
        session = client.session
        if session.cursor_urgent:
            self._mark(client)
        elif client.number not in self._owed and session.cursor_at is not None:
            self._owed[client.number] = client
            if self.at is None or session.cursor_at < self.at:
                self.at = session.cursor_at

    def send(self, now: int) -> None:
        """Let those be sent that are due."""
        left: dict[int, ClientState] = {}
        self.at = None
        for number, client in self._owed.items():
            due = client.session.cursor_at
            if due is None or client.link is None:
                continue
            if due <= now:
                self._mark(client)
            else:
                left[number] = client
                self.at = due if self.at is None else min(self.at, due)
        self._owed = left
