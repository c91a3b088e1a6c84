"""Event: one reading of a stream, and Position: where it stands in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from heliograph.event.types import moment

if TYPE_CHECKING:
    from datetime import datetime


class Position(NamedTuple):
    """Where an event stands in its stream; a sender that lost its state starts a larger epoch.

    Numbers start at 1 and rise by 1 within an epoch, so 0 is the position before the first event.
    """

    epoch: int
    number: int


class Event(msgspec.Struct, frozen=True):
    """One reading: attributes with a stream key, a position and a time in microseconds.

    An attribute that is absent and one that is None are the same thing.
    """

    stream: str
    epoch: int
    number: int
    time: int
    values: dict[str, Any]

    @property
    def position(self) -> Position:
        """Where this event stands in its stream."""
        return Position(self.epoch, self.number)

    @property
    def moment(self) -> datetime:
        """The time of this event as a datetime in UTC."""
        return moment(self.time)
