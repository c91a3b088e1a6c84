from __future__ import annotations

import pytest

from heliograph.cli.origins import Reading
from heliograph.cli.pacing import Pace, read_pace
from heliograph.cli.stopping import Stop
from heliograph.event.errors import UsageError


class Waits(Stop):
    """Notes how long it is waited for, and lets no time pass."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)


def waited(pace: Pace, *times: int | None) -> list[float]:
    stop = Waits()
    for time in times:
        pace.wait(Reading({}, time), stop)
    return stop.waited


def test_a_rate_is_kept_from_the_first_event_on() -> None:
    found = waited(Pace(0.1, None), None, None, None)
    assert found == pytest.approx([10, 20], abs=5)


def test_recorded_times_are_kept_at_a_speed() -> None:
    found = waited(Pace(None, 2.0), 7_000_000, 7_000_000, 107_000_000)
    assert found == pytest.approx([50], abs=5)


def test_a_time_that_goes_back_is_due_at_once() -> None:
    assert waited(Pace(None, 1.0), 100_000_000, 5_000_000) == []


def test_without_rate_and_speed_nothing_waits() -> None:
    pace = Pace(None, None)
    assert not pace.waits
    assert waited(pace, None, 5, 10**15) == []


def test_recorded_times_need_times() -> None:
    with pytest.raises(UsageError, match=r"--time, or give a --rate"):
        waited(Pace(None, 1.0), None)


def test_a_file_goes_at_its_times_a_generator_at_five_a_second_a_pipe_as_it_comes() -> None:
    assert waited(read_pace(None, None, recorded=True, generated=False), 0, 10**9) == pytest.approx(
        [1_000], abs=5
    )
    assert read_pace(None, None, recorded=True, generated=True).waits
    assert not read_pace(None, None, recorded=False, generated=False).waits
    assert not read_pace("max", None, recorded=True, generated=False).waits
    assert read_pace(None, 3.0, recorded=False, generated=False).waits


@pytest.mark.parametrize(
    ("rate", "speed", "said"),
    [
        ("25/s", 2.0, "contradict each other"),
        ("50kbit", None, "is a rate of bits"),
        ("fast", None, "is no rate"),
        (None, 2.0, "give --rate instead"),
    ],
)
def test_contradictions_are_refused(rate: str | None, speed: float | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_pace(rate, speed, recorded=False, generated=True)
