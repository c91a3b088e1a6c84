"""A planet's status becomes metrics that Prometheus can read, drops labelled by reason."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from heliograph.net.metrics import METRICS, render
from heliograph.planet.config import PlanetConfig
from heliograph.planet.planet import Planet

LINE = re.compile(r'heliograph_[a-z_]+(\{[a-z]+="[^"]*(\\"[^"]*)*"\})? -?[0-9.e+-]+')


@pytest.fixture
def status() -> dict[str, Any]:
    planet = Planet(PlanetConfig(), rng=random.Random(1), now=0)
    return planet.status(2_500_000_000) | {"links": {"accepted": 3, "refused": 1}}


def test_the_status_of_a_planet_has_every_metric(status: dict[str, Any]) -> None:
    text = render(status)
    for metric in METRICS:
        assert f"# HELP heliograph_{metric.name} {metric.help}\n" in text
        assert f"# TYPE heliograph_{metric.name} {metric.kind}\n" in text
        assert metric.kind in ("gauge", "counter")
        assert metric.name.endswith("_total") == (metric.kind == "counter")
    assert "heliograph_uptime_seconds 2.5\n" in text
    assert "heliograph_links_refused_total 1\n" in text
    assert 'heliograph_clients{state="attached"} 0\n' in text


def test_every_line_is_a_sample_or_a_comment(status: dict[str, Any]) -> None:
    status["events"]["dropped"] = {"level 1": 3, 'a "quoted"\nreason\\': 4}
    lines = render(status).splitlines()
    samples = [line for line in lines if not line.startswith("# ")]
    assert [line for line in samples if not LINE.fullmatch(line)] == []
    assert 'heliograph_events_dropped_total{reason="level 1"} 3' in samples
    assert r'heliograph_events_dropped_total{reason="a \"quoted\"\nreason\\"} 4' in samples


def test_clients_are_counted_by_their_state_and_the_fullest_lane_shows(
    status: dict[str, Any],
) -> None:
    status["counts"] |= {"attached": 2, "detached": 1}
    status["lanes"] = [{"fill": 0.9}, {"fill": 0.2}]
    text = render(status)
    assert 'heliograph_clients{state="attached"} 2\n' in text
    assert 'heliograph_clients{state="detached"} 1\n' in text
    assert "heliograph_lane_fill_max 0.9\n" in text
