"""Frames: those that links share, of the entries that were sent last.

A frame is made once and sent to everyone (Entry). Receivers that keep up send an entry at about the
same time; one that is behind keeps the entry in its lane for long, whose bytes count there. The
frame beside it counts nowhere, so no more of them are kept than a burst needs: the last ones. Who
comes later makes a frame once more.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from heliograph.wire.forms import entry_frame

if TYPE_CHECKING:
    from heliograph.lane.entry import Entry

BYTES_MAX: Final = 2 * 2**20
ENTRIES_MAX: Final = 4_096


class Frames:
    """The frames that were made last, within a bound."""

    __slots__ = ("_entries", "bytes")

    def __init__(self) -> None:
        """Begin with none."""
        self._entries: deque[Entry] = deque()
        self.bytes = 0

    def shared(self, entry: Entry, alias: int, base: int) -> bytes:
        """Return the frame of an entry that other links will send too."""
        frame = entry.frame
        if frame:
            return frame
        frame = entry_frame(entry, alias, base)
        entries = self._entries
        entries.append(entry)
        self.bytes += len(frame)
        while self.bytes > BYTES_MAX or len(entries) > ENTRIES_MAX:
            old = entries.popleft()
            self.bytes -= len(old.frame)
            old.frame = b""
        return frame
