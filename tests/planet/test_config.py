from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from heliograph.event.errors import UsageError
from heliograph.planet.config import PlanetConfig, change_config, read_config
from heliograph.policy.limits import Limits

if TYPE_CHECKING:
    from pathlib import Path


def test_a_planet_runs_without_a_configuration() -> None:
    config = PlanetConfig()
    assert config.limits == Limits(config.lane_entries, config.lane_bytes)
    assert config.beat == 2_000_000_000
    assert config.silence == 3 * config.beat
    assert config.nanoseconds("session") == 300 * 10**9


def test_a_file_names_what_differs(tmp_path: Path) -> None:
    file = tmp_path / "planet.toml"
    file.write_text('name = "north"\nlane_entries = 99\ncontroller = "aim"\n')
    config = read_config(file)
    assert (config.name, config.lane_entries, config.controller) == ("north", 99, "aim")
    assert config.lane_bytes == PlanetConfig().lane_bytes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lane_entrys = 9", "no setting lane_entrys; the settings are name, listen"),
        ("lane_entries = 'many'", "lane_entries: Expected `int`, got `str`"),
        ("lane_entries = ", "planet.toml"),
        ("controller = 'guess'", "controller is ladder or aim, not 'guess'"),
        ("lane_entries = 9", "at least 16"),
        ("lane_bytes = 100", "at least 4096"),
        ("buffer_bytes = 100_000", "holds at least one lane"),
        ("window_bytes = 10", "at least 4096"),
        ("tls_cert = 'x'", "go together"),
        ("heartbeat_seconds = 0", "between 0 and a million"),
        ("session_seconds = 1e9", "between 0 and a million"),
        ("clients_max = 0", "at least 1"),
    ],
)
def test_a_wrong_file_is_refused_in_words(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "planet.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=words):
        read_config(file)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_config(tmp_path / "none.toml")
    file = tmp_path / "planet.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot read"):
        read_config(file)


def test_settings_change_one_by_one() -> None:
    config = change_config(PlanetConfig(name="x"), {"lane_entries": 50})
    assert (config.name, config.lane_entries) == ("x", 50)
    changes: dict[str, Any] = {"lane_entries": 1}
    with pytest.raises(UsageError, match="at least 16"):
        change_config(config, changes)
