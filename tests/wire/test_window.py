"""The window holds what a link carries in a while, opens in good parts, and does not starve."""

from __future__ import annotations

from collections import deque

from heliograph.wire.window import HORIZON, TRIP_MAX, WINDOW_BEGIN, WINDOW_MIN, Window

MAX = 2**20
MILLISECOND = 1_000_000
SECOND = 1_000_000_000


def greedy(rate: int, trip: int, seconds: int, frame: int = 250) -> tuple[Window, int, list[int]]:
    """Send all that the window lets through over a link; return it, what came, and the packets."""
    window, now, free_at, came = Window(MAX), 0, 0, 0
    coming: deque[tuple[int, int]] = deque()  # When the cursor of a packet is back, and its size.
    packets: list[int] = []
    while now < seconds * SECOND:
        size, room = 0, window.room()
        while size < room:
            size += frame
        if size:
            window.send(size, now)
            packets.append(size)
            while size:
                told = min(size, 1_460)
                free_at = max(free_at, now) + told * SECOND // rate
                coming.append((free_at + trip, told))
                size -= told
            continue
        assert coming, "the window is shut, and nothing is under way that could open it"
        now, size = coming.popleft()
        came += size
        window.ack(size, now)
    return window, came, packets


def test_a_window_begins_small() -> None:
    assert Window(MAX).room() == WINDOW_BEGIN
    assert Window(1_000).room() == 1_000


def test_a_thin_link_is_kept_busy_by_little() -> None:
    window, came, _ = greedy(6_250, 40 * MILLISECOND, 60)
    assert window.limit == WINDOW_MIN
    assert came > 0.97 * 6_250 * 60


def test_a_thin_link_gets_few_large_packets() -> None:
    _, _, packets = greedy(6_250, 40 * MILLISECOND, 60)
    steady = packets[10:]
    assert sum(steady) / len(steady) >= 1_000


def test_a_fast_link_gets_a_large_window() -> None:
    window, came, _ = greedy(10_000_000, MILLISECOND, 10)
    assert window.limit == MAX
    assert came > 0.9 * 10_000_000 * 10


def test_a_long_link_is_not_starved() -> None:
    for trip in (200, 400, 800):
        window, came, _ = greedy(1_000_000, trip * MILLISECOND, 60)
        assert abs(window.trip - trip * MILLISECOND) < 30 * MILLISECOND
        assert came > 0.7 * min(1_000_000, MAX * 1_000 // trip) * 60


def test_a_used_up_window_opens_when_a_third_is_free() -> None:
    window = Window(WINDOW_MIN)
    window.send(WINDOW_MIN, 0)
    assert window.room() == 0
    window.ack(600, 1)
    assert window.room() == 0
    window.ack(100, 2)
    assert window.room() == 700


def test_an_open_window_opens_for_half_at_most() -> None:
    window = Window(WINDOW_MIN)
    window.send(WINDOW_MIN, 0)
    window.ack(1_500, 1)
    assert window.under_way == 548
    assert window.room() == WINDOW_MIN // 2


def test_an_empty_window_is_open() -> None:
    window = Window(WINDOW_MIN)
    window.send(WINDOW_MIN, 0)
    window.ack(WINDOW_MIN, SECOND)
    assert window.room() == window.limit


def test_a_receiver_that_stood_still_makes_no_long_link() -> None:
    window = Window(MAX)
    window.send(100, 0)
    window.ack(100, 30 * MILLISECOND)
    window.send(100, SECOND)
    window.ack(100, 60 * SECOND)
    assert window.trip == 60 * MILLISECOND


def test_a_link_that_gets_slower_is_believed_after_some_rounds() -> None:
    window, _, _ = greedy(1_000_000, 10 * MILLISECOND, 5)
    before = window.limit
    now = 10 * SECOND
    while window.under_way:
        window.ack(window.under_way, now)
    for _ in range(60):
        room = window.room()
        window.send(room, now)
        now += room * SECOND // 10_000
        window.ack(room, now)
    assert window.limit < before // 10


def test_a_new_connection_begins_small_again() -> None:
    window, _, _ = greedy(10_000_000, MILLISECOND, 10)
    window.send(window.room(), 0)
    window.reset()
    assert not window.shut
    assert window.limit <= MAX // 4
    assert window.trip == 0


def test_the_trip_has_a_bound() -> None:
    window = Window(MAX)
    window.send(100, 0)
    window.ack(100, 60 * SECOND)
    assert window.trip == TRIP_MAX
    assert HORIZON < TRIP_MAX


def test_a_limit_that_was_too_high_comes_down_though_the_socket_takes_less() -> None:
    rate, takes = 6_250, 40_000
    window, now, free_at = Window(MAX), 0, 0
    window.limit = window.burst = 65_536
    window.rate = 5 * 65_536.0
    coming: deque[tuple[int, int]] = deque()
    while now < 120 * SECOND:
        while min(window.room(), takes - window.under_way) >= 1_460:
            window.send(1_460, now)
            free_at = max(free_at, now) + 1_460 * SECOND // rate
            coming.append((free_at + 40 * MILLISECOND, 1_460))
        now, size = coming.popleft()
        window.ack(size, now)
    assert window.limit < 8_192
