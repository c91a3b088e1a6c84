"""Waiting: tells how far a run is whose length is known, while it does nothing else but last."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TURN_SECONDS: Final = 0.5


@contextmanager
def told(tell: Callable[[float], None], seconds: float) -> Iterator[None]:
    """Tell, until the block is done, which part of so many seconds has passed."""
    done = threading.Event()
    begin = time.monotonic()

    def run() -> None:
        while not done.wait(_TURN_SECONDS):
            tell(min(1.0, (time.monotonic() - begin) / seconds))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
