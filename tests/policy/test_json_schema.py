"""The JSON Schema accepts what the document reader accepts, and refuses plain mistakes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import jsonschema
import pytest

from heliograph.event.errors import PolicyError
from heliograph.policy import build
from heliograph.policy.builtin import NEWEST, OLDEST, latest_per
from heliograph.policy.catalogue import FILTERS, FilterKind
from heliograph.policy.document import loads
from heliograph.policy.json_schema import json_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

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


RIGHT: Final[dict[str, Any]] = {
    "value": 1, "low": "a", "high": "b", "values": [1], "pattern": "a", "change": 1, "window": 1,
    "n": 2, "fraction": 0.5, "seed": 1,
}  # fmt: skip
VALUES: Final[list[Any]] = [
    0, 1, -1, 2.5, 3.0, 0.5, 1e300, 10**30, 2**63, 2**63 - 1, "3", "1_0", "\u0665", "", "x",
    "x" * 1_025, True, False, None, [], [1], ["a", True, 2.5], ["x" * 1_025], [[1]], [None], {},
]  # fmt: skip
TEXTS: Final[list[Any]] = [
    "x", "", "_time", "_opaque", "t" * 256, "t" * 257, "keep", "drop", None, [], ["a"], {},
]  # fmt: skip


def filters_of(kind: FilterKind) -> Iterator[dict[str, Any]]:
    """Yield a right filter, and what comes of one of its fields taken away or made another."""
    right = {"name": kind.name, "attribute": "a"}
    right |= {one.name: RIGHT[one.name] for one in kind.parameters}
    yield right
    yield from ({key: right[key] for key in right if key != gone} for gone in right)
    for one in kind.parameters:
        # A pattern is a text however it looks, as names and tags are; an editor may insist on one.
        values = VALUES if one.name != "pattern" else [v for v in VALUES if isinstance(v, str)]
        yield from (right | {one.name: value} for value in values)
    for key in ("attribute", "by", "action", "colour"):
        yield from (right | {key: value} for value in TEXTS)


def reads(document: object) -> bool:
    try:
        loads(json.dumps(document))
    except PolicyError:
        return False
    return True


@pytest.mark.parametrize("kind", FILTERS.values(), ids=lambda kind: kind.name)
def test_the_schema_takes_of_a_filter_what_the_reader_takes(kind: FilterKind) -> None:
    for one in filters_of(kind):
        document = {"levels": [{"filters": [one]}]}
        assert VALIDATOR.is_valid(document) == reads(document), one


UNIQ: Final = {"filters": [{"name": "UNIQ"}]}
GT: Final = {"filters": [{"name": "GT", "value": 1}]}


@pytest.mark.parametrize(
    ("document", "right"),
    [
        ({"levels": [UNIQ]}, False),
        ({"levels": [UNIQ], "attribute": "a"}, True),
        ({"levels": [UNIQ], "attribute": "_time"}, False),
        ({"levels": [{"filters": [{"name": "LATEST", "window": 1}]}]}, True),
        ({"summary": {"digesters": ["MAX"]}}, False),
        ({"summary": {"digesters": [{"name": "MAX"}]}}, False),
        ({"summary": {"digesters": [{"name": "MAX", "attribute": "a"}]}}, True),
        ({"summary": {"digesters": ["COUNT"]}}, True),
        ({"summary": {"digesters": ["MAX"]}, "attribute": "a"}, True),
        ({"attribute": "a", "levels": [GT | {"always": True}, UNIQ]}, True),
        ({"attribute": "a", "levels": [GT | {"always": 1}]}, False),
        ({"attribute": "a", "levels": [GT | {"always": "true"}]}, False),
        ({"attribute": "a", "levels": [UNIQ | {"always": True}]}, False),
        ({"attribute": "a", "levels": [UNIQ | {"always": False}]}, True),
        ({"attribute": "a", "levels": [UNIQ, GT | {"always": True}]}, False),
        ({"attribute": "a", "levels": [UNIQ, GT | {"always": False}]}, True),
    ],
)
def test_the_schema_takes_of_a_policy_what_the_reader_takes(document: object, right: bool) -> None:  # noqa: FBT001 - the expectation
    assert (VALIDATOR.is_valid(document), reads(document)) == (right, right)
