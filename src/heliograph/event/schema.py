"""Schema: the attributes that all events of a stream share, declared or inferred.

A schema only grows: it may gain attributes and widen int64 to float64, nothing else. So the newest
version reads everything older, and `at` gives back any older version; blocks need only a number.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.errors import EventError, UsageError
from heliograph.event.types import WIDER, Type, fit, infer

if TYPE_CHECKING:
    from collections.abc import Mapping

ATTRIBUTES_MAX: Final = 1_024  # More columns than that are rows in disguise.
TAG_CHARS_MAX: Final = 256
# All tags together. A schema is sent ahead of data, and must not hold up a thin link.
TAGS_BYTES_MAX: Final = 32_768
OPAQUE: Final = "_opaque"
# Positions and times stand beside attributes in tables and files, under these names.
RESERVED: Final = ("_stream", "_epoch", "_number", "_time", "_digest")


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: its tag, its type, and the versions in which it came and was widened."""

    tag: str
    type: Type
    since: int = 1
    widened: int = 0


@dataclass(frozen=True)
class Schema:
    """The attributes of a stream, in the order in which they came."""

    attributes: tuple[Attribute, ...] = ()
    declared: bool = False
    version: int = 1

    def __post_init__(self) -> None:
        """Refuse what no stream may have: too many attributes, a tag twice, a reserved tag."""
        if len(self.attributes) > ATTRIBUTES_MAX:
            raise EventError(f"a schema has at most {ATTRIBUTES_MAX} attributes")
        if len(self.index) != len(self.attributes):
            raise EventError("a schema has each tag once")
        for attribute in self.attributes:
            check_tag(attribute.tag)
        if self.tags_bytes > TAGS_BYTES_MAX:
            raise EventError(f"the tags of a schema have at most {TAGS_BYTES_MAX} bytes together")

    @classmethod
    def declare(cls, types: Mapping[str, Type | str]) -> Schema:
        """Return a declared schema, as in `Schema.declare({"PulseRate": "int64"})`."""
        try:
            pairs = [(tag, Type(kind)) for tag, kind in types.items()]
        except ValueError as error:
            known = ", ".join(kind.value for kind in Type)
            raise UsageError(f"{error}; the types are {known}") from None
        return cls(tuple(Attribute(tag, kind) for tag, kind in pairs), declared=True)

    @cached_property
    def index(self) -> dict[str, int]:
        """Where each tag stands in a row."""
        return {attribute.tag: place for place, attribute in enumerate(self.attributes)}

    @cached_property
    def types(self) -> tuple[Type, ...]:
        """The types, in the order of the attributes."""
        return tuple(attribute.type for attribute in self.attributes)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags, in the order of the attributes."""
        return tuple(self.index)

    @cached_property
    def tags_bytes(self) -> int:
        """How many bytes the tags have together."""
        return sum(len(tag.encode(errors="replace")) for tag in self.index)

    @cached_property
    def converts(self) -> bool:
        """Whether values of some attribute are stored as something else: times are."""
        return any(kind.element is Type.TIMESTAMP for kind in self.types)

    def type_of(self, tag: str) -> Type | None:
        """Return the type of an attribute, or None where the schema has none of that tag."""
        place = self.index.get(tag)
        return None if place is None else self.types[place]

    def at(self, version: int) -> Schema:
        """Return the schema as it was at an older version."""
        if version == self.version:
            return self
        if not 0 < version < self.version:
            raise EventError(f"schema version {version} is not known, the newest is {self.version}")
        narrow = {wide: slim for slim, wide in WIDER.items()}
        old = (
            replace(one, type=narrow[one.type], widened=0) if one.widened > version else one
            for one in self.attributes
            if one.since <= version
        )
        return Schema(tuple(old), self.declared, version)

    def evolve(self, types: Mapping[str, Type]) -> Schema:
        """Return the next version: with attributes added, and int64 widened to float64.

        Raises:
            EventError: The change is neither of the two.
        """
        version = self.version + 1
        changed = list(self.attributes)
        for tag, kind in types.items():
            place = self.index.get(tag)
            if place is None:
                changed.append(Attribute(tag, kind, since=version))
            elif changed[place].type is not kind:
                if WIDER.get(changed[place].type) is not kind:
                    raise EventError(
                        f"attribute {tag} is {changed[place].type.value} and cannot become "
                        f"{kind.value}: a schema may only add attributes and widen int64 to float64"
                    )
                changed[place] = replace(changed[place], type=kind, widened=version)
        if tuple(changed) == self.attributes:
            return self
        return Schema(tuple(changed), self.declared, version)

    def row(self, values: Mapping[str, Any]) -> list[Any]:
        """Return an event's values as a row: in the schema's order, absent ones None.

        Raises:
            EventError: A value does not fit, or its attribute is not in the schema.
        """
        row: list[Any] = [None] * len(self.attributes)
        for tag, value in values.items():
            if value is None:
                continue  # The same as absent, so it needs no place in the schema either.
            place = self.index.get(tag)
            if place is None:
                raise EventError(f"attribute {tag} is not in the schema: add it with evolve()")
            try:
                row[place] = fit(value, self.types[place])
            except EventError as error:
                raise EventError(f"attribute {tag}: {error}") from None
        return row

    def absorb(self, values: Mapping[str, Any]) -> tuple[Schema, list[Any]]:
        """Return the schema grown for an event's values, and the row that it then makes.

        What fits no type, or not the type that the attribute has, goes together into the attribute
        `_opaque`, so that nothing a sensor said is lost. A declared schema does not grow.
        """
        try:
            return self, self.row(values)  # Most events fit as they are.
        except EventError:
            if self.declared:
                raise
        grown, unfit = self._growth(values)
        if OPAQUE in unfit or grown.get(OPAQUE, Type.BYTES) is not Type.BYTES:
            raise EventError(f"the tag {OPAQUE} is kept for what fits no attribute, as bytes")
        if unfit:
            # What a sender already carried as opaque goes into the new text, not under it.
            unfit |= {OPAQUE: values[OPAQUE]} if values.get(OPAQUE) is not None else {}
            rest = {tag: value for tag, value in values.items() if tag not in unfit}
            text = json.dumps(unfit, default=_plain).encode()
            return self.absorb(rest | {OPAQUE: text})
        schema = self.evolve(grown) if grown else self
        return schema, schema.row(values)

    def _growth(self, values: Mapping[str, Any]) -> tuple[dict[str, Type], dict[str, Any]]:
        """Return the attributes to add or widen for an event, and its values that fit nothing."""
        grown: dict[str, Type] = {}
        unfit: dict[str, Any] = {}
        # The last place is kept for the opaque attribute.
        kept = OPAQUE not in self.index
        room = ATTRIBUTES_MAX - len(self.attributes) - kept
        bytes_left = TAGS_BYTES_MAX - self.tags_bytes - kept * len(OPAQUE)
        for tag, value in values.items():
            if value is None:
                continue
            kind, known = infer(value), self.type_of(tag)
            if known is None:
                size = len(tag.encode(errors="replace"))
                if kind is not None and (tag == OPAQUE or (room > 0 and size <= bytes_left)):
                    grown[tag] = kind
                    if tag != OPAQUE:
                        room, bytes_left = room - 1, bytes_left - size
                else:
                    unfit[tag] = value
            elif kind is None:
                if not known.is_list or value not in ([], ()):
                    unfit[tag] = value
            elif WIDER.get(known) is kind:
                grown[tag] = kind
            elif kind is not known and WIDER.get(kind) is not known:
                unfit[tag] = value
        return grown, unfit


def _plain(value: Any) -> str:
    """Write what JSON cannot hold as text, for the opaque attribute."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


def check_tag(tag: str) -> None:
    """Refuse a tag that no attribute may have."""
    if not 0 < len(tag) <= TAG_CHARS_MAX:
        raise EventError(f"a tag has 1 to {TAG_CHARS_MAX} characters, this one has {len(tag)}")
    if tag in RESERVED:
        raise EventError(f"the tag {tag} is reserved for positions: {', '.join(RESERVED)}")
