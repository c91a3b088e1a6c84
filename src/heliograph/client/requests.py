"""Requests: what a client asked a planet for, and what the planet answered.

A request that a connection cut short is repeated with the session; one that the session was lost
with is asked anew by whoever asked it (senders and receivers are, by themselves).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from heliograph.event.errors import WireError
from heliograph.event.rows import BROKEN
from heliograph.wire.core import Answered

if TYPE_CHECKING:
    from heliograph.wire.core import Effect

LOST: Final = "the planet lost this session: ask again"


class Requests:
    """Numbers requests and keeps their answers until they are fetched."""

    def __init__(self, effects: list[Effect]) -> None:
        """Begin without a request."""
        self._effects = effects
        self._last = 0
        self._open: dict[int, None] = {}
        self._bodies: dict[int, Any] = {}

    def number(self) -> int:
        """Return the number of a new request."""
        self._last += 1
        self._open[self._last] = None
        return self._last

    def answer(self, request: int, error: str | None = None, body: bytes | None = None) -> None:
        """Tell the application, the first time that a request is answered.

        Raises:
            WireError: The body is no JSON.
        """
        if request in self._open:
            if body is not None:
                try:
                    self._bodies[request] = msgspec.json.decode(body)
                except BROKEN as broken:
                    raise WireError(f"an answer that is no JSON: {broken}") from None
            del self._open[request]
            self._effects.append(Answered(request, error))

    def fetch(self, request: int) -> Any:
        """Return the body of an answer, once."""
        return self._bodies.pop(request, None)

    def lose(self, kept: dict[int, Any], reason: str = LOST) -> None:
        """Tell those who wait in vain; requests in `kept` are asked anew."""
        for request in [one for one in self._open if one not in kept]:
            self.answer(request, reason)
