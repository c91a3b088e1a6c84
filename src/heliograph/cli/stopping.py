"""Stopping: the first Ctrl-C, or a SIGTERM, asks a verb to come to its end; a second interrupts."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

Item = TypeVar("Item")

# How long a verb that waits may take to hear that it is to stop.
LOOK_SECONDS: Final = 0.2
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether to stop: because someone asked, or because the time is up."""

    def __init__(self, seconds: float | None = None) -> None:
        """Begin; with `seconds`, there is an end in any case."""
        self.asked = False
        self.blocked = False  # Whether the program waits for input, which goes on after a signal.
        self.until = None if seconds is None else time.monotonic() + seconds

    def __bool__(self) -> bool:
        """Say whether to stop now."""
        return self.asked or (self.until is not None and time.monotonic() >= self.until)

    def reads(self, readings: Iterator[Item]) -> Iterator[Item]:
        """Yield what comes of an input, until it ends or someone asks to stop."""
        while True:
            try:
                self.blocked = True  # From here on a signal interrupts; one before has asked.
                found = None if self.asked else next(readings, None)
            except KeyboardInterrupt:
                if not self.asked:
                    raise
                return
            finally:
                self.blocked = False
            if found is None:
                return
            yield found

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """Let a signal interrupt what is done in a `with`, which does not look for one."""
        self.blocked = True
        try:
            if self.asked:
                raise KeyboardInterrupt
            yield
        finally:
            self.blocked = False

    def wait(self, seconds: float) -> None:
        """Wait so long, or until it is time to stop."""
        until = time.monotonic() + seconds
        if self.until is not None:
            until = min(until, self.until)
        while not self.asked and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_SECONDS))


@contextmanager
def stopping(seconds: float | None = None) -> Iterator[Stop]:
    """Take the signals for the time of a `with`."""
    stop = Stop(seconds)

    def ask(*_: Any) -> None:
        again, stop.asked = stop.asked, True
        if again or stop.blocked:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield stop  # Signals come to the main thread only.
        return
    before = {one: signal.signal(one, ask) for one in _SIGNALS}
    try:
        yield stop
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
