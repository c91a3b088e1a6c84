"""Generators: made-up sensors, for those who have none at hand."""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# How often a patient is unwell, and for how many readings.
_UNWELL: Final = 0.004
_UNWELL_READINGS: Final = (20, 60)
_HIGH: Final = 128.0
_REST: Final = 76.0
_ROOMS: Final = ("kitchen", "bath", "attic", "cellar")
_LANES: Final = ("north", "south")


def pulse(random: Random) -> Iterator[dict[str, Any]]:
    """A patient: a pulse that wanders around 76, and now and then is far too high."""
    rate, left = _REST, 0
    while True:
        if not left and random.random() < _UNWELL:
            left = random.randint(*_UNWELL_READINGS)
        left = max(0, left - 1)
        rate += 0.12 * ((_HIGH if left else _REST) - rate) + random.gauss(0, 1.2)
        yield {"PulseRate": round(rate), "Patient": "p-7"}


def temperature(random: Random) -> Iterator[dict[str, Any]]:
    """Four rooms in turn: degrees that go up and down slowly, and their humidity."""
    reading = 0
    while True:
        place = reading % len(_ROOMS)
        wave = math.sin(reading / 200 + place)
        yield {
            "Room": _ROOMS[place],
            "Celsius": round(19 + 2 * place - 0.5 * place**2 + wave + random.gauss(0, 0.1), 2),
            "Humidity": round(52 - 6 * wave + random.gauss(0, 0.5), 1),
        }
        reading += 1


def traffic(random: Random) -> Iterator[dict[str, Any]]:
    """A road: each car with its speed, its length, and whether it is a lorry."""
    while True:
        lorry = random.random() < 0.15  # noqa: PLR2004 - a made-up road
        speed = random.gauss(82, 5) if lorry else random.gauss(108, 14)
        yield {
            "Lane": random.choice(_LANES),
            "Speed": round(speed, 1),
            "Length": round(random.uniform(8, 18) if lorry else random.uniform(3.4, 5.2), 1),
            "Lorry": lorry,
        }


GENERATORS: Final[dict[str, Callable[[Random], Iterator[dict[str, Any]]]]] = {
    "pulse": pulse,
    "temperature": temperature,
    "traffic": traffic,
}


def generate(name: str, seed: int) -> Iterator[dict[str, Any]]:
    """Return the readings of a generator; the same seed gives the same readings."""
    return GENERATORS[name](Random(seed))  # noqa: S311 - made-up sensors guard nothing
