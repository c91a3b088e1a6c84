"""Journal: structured log lines, rate-limited per name, so that a flood of one stays readable.

What is worth a line (a client came, a stream was refused) is decided by the cores, which ask for it
as an effect. Here it becomes one line through `logging`; what exceeds the rate of its name is
counted, and the next line of that name says how many were left out.
"""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LOGGER: Final = logging.getLogger("heliograph")
NAMES_MAX: Final = 1_024
_SECOND: Final = 1_000_000_000


class Journal:
    """Writes log lines; at most `lines_max` of one name within `seconds`."""

    def __init__(
        self,
        logger: logging.Logger = LOGGER,
        *,
        lines_max: int = 10,
        seconds: int = 10,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Begin with nothing written."""
        self._logger = logger
        self._lines_max = lines_max
        self._window = seconds * _SECOND
        self._clock = clock
        # Of each name: when its window began, how many lines it got since, how many were left out.
        self._names: dict[str, tuple[int, int, int]] = {}

    def write(
        self,
        level: int | str,
        name: str,
        fields: Mapping[str, Any],
        error: BaseException | None = None,
    ) -> None:
        """Write one line, or count it where its name has had its share."""
        number = logging.getLevelName(level.upper()) if isinstance(level, str) else level
        if not self._logger.isEnabledFor(number):
            return
        left_out = self._admit(name)
        if left_out is None:
            return
        said = dict(fields) | ({"left_out": left_out} if left_out else {})
        text = " ".join([name, *[f"{key}={_value(value)}" for key, value in said.items()]])
        extra = {"helio_name": name, "helio_fields": said}
        self._logger.log(number, "%s", text, extra=extra, exc_info=error)

    def _admit(self, name: str) -> int | None:
        """Return how many lines of a name were left out before this one; None leaves it out too."""
        now = self._clock()
        if name not in self._names and len(self._names) >= NAMES_MAX:
            self._names.clear()  # Names are few and fixed; this bounds a mistake.
        began, written, left_out = self._names.get(name, (now, 0, 0))
        if now - began >= self._window:
            began, written = now, 0
        if written >= self._lines_max:
            self._names[name] = (began, written, left_out + 1)
            return None
        self._names[name] = (began, written + 1, 0)
        return left_out


def _value(value: Any) -> str:
    """Return a value as it stands behind its key: quoted where it would break the line."""
    text = str(value)
    plain = text.isascii() and text.isprintable() and not set(text) & set(' "=')
    return text if plain and text else json.dumps(text)


class JsonFormatter(logging.Formatter):
    """Formats each record as one JSON object in one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03d}",
            "level": record.levelname.lower(),
            "event": getattr(record, "helio_name", record.name),
        }
        fields = getattr(record, "helio_fields", None)
        line |= {"message": record.getMessage()} if fields is None else fields
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def set_up(*, json_lines: bool = False, level: str = "info") -> None:
    """Send log lines to standard error; for programs, as libraries leave that to their user."""
    handler = logging.StreamHandler()
    plain = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonFormatter() if json_lines else plain)
    LOGGER.addHandler(handler)
    LOGGER.setLevel(level.upper())
    LOGGER.propagate = False
