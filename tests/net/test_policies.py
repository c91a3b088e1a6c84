"""A policy is given as people have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from heliograph.event.errors import PolicyError
from heliograph.net.policies import read_policy
from heliograph.policy import build
from heliograph.policy.builtin import NEWEST, latest_per
from heliograph.policy.model import Policy

if TYPE_CHECKING:
    from pathlib import Path

PULSE = build.policy("PulseRate", build.within(50, 100))
YAML = """\
attribute: PulseRate
levels:
  - filters: [{name: WITHIN, low: 50, high: 100}]
"""
JSON = (
    '{"attribute": "PulseRate", '
    '"levels": [{"filters": [{"name": "WITHIN", "low": 50, "high": 100}]}]}'
)


def test_a_policy_stays_itself() -> None:
    assert read_policy(PULSE) is PULSE


def test_none_is_the_worst_case_only() -> None:
    assert read_policy(None) is None


@pytest.mark.parametrize("document", [YAML, JSON])
def test_a_document_is_read(document: str) -> None:
    found = read_policy(document)
    assert isinstance(found, Policy)
    assert found.identity == PULSE.identity


def test_a_file_is_read_by_its_path_or_its_name(tmp_path: Path) -> None:
    path = tmp_path / "pulse.yaml"
    path.write_text(YAML)
    for given in (path, str(path)):
        found = read_policy(given)
        assert isinstance(found, Policy)
        assert found.identity == PULSE.identity


def test_a_builtin_policy_is_named() -> None:
    assert read_policy("newest") == NEWEST
    assert read_policy("latest-per patient") == latest_per("patient")


@pytest.mark.parametrize(
    ("given", "words"),
    [("no-such", "there is no file 'no-such', nor a built-in"), (7, "a built-in name, not int")],
)
def test_what_is_no_policy_is_refused_with_what_could_be(given: Any, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        read_policy(given)
