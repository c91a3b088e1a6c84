"""A client's settings."""

from __future__ import annotations

import pytest

from heliograph.client.config import ClientConfig
from heliograph.policy.limits import BYTES_MIN, ENTRIES_MIN


@pytest.mark.parametrize(
    ("entries", "size", "wanted"),
    [
        (0, 0, (100, 10_000)),
        (50, 0, (50, 10_000)),
        (0, 5_000, (100, 5_000)),
        (1_000, 1_000_000, (100, 10_000)),
        (1, 1, (ENTRIES_MIN, BYTES_MIN)),
    ],
)
def test_a_receiver_may_want_less_than_an_inbox_holds_and_never_more(
    entries: int, size: int, wanted: tuple[int, int]
) -> None:
    limits = ClientConfig(inbox_entries=100, inbox_bytes=10_000).inbox_within(entries, size)
    assert (limits.entries, limits.bytes) == wanted


def test_a_sender_holds_what_its_settings_say() -> None:
    limits = ClientConfig(sender_entries=7, sender_bytes=700).sender_limits
    assert (limits.entries, limits.bytes) == (7, 700)
