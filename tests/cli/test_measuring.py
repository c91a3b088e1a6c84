from __future__ import annotations

import asyncio

from cli.planets import a_planet
from heliograph.cli.measuring import measure


def test_what_is_published_is_received_by_each() -> None:
    with a_planet() as address:
        found = asyncio.run(measure(address, None, receivers=3, events=700, latency_events=30))
    assert (found.receivers, found.events) == (3, 700)
    assert found.delivered + found.dropped == 3 * 700
    assert found.latency_events == 3 * 30
    assert 0 < found.latency_p50 <= found.latency_p99 <= found.latency_max
    assert found.document()["receivers"] == 3
