"""Every error that Heliograph raises on purpose, as one tree.

    HeliographError
    ├── UsageError      the caller asked for something that cannot be: fix the call
    ├── EventError      an event, block or schema from outside breaks the rules: its sender's fault
    ├── WireError       a peer's bytes break the protocol: that peer is closed, and no other
    ├── LinkError       no planet can be reached: its address or the network is at fault
    ├── TraceError      a recorded stream cannot be read, with the place in the file
    └── PolicyError     a policy document is wrong, or does not fit a schema, with line and element

They live in the lowest room because every room above raises them.
"""

from __future__ import annotations


class HeliographError(Exception):
    """The base of all errors raised on purpose; catch it to catch them all."""


class UsageError(HeliographError):
    """The caller's mistake: the message says what to write instead."""


class EventError(HeliographError):
    """An event, block, digest or schema that breaks the rules; only its sender pays for it."""


class WireError(HeliographError):
    """Bytes of a peer that break the protocol; only that peer pays for it."""


class LinkError(HeliographError):
    """No planet can be reached; names the addresses, and what was tried."""


class TraceError(HeliographError):
    """A recorded stream that cannot be read; names the file and the line."""


class PolicyError(HeliographError):
    """A policy document that is wrong, or that does not fit the schema that it met."""

    def __init__(self, message: str, *, line: int | None = None, element: str = "") -> None:
        """Keep the place apart from the words, so that tools can point at it."""
        self.line = line
        self.element = element
        self.reason = message
        place = f"line {line}: " if line else ""
        what = f"{element}: " if element else ""
        super().__init__(f"{place}{what}{message}")
