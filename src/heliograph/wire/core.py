"""Core: the surface between protocol code and the shells that drive it, and its effects.

A core is ordinary synchronous code. A shell feeds it bytes and time, pulls bytes out of it, and
does what the effects say. Data waits inside until a link can take it, so that policies can still
reach it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Close:
    """Close a link, after what `pull` still gives has been written."""

    link: int
    reason: str


@dataclass(frozen=True, slots=True)
class Connect:
    """Open a connection to an address, then call `connected`; or `refused`, where that fails."""

    address: str


@dataclass(frozen=True, slots=True)
class Log:
    """Write a line to the log; never one for each event."""

    level: str  # "debug", "info", "warning", "error"
    event: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answered:
    """A request of this client's got its answer; `error` says why it was refused."""

    request: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Arrived:
    """A receiver that had nothing to take has something now."""

    receiver: int


Effect = Close | Connect | Log | Answered | Arrived


class Core(Protocol):
    """What every core offers to a shell; `now` is an integer of nanoseconds."""

    def connected(self, link: int, now: int) -> None:
        """Tell of a new connection; the shell chooses the ids, which are not used again."""

    def disconnected(self, link: int, now: int) -> None:
        """Tell that a connection is gone; nothing is called for it any more."""

    def feed(self, link: int, data: bytes, now: int) -> None:
        """Take bytes that came in."""

    def pull(self, link: int, max_bytes: int, now: int) -> bytes:
        """Return what is to be written now, in whole frames; nothing where nothing may be sent."""

    def tick(self, now: int) -> None:
        """Do what time asks for."""

    def deadline(self) -> int | None:
        """Return when `tick` wants to be called next."""

    def take_effects(self) -> list[Effect]:
        """Return what the shell is to do, once."""

    def take_ready(self) -> list[int]:
        """Return the links that have something to pull, each once."""
