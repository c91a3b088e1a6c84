from __future__ import annotations

import pytest

from heliograph.cli.words import (
    clock,
    counted,
    digest_words,
    drop_words,
    fill,
    level_words,
    pack_words,
    size,
)  # fmt: skip
from heliograph.event.digest import Digest, Part

NOON = 1_700_000_000_000_000  # 22:13:20 UTC.


def test_a_time_is_that_of_the_day() -> None:
    assert clock(NOON + 123_456) == "22:13:20.123"
    assert clock(-1) == "23:59:59.999"


def test_numbers_have_their_nouns() -> None:
    assert (counted(1, "pack"), counted(1_200, "pack")) == ("1 pack", "1,200 packs")
    assert counted(2, "reply", "replies") == "2 replies"


@pytest.mark.parametrize(
    ("amount", "text"), [(7, "7 B"), (2_048, "2.0 KiB"), (3 * 2**20, "3.0 MiB"), (2**31, "2.0 GiB")]
)
def test_sizes(amount: int, text: str) -> None:
    assert size(amount) == text


@pytest.mark.parametrize(
    ("part", "text"), [(0, "0 %"), (0.0001, "0.1 %"), (0.031, "3.1 %"), (0.5, "50 %"), (1, "100 %")]
)
def test_what_is_not_empty_is_never_zero_percent(part: float, text: str) -> None:
    assert fill(part) == text


def test_a_digest_in_words() -> None:
    parts = (
        Part("MEAN", "PulseRate", 3, 228),
        Part("MAX", "PulseRate", 3, 80),
        Part("COUNT", "PulseRate", 3, None),
        Part("MIN", "SpO2", 0, None),
    )
    digest = Digest("s", 1, 11, 15, 3, 1, NOON, NOON + 2_000_000, parts)
    assert digest_words(digest) == (
        "12 to 15: 3 dropped, 1 filtered; 22:13:20.000 to 22:13:22.000; "
        "mean PulseRate 76; max PulseRate 80; count PulseRate 3"
    )


def test_a_gap_is_told() -> None:
    assert (
        digest_words(Digest("s", 1, 0, 9, 9, gap=9)) == "1 to 9: 9 dropped, 9 of them lost in a gap"
    )


def test_levels_and_reasons() -> None:
    assert level_words({"2": 4, "1": 9, "10": 1}, 3) == "level 1: 9, level 2: 4, beyond: 1"
    assert drop_words({}) == "0"
    assert (
        drop_words({"policy": 1_000, "worst": 20}) == "1,020 (levels 1,000, beyond the levels 20)"
    )


def test_what_was_dropped_without_a_pack_here_was_dropped_before() -> None:
    assert pack_words([{"packs": 0}], 5, 0.0, 7).startswith("nothing was packed here: what was")


def test_packs_in_words() -> None:
    lane = {"packs": 3, "levels": {"1": 2, "4": 1}, "top": 3}
    assert pack_words([lane, {"packs": 0}], 5, 0.9) == "3 packs (level 1: 2, beyond: 1)"


@pytest.mark.parametrize(
    ("looks", "most", "text"),
    [
        (0, 0.0, "nothing was packed"),
        (1, 0.0, "nothing was packed: the lane was empty (looked at once)"),
        (9, 0.03, "nothing was packed: the lane was never more than 3 % full (looked at 9 times)"),
    ],
)
def test_why_nothing_was_packed(looks: int, most: float, text: str) -> None:
    assert pack_words([{"packs": 0}], looks, most) == text
