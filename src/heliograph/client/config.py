"""Config: what a client's owner can set."""

from __future__ import annotations

from typing import Literal

import msgspec

from heliograph.policy.limits import BYTES_MIN, ENTRIES_MIN, Limits

MIB = 2**20


class ClientConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one client."""

    name: str = ""
    """What the planet calls this client in its status. One that comes with a new session under the
    same name takes over the streams of one that is gone; with none it is known by nothing."""
    sender_entries: int = 65_536
    """How many published events wait for the planet before they are packed."""
    sender_bytes: int = 8 * MIB
    """The same in bytes; whichever is full first."""
    inbox_entries: int = 65_536
    """How many events and digests wait for a receiver's application before they are packed."""
    inbox_bytes: int = 16 * MIB
    """The same in bytes."""
    controller: Literal["ladder", "aim"] = "ladder"
    """What picks the level of a pack."""
    window_bytes: int = MIB
    """The most that may be under way to the planet; slower links get less by themselves."""
    frame_bytes: int = MIB
    """The longest frame that is taken from a planet."""
    retry_seconds: float = 0.1
    """How long to wait before the first new try to attach; the wait doubles from try to try."""
    retry_seconds_max: float = 5.0
    """The longest wait between tries."""
    attach_seconds: float = 10.0
    """A planet that has not answered by then is given up."""

    def called(self, name: str) -> ClientConfig:
        """Return the same settings under another name."""
        return msgspec.structs.replace(self, name=name)

    @property
    def sender_limits(self) -> Limits:
        """The capacity of a sender's lane."""
        return Limits(self.sender_entries, self.sender_bytes)

    def inbox_within(self, entries: int, size: int) -> Limits:
        """Return the capacity of the local lane of a receiver that wants no more than this.

        What a receiver wants holds at both ends: else events would grow old in the client, where
        they wait for a slow application. 0 is any capacity.
        """
        return Limits(
            max(ENTRIES_MIN, min(entries or self.inbox_entries, self.inbox_entries)),
            max(BYTES_MIN, min(size or self.inbox_bytes, self.inbox_bytes)),
        )
