"""Pacing: when each event is due: at a rate, at the recorded times, or as it comes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from heliograph.event.errors import UsageError

if TYPE_CHECKING:
    from heliograph.cli.origins import Reading
    from heliograph.cli.stopping import Stop

MAX: Final = "max"
_MICROS: Final = 1e6
# Whoever is less early than that publishes at once: a sleep is not more exact.
_EARLY_SECONDS: Final = 0.0005


class Pace:
    """Waits until an event is due; without a rate and a speed, none waits."""

    def __init__(self, rate: float | None, speed: float | None) -> None:
        """Begin with the first event: `rate` in events a second, `speed` in times that recorded."""
        self._rate, self._speed = rate, speed
        self._began: float | None = None
        self._first = 0
        self._count = 0

    @property
    def waits(self) -> bool:
        """Whether events wait for their time."""
        return self._rate is not None or self._speed is not None

    def wait(self, reading: Reading, stop: Stop) -> None:
        """Wait until an event is due.

        Raises:
            UsageError: It says no time, although the recorded times are asked for.
        """
        if self._rate is not None:
            due = self._count / self._rate
        elif self._speed is not None:
            due = self._recorded(reading) / self._speed
        else:
            return
        self._count += 1
        now = time.monotonic()
        if self._began is None:
            self._began = now
        early = self._began + due - now
        if early > _EARLY_SECONDS:
            stop.wait(early)

    def _recorded(self, reading: Reading) -> float:
        if reading.time is None:
            raise UsageError(
                "the trace says nowhere when its events happened: name the attribute that does "
                "with --time, or give a --rate"
            )
        if not self._count:
            self._first = reading.time
        return max(0.0, (reading.time - self._first) / _MICROS)


def read_pace(rate: str | None, speed: float | None, *, recorded: bool, generated: bool) -> Pace:
    """Return the pace that a command line asks for.

    A file goes at its recorded times, a generator at five events a second, a pipe as it comes.

    Raises:
        UsageError: The rate is none, or there is a speed beside it.
    """
    from heliograph.cli.amounts import read_rate

    if rate is not None and speed is not None:
        raise UsageError("--rate and --speed contradict each other: give one of them")
    if rate == MAX:
        return Pace(None, None)
    if rate is not None:
        found = read_rate(rate)
        if found.bits:
            raise UsageError(f"{rate!r} is a rate of bits: write 25/s, 2/min or 7.2/h, or max")
        return Pace(found.amount, None)
    if speed is not None and generated:
        raise UsageError("a generator has no recorded times: give --rate instead of --speed")
    if generated:
        return Pace(5.0, None)
    return Pace(None, 1.0 if speed is None and recorded else speed)
