"""Policy: a receiver's ordered levels of filters, and its digesters (PACK 2).

Plain frozen values. A policy says nothing of a stream's types: it is bound to a schema when a
subscription and a schema first meet (`binding`).
"""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from heliograph.policy.catalogue import FILTERS, Action, FilterKind

Literal = bool | int | float | str
Setting = Literal | tuple[Literal, ...]


class Each(enum.StrEnum):
    """How many digests a pack makes: one in all, or the papers' one per run of dropped events."""

    PACK = "pack"
    RUN = "run"


class Rest(enum.StrEnum):
    """What is left of a lane when even the highest level does not free enough of it."""

    NOTHING = "nothing"  # The built-in worst case (PACK 2): the lane becomes one digest.
    NEWEST = "newest"
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter with its parameters; `attribute` is None where it judges all events."""

    name: str
    parameters: tuple[tuple[str, Setting], ...] = ()
    attribute: str | None = None
    by: str | None = None
    action: Action | None = None
    line: int | None = field(default=None, compare=False)

    @property
    def kind(self) -> FilterKind:
        """The row of the catalogue that this filter is of."""
        return FILTERS[self.name]

    def __getitem__(self, name: str) -> Setting:
        """Return a parameter."""
        return dict(self.parameters)[name]

    def get(self, name: str, default: Setting) -> Setting:
        """Return a parameter that may be absent."""
        return dict(self.parameters).get(name, default)

    @property
    def keeps(self) -> bool:
        """Whether the events that the filter selects are kept and the others dropped."""
        return (self.action or self.kind.action) is Action.KEEP

    def document(self) -> dict[str, Any]:
        """Return the filter as its JSON document."""
        fields: dict[str, Any] = {"name": self.name}
        fields |= {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in self.parameters
        }
        if self.attribute is not None:
            fields["attribute"] = self.attribute
        if self.by is not None:
            fields["by"] = self.by
        if self.action not in (None, self.kind.action):
            fields["action"] = str(self.action)
        return fields


@dataclass(frozen=True, slots=True)
class Level:
    """One level: a chain of filters."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Digester:
    """One digester; `attribute` is empty where it summarises all events."""

    name: str
    attribute: str = ""
    line: int | None = field(default=None, compare=False)

    def document(self) -> dict[str, Any]:
        """Return the digester as its JSON document."""
        return {"name": self.name} | ({"attribute": self.attribute} if self.attribute else {})


@dataclass(frozen=True)
class Policy:
    """What may be dropped, in the order in which it matters least, and how to summarise it.

    `always` holds the filters of a first level that runs on every event as early as possible; it
    is not one of the levels that the ladder climbs.
    """

    levels: tuple[Level, ...] = ()
    digesters: tuple[Digester, ...] = ()
    each: Each = Each.PACK
    always: tuple[Filter, ...] = ()
    rest: Rest = Rest.NOTHING

    def document(self) -> dict[str, Any]:
        """Return the canonical JSON document: every attribute stands where it is used."""
        fields: dict[str, Any] = {}
        levels: list[dict[str, Any]] = [
            {"filters": [one.document() for one in level.filters]} for level in self.levels
        ]
        if self.always:
            levels.insert(0, {"always": True, "filters": [one.document() for one in self.always]})
        if levels:
            fields["levels"] = levels
        summary: dict[str, Any] = {} if self.each is Each.PACK else {"each": str(self.each)}
        if self.digesters:
            summary["digesters"] = [one.document() for one in self.digesters]
        if summary:
            fields["summary"] = summary
        if self.rest is not Rest.NOTHING:
            fields["rest"] = str(self.rest)
        return fields

    @cached_property
    def identity(self) -> str:
        """The hash of the canonical form: receivers with equal policies share a lane."""
        data = msgspec.json.encode(self.document(), order="sorted")
        return hashlib.blake2b(data, digest_size=16).hexdigest()
