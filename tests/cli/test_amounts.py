from __future__ import annotations

import pytest

from heliograph.cli.amounts import read_capacity, read_rate
from heliograph.event.errors import UsageError


@pytest.mark.parametrize(
    ("text", "amount", "bits"),
    [
        ("25", 25, False),
        ("25/s", 25, False),
        (" 2.5/S ", 2.5, False),
        ("2/min", 2 / 60, False),
        ("7.2/h", 0.002, False),
        ("50kbit", 50_000, True),
        ("50 kbit/s", 50_000, True),
        ("9600bit", 9_600, True),
        ("60kbit/min", 1_000, True),
        ("1Mbit", 1_000_000, True),
    ],
)
def test_a_rate_is_entries_or_bits_a_second(text: str, amount: float, *, bits: bool) -> None:
    rate = read_rate(text)
    assert rate.amount == pytest.approx(amount)
    assert rate.bits == bits


@pytest.mark.parametrize(
    "text", ["", "fast", "25/m", "-1/s", "3 knots", "1e3", "25kB/s", "nan", "inf", "25/s/s", "٣/s"]
)
def test_another_rate_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"write 25/s, 2/min or 7\.2/h for entries, or 50kbit"):
        read_rate(text)


@pytest.mark.parametrize("text", ["0", "0.0/s", "0kbit"])
def test_a_rate_at_which_nothing_leaves_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="a rate is above 0"):
        read_rate(text)


@pytest.mark.parametrize(
    ("text", "entries", "size"),
    [
        ("256", 256, None),
        ("64KiB", None, 65_536),
        ("64kb", None, 64_000),
        ("4000B", None, 4_000),
        ("1.5MiB", None, 1_572_864),
    ],
)
def test_a_capacity_is_entries_or_bytes(text: str, entries: int | None, size: int | None) -> None:
    limits = read_capacity(text)
    assert (limits.entries, limits.bytes) == (entries, size)


@pytest.mark.parametrize("text", ["", "big", "2.5", "64/s", "3 boxes", "-5", "64kbit"])
def test_another_capacity_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="write 256 for entries, or 64KiB for bytes"):
        read_capacity(text)


@pytest.mark.parametrize("text", ["9" * 400, "9" * 5_000, "0." + "0" * 330 + "1"])
def test_an_amount_beyond_all_measure_is_refused(text: str) -> None:
    """It would come out as infinite, as nothing, or as a number that Python will not read."""
    with pytest.raises(UsageError):
        read_rate(text)
    with pytest.raises(UsageError):
        read_capacity(text)
