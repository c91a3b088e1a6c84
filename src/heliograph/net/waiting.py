"""Waiting: what a client's coroutines wait for: answers to requests, and things that come true.

An answer is an effect of the core. Of other things no effect tells (that all events have been
acknowledged, that a link is gone); those are looked at after each turn of the shell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heliograph.event.errors import EventError, HeliographError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from heliograph.wire.core import Answered


class Waiting:
    """Who waits, and for what."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin with nobody."""
        self._loop = loop
        self._answers: dict[int, asyncio.Future[None]] = {}
        self._waits: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []

    def expect(self, request: int) -> asyncio.Future[None]:
        """Return what is done when a request has its answer."""
        answer = self._answers[request] = self._loop.create_future()
        # Looked at, as nobody must wait for it: a receiver that iterates hears it there.
        answer.add_done_callback(lambda one: one.cancelled() or one.exception())
        return answer

    def answered(self, effect: Answered) -> None:
        """Hand an answer to whoever waits for it."""
        self._settle(effect.request, None if effect.error is None else EventError(effect.error))

    def give_up(self, request: int, error: HeliographError) -> None:
        """Let nobody wait for an answer any more."""
        self._settle(request, error)

    def _settle(self, request: int, error: HeliographError | None) -> None:
        answer = self._answers.pop(request, None)
        if answer is None or answer.done():
            return
        if error is None:
            answer.set_result(None)
        else:
            answer.set_exception(error)

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until something is so."""
        if true():
            return
        wait = (true, self._loop.create_future())
        self._waits.append(wait)
        try:
            await wait[1]
        finally:
            if wait in self._waits:
                self._waits.remove(wait)

    def look(self) -> None:
        """See what has come true."""
        for true, waiting in self._waits:
            if not waiting.done() and true():
                waiting.set_result(None)

    def end(self, error: HeliographError) -> None:
        """Let nobody wait any more."""
        for request in list(self._answers):
            self._settle(request, error)
        for _, waiting in self._waits:
            if not waiting.done():
                waiting.set_exception(error)
