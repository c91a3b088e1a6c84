from __future__ import annotations

import pytest

from heliograph.event.errors import UsageError
from heliograph.sim.quality import QUALITIES, Quality, duration, quality
from heliograph.sim.story import MILLISECOND, SECOND


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("20ms", 20 * MILLISECOND), ("1.5s", 1_500 * MILLISECOND), ("2min", 120 * SECOND)],
)
def test_a_duration_is_read(text: str, wanted: int) -> None:
    assert duration(text) == wanted


@pytest.mark.parametrize("text", ["", "20", "ms", "-1s", "1 s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no duration"):
        duration(text)


def test_a_quality_is_read_by_name_with_changes() -> None:
    assert quality("thin") == QUALITIES["thin"]
    found = quality("thin latency=5ms loss=0.25 down=100000")
    assert (found.latency, found.loss, found.down) == (5 * MILLISECOND, 0.25, 100_000)


@pytest.mark.parametrize("text", ["golden", "thin speed=1"])
def test_an_unknown_quality_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="quality"):
        quality(text)


@pytest.mark.parametrize(("rate", "loss"), [(0, 0.0), (1, 1.0), (1, -0.1)])
def test_a_cable_on_which_nothing_arrives_is_refused(rate: int, loss: float) -> None:
    with pytest.raises(UsageError, match="cable"):
        Quality(1, rate, rate, loss=loss)


def test_a_rate_says_how_long_bytes_take() -> None:
    thin = QUALITIES["thin"]
    assert thin.duration(0, 6_250) == SECOND
    assert thin.window(0) < 7_000
    assert QUALITIES["far"].window(1) > 500_000
