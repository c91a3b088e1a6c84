from __future__ import annotations

from typing import TYPE_CHECKING

from heliograph.sim import __main__ as module
from heliograph.sim.campaign import CampaignError

if TYPE_CHECKING:
    import pytest


def test_one_seed_tells_its_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert module.main(["3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "sol       starts" in lines[0]
    assert any("everything heals" in line for line in lines)
    assert lines[-1].startswith("seed 3: ")


def test_several_seeds_are_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert module.main(["3", "--count", "2"]) == 0
    assert [line[:7] for line in capsys.readouterr().out.splitlines()] == ["seed 3:", "seed 4:"]


def test_a_seed_that_fails_fails_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(seed: int, hear: object = None) -> None:
        del hear
        raise CampaignError(f"seed {seed} fails")

    monkeypatch.setattr(module, "campaign", fails)
    assert module.main(["3"]) == 1
    assert capsys.readouterr().err == "error: seed 3 fails"
