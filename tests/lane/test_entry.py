from __future__ import annotations

from heliograph.event.digest import BOOKKEEPING_BYTES, Part
from heliograph.lane.entry import MARKER_BYTES, Entry, Marker
from lane.lanes import digest, events, some


def test_an_entry_of_a_block_counts_its_events() -> None:
    block = some(3, 4, 9, epoch=2)
    entry = Entry(block)
    assert (entry.epoch, entry.first, entry.last, entry.count) == (2, 3, 9, 3)
    assert entry.size == block.size == len(block.body) + len(block.presence) + 288
    assert entry.item is block


def test_an_entry_of_a_digest_counts_once_and_stands_behind_what_it_settles() -> None:
    entry = Entry(digest(3, 9, 4, epoch=2))
    assert (entry.epoch, entry.first, entry.last, entry.count) == (2, 9, 9, 1)
    assert entry.size == BOOKKEEPING_BYTES
    entry = Entry(digest(0, 5, 5, parts=(Part("MAX", "a", 5, "x" * 40),)))
    assert entry.size == BOOKKEEPING_BYTES + 40


def test_an_entry_of_a_marker_counts_too() -> None:
    entry = Entry(Marker(2, 9))
    assert (entry.epoch, entry.first, entry.last, entry.count) == (2, 9, 9, 1)
    assert entry.size == MARKER_BYTES


def test_entries_are_placed_by_epoch_and_then_by_their_first_number() -> None:
    found = [Entry(one) for one in (events(9, 9), events(1, 8, epoch=2), digest(0, 4, 1))]
    assert [one.place for one in found] == [(1, 9), (2, 1), (1, 4)]
    assert sorted(found, key=lambda one: one.place) == [found[2], found[0], found[1]]


def test_a_frame_is_empty_until_a_link_makes_it() -> None:
    entry = Entry(events(1, 2))
    assert entry.frame == b""
    entry.frame = b"frame"
    assert entry.frame == b"frame"
