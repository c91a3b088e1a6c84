"""Policies in YAML and in JSON, which is read as the YAML that it nearly is, to have its lines.

Aliases and tags are refused before anything is built, so nothing expands and nothing is executed.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

import yaml

from heliograph.event.errors import PolicyError
from heliograph.policy.element import DEPTH_MAX, VALUES_MAX, Element, literal, number

if TYPE_CHECKING:
    from heliograph.policy.model import Literal, Setting

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Only what a parameter says may be a number or a truth; names, tags and patterns are texts.
_TEXTS: Final = ("name", "attribute", "by", "action", "each", "rest", "pattern")
# JSON may have these as they are; for YAML they are line breaks, or unprintable.
_UNPRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_HALVES: Final = re.compile(r"(\\\\)|\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)
# As the core schema of YAML 1.2 has them.
_NULLS: Final = ("", "~", "null", "Null", "NULL")
_TRUTHS: Final = {"True": True, "TRUE": True, "False": False, "FALSE": False}
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
# A whole number that has a sign or a zero in front stays a text: nothing is lost.
_SPELLED: Final = re.compile(r"\+[0-9]+|-?0[0-9]+")
_LISTS: Final = {"levels": "level", "filters": "filter", "digesters": "digester"}


def read_yaml(text: str) -> Element:
    """Read a YAML or JSON document.

    Raises:
        PolicyError: It is not well-formed, or uses aliases or tags.
    """
    if not text.strip():
        raise PolicyError("the document is empty", line=1)
    if text.lstrip().startswith("{"):
        text = _from_json(text)
    try:
        _screen(text)
        node = yaml.compose(text, _LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark is not None else None
        raise PolicyError(f"not well-formed YAML or JSON: {error.problem}", line=line) from None
    except yaml.reader.ReaderError as error:
        line = text.encode().count(b"\n", 0, error.position) + 1
        raise PolicyError(f"not well-formed YAML or JSON: {error.reason}", line=line) from None
    if node is None:
        raise PolicyError("the document is empty", line=1)
    return _element("policy", node)


def _from_json(text: str) -> str:
    """Write as YAML has it what JSON writes otherwise, on the same lines."""
    # JSON may be indented by tabs, which never stand inside its texts.
    text = _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text.replace("\t", " "))
    return _HALVES.sub(_whole, text)


def _whole(found: re.Match[str]) -> str:
    """Return the one character that JSON writes as two halves."""
    if found[1]:  # A backslash itself: what follows it is no escape.
        return found[0]
    return f"\\U{0x10000 + (int(found[2], 16) - 0xD800) * 0x400 + int(found[3], 16) - 0xDC00:08x}"


def _screen(text: str) -> None:
    """Refuse what could expand or nest without bound, event by event, before it is composed."""
    depth = 0
    for event in yaml.parse(text, _LOADER):
        line = event.start_mark.line + 1 if event.start_mark is not None else 0
        if isinstance(event, yaml.AliasEvent):
            raise PolicyError("aliases (*name) are not allowed: write it out", line=line)
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise PolicyError(f"the tag {tag} is not allowed", line=line)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH_MAX:
            raise PolicyError(f"collections nest at most {DEPTH_MAX} deep", line=line)


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1


def _element(name: str, node: Any) -> Element:
    if isinstance(node, yaml.ScalarNode) and name == "digester":
        return Element(name, _line(node), {"name": (_scalar(node, text=True), _line(node))})
    if not isinstance(node, yaml.MappingNode):
        raise PolicyError("expected a mapping of names to values", line=_line(node), element=name)
    element = Element(name, _line(node))
    for key_node, value in node.value:
        line = _line(key_node)
        if not isinstance(key_node, yaml.ScalarNode):
            raise PolicyError("expected a name", line=line, element=name)
        key = str(key_node.value)
        if key in element.fields or any(key == child.name for child in element.children):
            raise PolicyError(f"{key} stands twice", line=line, element=name)
        if key == "summary" and name == "policy":
            element.children.append(_element(key, value))
        elif key in _LISTS:
            if not isinstance(value, yaml.SequenceNode):
                raise PolicyError("expected a list", line=line, element=key)
            element.children += [_element(_LISTS[key], member) for member in value.value]
            element.fields[key] = ((), line)
        else:
            element.fields[key] = (_setting(value, key), line)
    for key in _LISTS:
        element.fields.pop(key, None)
    return element


def _setting(node: Any, name: str) -> Setting:
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, text=name in _TEXTS)
    if not isinstance(node, yaml.SequenceNode):
        raise PolicyError("expected a value or a list of values", line=_line(node), element=name)
    if len(node.value) > VALUES_MAX:
        raise PolicyError(f"at most {VALUES_MAX} values", line=_line(node), element=name)
    members = []
    for member in node.value:
        if not isinstance(member, yaml.ScalarNode):
            raise PolicyError("expected plain values", line=_line(member), element=name)
        members.append(_scalar(member))
    return tuple(members)


def _scalar(node: Any, *, text: bool = False) -> Literal:
    written = str(node.value)
    if node.style in ("'", '"', "|", ">"):
        return written
    if written in _NULLS:
        raise PolicyError("expected a value, found null", line=_line(node))
    if text:
        return written
    value = _TRUTHS[written] if written in _TRUTHS else literal(written)
    if not isinstance(value, str) or _SPELLED.fullmatch(written):
        return value
    # YAML and JSON also write numbers as 1e3 and 2.50.
    found = number(written)
    if _NOT_FINITE.fullmatch(written) or found in (math.inf, -math.inf):
        raise PolicyError(
            f"expected a finite number, found {written}; between quotes it is a text",
            line=_line(node),
        )
    return value if found is None else found
