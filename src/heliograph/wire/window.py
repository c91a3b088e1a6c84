"""Window: how many bytes may be under way to a peer before it has said that it received them.

What is under way is beyond every policy's reach, and old when a receiver that stopped comes back.
So the window is scaled to the link: what the best rate that cursors have shown lately carries in a
fifth of a second, and in one and a half round trips. A thin link gets two kilobytes, loopback a
megabyte within a few round trips.

A window that was used up opens again only when a good part of it is free, and then for half of it
at most. Else each cursor would let a frame or two go, or a large packet and a small one by turns,
and a thin link would carry many heads of small packets.
"""

from __future__ import annotations

from typing import Final

WINDOW_MIN: Final = 2_048
WINDOW_BEGIN: Final = 4_096
HORIZON: Final = 200_000_000  # Nanoseconds of the link's rate.
# The longest round trip that is believed: a receiver that stood still is no long link.
TRIP_MAX: Final = 1_000_000_000
# How much is free when a used-up window opens again: a third of it, and no more than that.
GAP_MAX: Final = 16_384
# A link that got slower is believed after some rounds, so that one late cursor does not starve it;
# a round that is longer than the window is meant to be counts as several.
_DECAY: Final = 0.9
_ROUNDS_MAX: Final = 10


class Window:
    """The credit of one direction of a session."""

    __slots__ = (
        "_alone", "_begun", "_first", "_limited", "_mark", "_round", "acked", "burst", "limit",
        "max_bytes", "rate", "sent", "shut", "trip",
    )  # fmt: skip

    def __init__(self, max_bytes: int) -> None:
        """Begin with little, as nothing is known of the link."""
        self.max_bytes = max_bytes
        self.limit = min(WINDOW_BEGIN, max_bytes)
        self.rate = 0.0  # Bytes a second.
        self.trip = 0  # Nanoseconds from sending to the cursor, where nothing waited; 0: unknown.
        self.sent = 0
        self.acked = 0
        self.shut = False  # It was used up, and is not open again.
        self.burst = self.limit  # What may be sent before the next cursor.
        # A round is over when what was sent at its beginning has been received.
        self._round: int | None = None
        self._mark = 0
        self._begun = 0
        self._alone = False  # Whether nothing was under way when the round began.
        self._first = (0, 0)  # Of such a round: how much its first cursor told of, and when.
        self._limited = False

    @property
    def under_way(self) -> int:
        """The bytes that were sent and that nobody has said to have received."""
        return self.sent - self.acked

    def room(self) -> int:
        """Return how many bytes may be sent now."""
        return 0 if self.shut else min(self.limit - self.sent + self.acked, self.burst)

    def send(self, size: int, now: int) -> None:
        """Tell that bytes were sent."""
        if self._round is None:
            # Begun by what is sent, not by a cursor: cursors that waited for a host which stood
            # still are taken in one moment, and would make its link look without limit.
            self._mark, self._begun = self.acked, now
            self._limited, self._alone = False, self.sent == self.acked
            self._first = (0, 0)
        self.sent += size
        self.burst -= size
        if self._round is None:
            self._round = self.sent
        full = self.sent - self.acked >= self.limit
        if full:
            self._limited = True
        if full or self.burst <= 0:
            self.shut = True

    def ack(self, size: int, now: int) -> None:
        """Tell that so many bytes more have been received."""
        self.acked += size
        if self._alone and not self._first[0]:
            self._first = (size, max(1, now - self._begun))
        if self._round is not None and self.acked >= self._round:
            self._measure(max(1, now - self._begun))
            self._round = None
        under_way = self.sent - self.acked
        free = self.limit - under_way
        if not self.shut or free >= min(self.limit // 3, GAP_MAX):
            self.shut = False
            # Two packets keep a link busy: one that it carries, one that waits for it.
            self.burst = free if under_way < self.limit >> 2 else self.limit >> 1

    def _measure(self, took: int) -> None:
        """Learn from a round, which took so long, how much the link carries."""
        rate = (self.acked - self._mark) * 1_000_000_000 / took
        if rate > self.rate:
            self.rate = rate
        elif self._limited or took > HORIZON + 2 * self.trip:
            # Bytes that take so long wait somewhere on the way, although the limit let more go: it
            # was too high, and a link that does not use it up would never show that.
            rounds = min(max(1, took // (HORIZON + self.trip)), _ROUNDS_MAX)
            self.rate = max(rate, self.rate * _DECAY**rounds)
        if self._alone:
            size, trip = self._first
            rest = self.acked - self._mark - size
            # What follows the first cursor shows how much of its time the bytes themselves took.
            trip = max(1, trip - (took - trip) * size // rest) if rest else trip
            # It may have grown; a receiver that stood still for a while makes it look so.
            self.trip = min(trip, 2 * self.trip or trip, TRIP_MAX)
        # A round cannot show more than the window let through: half a trip more lets it grow.
        wanted = int(self.rate * (HORIZON + 1.5 * self.trip) / 1_000_000_000)
        self.limit = min(self.max_bytes, max(WINDOW_MIN, wanted))

    def reset(self) -> None:
        """Begin a new connection: what is under way is sent again."""
        self.limit = self.burst = min(self.max_bytes, max(WINDOW_BEGIN, self.limit // 4))
        self.rate = 0.0
        self.trip = 0
        self.shut = False
        self._round = None
