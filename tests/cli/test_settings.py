from __future__ import annotations

import tomllib

import pytest

from heliograph.cli.settings import explained, read_settings, template
from heliograph.event.errors import UsageError
from heliograph.planet.config import PlanetConfig

FIELDS = PlanetConfig.__struct_fields__


def test_every_field_is_explained() -> None:
    assert tuple(explained()) == FIELDS
    assert all(len(text) > 20 and text.endswith(".") for text in explained().values())


def test_the_template_is_toml_that_changes_nothing() -> None:
    text = template(PlanetConfig())
    assert tomllib.loads(text) == {}
    lines = [line.removeprefix("#") for line in text.splitlines() if "# " not in line[:2]]
    assert PlanetConfig(**tomllib.loads("\n".join(lines))) == PlanetConfig()


def test_what_was_changed_stands_without_a_comment_mark() -> None:
    config = PlanetConfig(name="sol", lane_entries=256)
    found = tomllib.loads(template(config, ["name", "lane_entries"]))
    assert found == {"name": "sol", "lane_entries": 256}


def test_settings_are_read_as_toml_or_as_words() -> None:
    texts = ["lane_entries=256", "controller = aim", 'name="a b"', "drain_seconds=0.5"]
    assert read_settings(texts) == {
        "lane_entries": 256, "controller": "aim", "name": "a b", "drain_seconds": 0.5,
    }  # fmt: skip


@pytest.mark.parametrize("text", ["lane_entries", "=3"])
def test_a_setting_without_a_name_or_value_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="write NAME=VALUE"):
        read_settings([text])
