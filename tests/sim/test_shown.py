from __future__ import annotations

from heliograph.event.digest import Digest, Part
from heliograph.sim.shown import Taken
from sim.books import digest, events, published, some


def test_events_behind_one_another_are_one_run() -> None:
    taken = Taken("nurse", "pulse", published(40, epochs=2))
    taken.add([events(1, 4), events(5, 9), digest(0, 12, 3), some([14, 17]), events(1, 2, 2)])
    assert taken.lines() == [
        "nurse takes of pulse: 1-9",
        "nurse takes of pulse: digest of 1-12: 3 dropped",
        "nurse takes of pulse: 14-17, 2 of them",
        "nurse takes of pulse: 1-2 of epoch 2",
    ]


def test_a_digest_shows_its_parts() -> None:
    parts = (Part("MEAN", "pulse", 2, 144.5), Part("MAX", "pulse", 2, 80))
    taken = Taken("nurse", "pulse", published(40, epochs=2))
    taken.add([Digest("pulse", 1, 0, 9, 4, 5, None, None, parts, 2)])
    assert taken.lines() == [
        (
            "nurse takes of pulse: digest of 1-9: 4 dropped, 5 filtered, 2 of them in a gap; "
            "MEAN pulse 72.25; MAX pulse 80"
        )
    ]


def test_much_is_cut_short() -> None:
    taken = Taken("nurse", "pulse", published(40, epochs=2))
    for number in range(1, 40, 2):
        taken.add([events(number, number), digest(number, number + 1, 1)])
    lines = taken.lines()
    assert len(lines) == 6
    assert lines[3].endswith("... and 35 more runs and digests")
