from __future__ import annotations

import pytest

from cli.planets import a_planet
from cli.running import heliograph

FEW = ["--events", "500", "--latency-events", "20", "--receivers", "2"]


def test_a_planet_is_started_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HELIOGRAPH_PLANET", raising=False)
    ran = heliograph("bench", *FEW, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert (ran.json["receivers"], ran.json["events"]) == (2, 500)
    assert ran.json["delivered"] + ran.json["dropped"] == 1_000


def test_a_planet_that_is_given_is_measured() -> None:
    with a_planet() as address:
        ran = heliograph("bench", *FEW, "--planet", address)
    assert ran.code == 0
    head, _, row = ran.out.splitlines()
    assert head.split()[:3] == ["receivers", "events", "published/s"]
    assert row.split()[:2] == ["2", "500"]
    assert "40 deliveries at 1,000 events/s" in ran.err


@pytest.mark.parametrize("words", [["--receivers", "0"], ["--events", "none"]])
def test_a_wrong_number_is_a_wrong_command_line(words: list[str]) -> None:
    assert heliograph("bench", *words).code == 2
