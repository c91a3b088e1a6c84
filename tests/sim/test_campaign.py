"""A hundred seeds of mixed faults; thousands more, under two hash seeds, with `make soak`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from heliograph.lane.lane import Lane
from heliograph.sim import campaign as module
from heliograph.sim.campaign import CampaignError, campaign
from heliograph.sim.checkers import check_determinism

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.lane.entry import Entry

# Each case is a few seeds, so that workers share them evenly.
SEEDS = 100
SEEDS_SLOW = 5_000
OFFER = Lane.offer
_CHUNK = 4
_CHUNK_SLOW = 50


@pytest.mark.parametrize("first", range(1, SEEDS + 1, _CHUNK))
def test_seeds_of_mixed_faults(first: int) -> None:
    for seed in range(first, first + _CHUNK):
        assert campaign(seed).published


def run(first: int, count: int, hash_seed: int) -> str:
    """Return a line for each seed, with the hash of its run, from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "heliograph.sim", str(first), "--count", str(count)],
        env=os.environ | {"PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_same_seed_is_the_same_run_under_two_hash_seeds() -> None:
    hash_seeds = iter((1, 2))
    lines = check_determinism(lambda: run(1, 3, next(hash_seeds)))
    assert len({line.rsplit("; ", 1)[1] for line in lines.splitlines()}) == 3


@pytest.mark.slow
@pytest.mark.parametrize("first", range(SEEDS + 1, SEEDS_SLOW + 1, _CHUNK_SLOW))
def test_many_seeds_of_mixed_faults_under_two_hash_seeds(first: int) -> None:
    hash_seeds = iter((1, 2))
    check_determinism(lambda: run(first, _CHUNK_SLOW, next(hash_seeds)))


def test_a_seed_that_fails_names_the_command_and_tells_its_story(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks(*_: object) -> None:
        raise RuntimeError("a core broke")

    monkeypatch.setattr(module, "check_bounds", breaks)
    with pytest.raises(CampaignError) as caught:
        campaign(7)
    words = str(caught.value)
    assert "seed 7 fails: RuntimeError: a core broke" in words
    assert "    python -m heliograph.sim 7\n" in words
    assert "sol       starts" in words


def offer_of(change: Callable[[Lane, Entry, int], None]) -> Callable[[Lane, Entry, int], None]:
    """Return a broken `Lane.offer` that does something else with every fiftieth entry."""
    count = 0

    def broken(self: Lane, entry: Entry, now: int) -> None:
        nonlocal count
        count += 1
        if count % 50:
            OFFER(self, entry, now)
        else:
            change(self, entry, now)

    return broken


def loses(lane: Lane, entry: Entry, now: int) -> None:
    """Forget an entry."""


def doubles(lane: Lane, entry: Entry, now: int) -> None:
    """Put an entry in twice, behind all books."""
    del now
    lane.append(entry)
    lane.append(entry)


def overtakes(lane: Lane, entry: Entry, now: int) -> None:
    """Put an entry before all others."""
    del now
    lane.append(entry)
    lane.entries.rotate(1)


def overfills(lane: Lane, entry: Entry, now: int) -> None:
    """Never pack again."""
    lane.entries_max = lane.bytes_max = 2**60
    OFFER(lane, entry, now)


def first_failure(seeds: range) -> str:
    for seed in seeds:
        try:
            campaign(seed)
        except CampaignError as error:
            return str(error).splitlines()[0]
    return "no seed failed"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (loses, "conservation"),
        (doubles, "order"),
        (overtakes, "order|conservation"),
        (overfills, "bounds"),
    ],
)
def test_a_broken_lane_is_found(
    change: Callable[[Lane, Entry, int], None], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lane, "offer", offer_of(change))
    assert re.search(words, first_failure(range(1, 30)))
