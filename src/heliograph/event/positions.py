"""Positions: which events of a recorded stream belong to it, and where each stands in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heliograph.event.block import STREAM_CHARS_MAX
from heliograph.event.errors import EventError
from heliograph.event.types import INT64_MAX

if TYPE_CHECKING:
    from collections.abc import MutableMapping


class Positions:
    """Chooses one stream of a trace, and follows its epochs and numbers.

    A trace that says nothing of them is one stream, of epoch 1, with numbers from 1 on.
    """

    def __init__(self, default: str, wanted: str | None) -> None:
        """Begin a trace; `default` names the stream of events that name none."""
        self.default = default
        self.wanted = wanted
        self.stream = wanted
        self.other: str | None = None
        self._numbered: bool | None = None
        self._epoch = 0
        self._number = 0

    def stream_of(self, values: MutableMapping[str, Any]) -> str:
        """Return, and take out, the stream that an event names.

        Raises:
            EventError: It is no stream key.
        """
        stream = values.pop("_stream", None)
        if stream is None:
            return self.default
        if not isinstance(stream, str) or not 0 < len(stream) <= STREAM_CHARS_MAX:
            raise EventError(f"_stream is a text of 1 to {STREAM_CHARS_MAX} characters")
        return stream

    def chosen(self, stream: str) -> bool:
        """Say whether events of a stream are to be read.

        Raises:
            EventError: It is a second stream, and nobody said which one to read.
        """
        if self.stream is None:
            self.stream = stream
        if stream == self.stream:
            return True
        if self.wanted is None:
            raise EventError(
                f"the trace holds several streams, {self.stream} and {stream}: "
                f"choose one, as in --stream {self.stream}"
            )
        self.other = stream
        return False

    def step(self, values: MutableMapping[str, Any]) -> tuple[int, int]:
        """Return, and take out, the epoch and number of an event, which stand behind the last ones.

        Raises:
            EventError: They do not rise, or are no positions.
        """
        epoch = _integer(values, "_epoch", 0)
        number = _integer(values, "_number", 1)
        if epoch is None:
            epoch = 1
        if self._numbered is None:
            self._numbered = number is not None
        if number is None:
            if self._numbered:
                raise EventError("no _number, although the events before it have one")
            number = self._number + 1 if epoch == self._epoch else 1
        if (epoch, number) <= (self._epoch, self._number):
            raise EventError(
                f"number {number} of epoch {epoch} stands behind number {self._number} of epoch "
                f"{self._epoch}: numbers rise; sort the trace by _epoch and _number"
            )
        self._epoch, self._number = epoch, number
        return epoch, number


def _integer(values: MutableMapping[str, Any], name: str, least: int) -> int | None:
    value = values.pop(name, None)
    if value is not None and (type(value) is not int or not least <= value <= INT64_MAX):
        raise EventError(f"{name} is an integer from {least} to {INT64_MAX}, not {value!r:.40}")
    return value
