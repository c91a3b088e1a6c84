"""The ends of a real thin link, short and with a link that is less thin, so that it fills soon."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from heliograph.experiments import namespaces, thin_real
from heliograph.experiments.bulk import Goodput
from heliograph.experiments.load import capacity, levels
from heliograph.experiments.namespaces import Namespace, ThinLink, joined
from heliograph.experiments.thin_ends import FarJob, Got, NearJob, Seen
from heliograph.experiments.thin_link import QUEUES
from heliograph.experiments.thin_table import Prompt

if TYPE_CHECKING:
    from collections.abc import Iterator

REASON = namespaces.unavailable()
needs_namespaces = pytest.mark.skipif(bool(REASON), reason=REASON or "namespaces work here")


@contextmanager
def fake_ends(_: ThinLink) -> Iterator[tuple[Namespace, Namespace]]:
    yield Namespace("near", "10.0.0.1"), Namespace("far", "10.0.0.2")


@needs_namespaces
def test_a_stream_over_a_real_thin_link_is_packed_and_every_event_is_accounted_for() -> None:
    with joined(ThinLink(rate=40_000)) as ends:
        near = NearJob(ends[0].address, 3.0, capacity(16), linger=4.0)
        policy = json.dumps(levels().document())
        far = FarJob(ends[0].address, 0, [policy], 0.0, requests=True)
        seen, got = thin_real.run(ends, near, far)
    assert len(seen.published) == 100
    assert seen.packs
    numbers = [number for _, _, number in got.events[0]]
    assert numbers == sorted(set(numbers))
    assert len(numbers) + got.counted[0] == 100
    assert got.answers
    assert max(size for _, size in seen.under_way) < 8_192


@needs_namespaces
def test_an_end_that_fails_is_told_with_what_it_said() -> None:
    near, far = NearJob("192.0.2.1", 1.0, capacity(16)), FarJob("192.0.2.1", 0, [], 1.0)
    with joined() as ends, pytest.raises(thin_real.EndError, match="did not start"):
        thin_real.run(ends, near, far)


def test_only_what_is_before_the_stop_says_how_prompt_a_link_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = Seen(under_way=[(1, 900), (11, 2_000)], silent=[(1, 0.2), (11, 4.0)])
    got = Got(
        silent=[(2, 0.3), (12, 5.0)], asked=3, answers=[0.1, 0.2], stopped=(10, 20), inbox=1_000
    )
    monkeypatch.setattr(thin_real, "joined", fake_ends)
    monkeypatch.setattr(thin_real, "run", lambda *_: (seen, got))
    found = thin_real.probe(QUEUES[1], capacity(16), 60.0, 4.0, seed=1)
    assert found == Prompt([0.1, 0.2], 0.3, 2_000, 1)


def test_what_neither_came_nor_was_counted_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(published=list(range(1, 11)), packs=[(at, 1, 0.5) for at in range(2, 11)])
    got = Got(events=[[(at, at, at) for at in range(1, 8)]], digests=[[(9, 30)]], counted=[2])
    monkeypatch.setattr(thin_real, "joined", fake_ends)
    monkeypatch.setattr(thin_real, "goodput", lambda *_: Goodput(6_000, 1.0))
    monkeypatch.setattr(thin_real, "run", lambda *_: (seen, got))
    found = thin_real.measure(QUEUES[1], capacity(16), 60.0, 1.0, 1)
    assert (found.missing, found.bulk) == (1, 48_000)
