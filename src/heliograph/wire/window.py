"""Window: how many bytes may be under way to a peer before it has said that it received them.

What is under way is beyond every policy's reach, and old when a receiver that stopped comes back.
So the window is scaled to the link: a fifth of a second of the best rate that cursors have shown
lately. A thin link gets two kilobytes, loopback a megabyte within a few round trips.
"""

from __future__ import annotations

from typing import Final

WINDOW_MIN: Final = 2_048
WINDOW_BEGIN: Final = 4_096
HORIZON: Final = 200_000_000  # Nanoseconds of the link's rate.
# A link that got slower is believed after some rounds, so that one late cursor does not starve it.
_DECAY: Final = 0.9


class Window:
    """The credit of one direction of a session."""

    __slots__ = (
        "_begun",
        "_limited",
        "_mark",
        "_round",
        "acked",
        "limit",
        "max_bytes",
        "rate",
        "sent",
    )

    def __init__(self, max_bytes: int) -> None:
        """Begin with little, as nothing is known of the link."""
        self.max_bytes = max_bytes
        self.limit = min(WINDOW_BEGIN, max_bytes)
        self.rate = 0.0  # Bytes a second.
        self.sent = 0
        self.acked = 0
        self._round: int | None = None  # A round is over when this has been received.
        self._mark = 0
        self._begun = 0
        self._limited = False

    @property
    def under_way(self) -> int:
        """The bytes that were sent and that nobody has said to have received."""
        return self.sent - self.acked

    def room(self) -> int:
        """Return how many bytes may be sent now."""
        return self.limit - self.sent + self.acked

    def send(self, size: int, now: int) -> None:
        """Tell that bytes were sent."""
        if self._round is None:
            self._mark, self._begun = self.acked, now
            self._limited = False
        self.sent += size
        if self._round is None:
            self._round = self.sent
        if self.sent - self.acked >= self.limit:
            self._limited = True

    def ack(self, size: int, now: int) -> None:
        """Tell that so many bytes more have been received."""
        self.acked += size
        if self._round is None or self.acked < self._round:
            return
        rate = (self.acked - self._mark) * 1_000_000_000 / max(1, now - self._begun)
        if rate > self.rate:
            self.rate = rate
        elif self._limited:
            self.rate = max(rate, self.rate * _DECAY)
        wanted = int(self.rate * HORIZON / 1_000_000_000)
        self.limit = min(self.max_bytes, max(WINDOW_MIN, wanted))
        self._mark, self._begun = self.acked, now
        self._round = self.sent if self.sent > self.acked else None
        self._limited = self.sent - self.acked >= self.limit

    def reset(self) -> None:
        """Begin a new connection: what is under way is sent again."""
        self.limit = min(self.max_bytes, max(WINDOW_BEGIN, self.limit // 4))
        self.rate = 0.0
        self._round = None
