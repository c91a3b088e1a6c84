"""The JSON Schema accepts what the document reader accepts, and refuses plain mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jsonschema
import pytest

from heliograph.policy import build
from heliograph.policy.builtin import NEWEST, OLDEST, latest_per
from heliograph.policy.json_schema import json_schema

if TYPE_CHECKING:
    from heliograph.policy.model import Policy

VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize(
    "policy",
    [
        NEWEST,
        OLDEST,
        latest_per("room"),
        build.policy(
            "x", build.delta(1, by="p"), [build.inset([1, "a"]), build.random(0.1, seed=3)],
            build.every(2, action="drop"), always=build.match("a"),
            summary=[build.digester("MAX"), build.digester("QUANTILES", "y")], each="run",
        ),
    ],
)  # fmt: skip
def test_canonical_documents_are_valid(policy: Policy) -> None:
    VALIDATOR.validate(policy.document())


@pytest.mark.parametrize(
    "document",
    [
        {"levels": [{"filters": []}]},
        {"levels": [{"filters": [{"name": "DLTA", "change": 1}]}]},
        {"levels": [{"filters": [{"name": "DELTA"}]}]},
        {"levels": [{"filters": [{"name": "DELTA", "change": 0}]}]},
        {"levels": [{"filters": [{"name": "GT", "value": 1, "by": "p"}]}]},
        {"levels": [{"filters": [{"name": "UNIQ", "action": "keep"}]}]},
        {"summary": {"each": "event"}},
        {"rest": "some"},
        {"level": []},
    ],
)
def test_mistakes_are_not(document: object) -> None:
    assert not VALIDATOR.is_valid(document)
