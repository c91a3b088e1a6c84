"""The ends of a real thin link, short and with a link that is less thin, so that it fills soon."""

from __future__ import annotations

import json

import pytest

from heliograph.experiments import namespaces, thin_real
from heliograph.experiments.load import capacity, levels
from heliograph.experiments.namespaces import ThinLink, joined
from heliograph.experiments.thin_ends import FarJob, NearJob

REASON = namespaces.unavailable()
needs_namespaces = pytest.mark.skipif(bool(REASON), reason=REASON or "namespaces work here")


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
