"""The JSON Schema of policy documents, made from the catalogue; one schema for YAML and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heliograph.event.schema import RESERVED, TAG_CHARS_MAX
from heliograph.event.types import INT64_MAX
from heliograph.policy.catalogue import DIGESTERS, FILTERS, Action, FilterKind, Shape
from heliograph.policy.element import (
    DIGESTERS_MAX,
    FILTERS_MAX,
    LEVELS_MAX,
    VALUE_CHARS_MAX,
    VALUES_MAX,
)
from heliograph.policy.model import Each, Rest
from heliograph.policy.setting import ACTING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heliograph.policy.catalogue import DigesterKind

_TAG: Final = {
    "type": "string",
    "minLength": 1,
    "maxLength": TAG_CHARS_MAX,
    "not": {"enum": list(RESERVED)},
}
_LITERAL: Final = {"type": ["number", "string", "boolean"], "maxLength": VALUE_CHARS_MAX}
_SHAPES: Final[dict[Shape, dict[str, Any]]] = {
    Shape.LITERAL: _LITERAL,
    Shape.LITERALS: {"type": "array", "items": _LITERAL, "maxItems": VALUES_MAX},
    Shape.NUMBER: {"type": "number", "exclusiveMinimum": 0},
    Shape.COUNT: {"type": "integer", "minimum": 1, "maximum": INT64_MAX},
    Shape.FRACTION: {"type": "number", "minimum": 0, "maximum": 1},
    Shape.SEED: {"type": "integer", "minimum": 0, "maximum": INT64_MAX},
    Shape.PATTERN: {"type": "string", "maxLength": VALUE_CHARS_MAX},
}


def _filter(kind: FilterKind) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": {"const": kind.name}, "attribute": _TAG}
    for one in kind.parameters:
        fields[one.name] = _SHAPES[one.shape] | {"description": one.shape.value}
        if one.shape is Shape.LITERALS and kind.name in ACTING:
            fields[one.name]["minItems"] = 1
    if kind.by:
        fields["by"] = _TAG | {"description": "run separately per value of this tag"}
    if kind.action is not None:
        choices = [str(one) for one in Action]
        fields["action"] = {"enum": choices, "default": str(kind.action)}
    return {
        "type": "object",
        "description": f"Of the events whose attribute is present: {kind.selects}.",
        "properties": fields,
        "required": ["name", *(one.name for one in kind.parameters if one.required)],
        "additionalProperties": False,
    }


def _level() -> dict[str, Any]:
    always = {"properties": {"always": {"const": True}}, "required": ["always"]}
    alone = [kind.name for kind in FILTERS.values() if kind.alone]
    return {
        "type": "object",
        "properties": {
            "always": {"type": "boolean", "description": "first level only: run on every event"},
            "filters": {
                "type": "array",
                "minItems": 1,
                "maxItems": FILTERS_MAX,
                "items": {"oneOf": [_filter(kind) for kind in FILTERS.values()]},
            },
        },
        "required": ["filters"],
        "additionalProperties": False,
        "if": always,
        "then": {
            "properties": {"filters": {"items": {"properties": {"name": {"enum": alone}}}}},
        },
    }


def _summary() -> dict[str, Any]:
    digesters = [
        {
            "type": "object",
            "description": kind.says,
            "properties": {"name": {"const": kind.name}, "attribute": _TAG},
            "required": ["name"],
            "additionalProperties": False,
        }
        for kind in DIGESTERS.values()
    ]
    return {
        "type": "object",
        "properties": {
            "each": {"enum": [str(one) for one in Each], "default": str(Each.PACK)},
            "digesters": {
                "type": "array",
                "maxItems": DIGESTERS_MAX,
                "items": {"oneOf": [{"enum": list(DIGESTERS)}, *digesters]},
            },
        },
        "additionalProperties": False,
    }


def _own(kinds: Mapping[str, FilterKind | DigesterKind]) -> dict[str, Any]:
    """Return that each which needs an attribute names its own; its name alone is not enough."""
    needy = {"enum": [name for name, kind in kinds.items() if kind.needs_attribute]}
    return {
        "not": needy,
        "if": {"properties": {"name": needy}, "required": ["name"]},
        "then": {"required": ["attribute"]},
    }


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a policy document."""
    own = {
        "levels": {"items": {"properties": {"filters": {"items": _own(FILTERS)}}}},
        "summary": {"properties": {"digesters": {"items": _own(DIGESTERS)}}},
    }
    later = {"prefixItems": [True], "items": {"properties": {"always": {"const": False}}}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Heliograph policy",
        "description": "What a receiver allows to be dropped, and how it is summarised.",
        "type": "object",
        "properties": {
            "attribute": _TAG | {"description": "of all filters and digesters that name none"},
            "levels": {
                "type": "array", "maxItems": LEVELS_MAX, "items": _level(), "allOf": [later],
            },
            "summary": _summary(),
            "rest": {
                "enum": [str(one) for one in Rest],
                "default": str(Rest.NOTHING),
                "description": "what is left when no level frees enough",
            },
        },
        "additionalProperties": False,
        "if": {"not": {"required": ["attribute"]}},
        "then": {"properties": own},
    }  # fmt: skip
