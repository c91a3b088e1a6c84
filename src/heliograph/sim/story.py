"""Story: what happened in a simulated run, as lines that people read and as one hash.

The hash covers every byte that moved, the lines only what a reader wants to follow. Two runs of one
seed have the same hash, or the cores are not deterministic.
"""

from __future__ import annotations

from collections import deque
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

MILLISECOND: Final = 1_000_000
SECOND: Final = 1_000_000_000
# So many lines are kept for the end of an error; the full story is printed by `heliograph.sim`.
LINES_MAX: Final = 60
_HOST_WIDTH: Final = 9


def show_time(now: int) -> str:
    """Return virtual time as a text of seconds, to the millisecond."""
    return f"{now // SECOND}.{now % SECOND // MILLISECOND:03d}"


class Story:
    """Gathers the lines and the hash of one run."""

    def __init__(self, hear: Callable[[str], None] | None = None) -> None:
        """Begin; `hear` gets each line when it is told."""
        self.hear = hear
        self.lines: deque[str] = deque(maxlen=LINES_MAX)
        self._hash = blake2b(digest_size=16)

    @property
    def hash(self) -> str:
        """What identifies everything that happened so far."""
        return self._hash.hexdigest()

    def tell(self, now: int, who: str, what: str) -> None:
        """Add a line: who did what, or what happened to it."""
        line = f"{show_time(now):>9} {who:<{_HOST_WIDTH}} {what}"
        self.lines.append(line)
        self._hash.update(line.encode())
        if self.hear is not None:
            self.hear(line)

    def note(self, now: int, who: str, what: str, data: bytes = b"") -> None:
        """Add to the hash what nobody wants to read: bytes that moved, timers that fired."""
        self._hash.update(f"{now} {who} {what} {len(data)}\n".encode())
        self._hash.update(data)
