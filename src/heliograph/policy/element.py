"""Element: what both readers of documents, XML and YAML, make of a text, with its lines.

Everything that a policy document may not exceed stands here too: documents come from outside.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from heliograph.event.types import INT64_MAX, INT64_MIN

if TYPE_CHECKING:
    from heliograph.policy.model import Literal, Setting

DOCUMENT_BYTES_MAX: Final = 64 * 1024
DEPTH_MAX: Final = 32
LEVELS_MAX: Final = 32
FILTERS_MAX: Final = 32  # In one level.
DIGESTERS_MAX: Final = 32
VALUES_MAX: Final = 4_096
VALUE_CHARS_MAX: Final = 1_024
# Strictly: Python would read 1_0, blanks around and the digits of other scripts as numbers too.
_NUMBER: Final = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


@dataclass(slots=True)
class Element:
    """One element of a document: its fields, each with its line, and the elements inside it."""

    name: str
    line: int
    fields: dict[str, tuple[Setting, int]] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)


def literal(text: str) -> Literal:
    """Return a number or a truth where the text is one as it would be written, else the text.

    So `5` is a number and `05` a text, whatever attribute they meet: nothing is lost on the way.
    What no parameter can be (infinities, NaN, 20 digits) stays a text too.
    """
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            value = number(text)
        except ValueError:
            continue
        held = INT64_MIN <= value <= INT64_MAX if number is int else math.isfinite(value)
        if held and str(value) == text:
            return value
    return text


def number(text: str) -> int | float | None:
    """Return the number that a text spells in any of the ways of XML, YAML and JSON, else None.

    One beyond float64 is infinite, unless it is whole.
    """
    if len(text) > VALUE_CHARS_MAX or not _NUMBER.fullmatch(text):
        return None
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def written(value: Literal) -> str:
    """Return a literal as the text that it was written as."""
    return str(value).lower() if isinstance(value, bool) else str(value)
