"""Policies in YAML and in JSON, which is read as the YAML that it nearly is, to have its lines.

Aliases and tags are refused before anything is built, so nothing expands and nothing is executed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import yaml

from heliograph.event.errors import PolicyError
from heliograph.policy.element import DEPTH_MAX, VALUES_MAX, Element, literal

if TYPE_CHECKING:
    from heliograph.policy.model import Literal, Setting

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LISTS: Final = {"levels": "level", "filters": "filter", "digesters": "digester"}


def read_yaml(text: str) -> Element:
    """Read a YAML or JSON document.

    Raises:
        PolicyError: It is not well-formed, or uses aliases or tags.
    """
    try:
        _screen(text)
        node = yaml.compose(text, _LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark is not None else None
        raise PolicyError(f"not well-formed YAML or JSON: {error.problem}", line=line) from None
    except yaml.YAMLError as error:
        raise PolicyError(f"not well-formed YAML or JSON: {error}") from None
    if node is None:
        raise PolicyError("the document is empty", line=1)
    return _element("policy", node)


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
        return Element(name, _line(node), {"name": (_scalar(node), _line(node))})
    if not isinstance(node, yaml.MappingNode):
        raise PolicyError("expected a mapping of names to values", line=_line(node), element=name)
    element = Element(name, _line(node))
    for key_node, value in node.value:
        key, line = str(key_node.value), _line(key_node)
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
        return _scalar(node)
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


def _scalar(node: Any) -> Literal:
    text = str(node.value)
    if node.style in ("'", '"', "|", ">"):
        # JSON writes what lies beyond the basic plane as two halves.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if text in ("true", "false"):
        return text == "true"
    if text in ("", "~", "null"):
        raise PolicyError("expected a value, found null", line=_line(node))
    value = literal(text)
    if isinstance(value, str):
        try:
            return float(text) if text[:1] in "+-.0123456789" and "_" not in text else text
        except ValueError:
            return text
    return value
