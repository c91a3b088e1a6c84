"""From a document to a Policy: every name, number and place is checked, with its line.

One grammar for all three forms. The readers (`xml`, `yaml`) make elements, this makes the policy.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.errors import EventError, PolicyError
from heliograph.event.schema import check_tag
from heliograph.policy import element as bounds
from heliograph.policy.catalogue import DIGESTERS, FILTERS, Action, FilterKind
from heliograph.policy.model import Digester, Each, Filter, Level, Policy, Rest
from heliograph.policy.setting import check_sense, check_setting

# What stands in an element; in YAML and JSON as a list that is named by the plural.
_INSIDE: Final = {"policy": ("level", "summary"), "summary": ("digester",), "level": ("filter",)}

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heliograph.policy.element import Element


def load(path: str | Path) -> Policy:
    """Read a policy from a file in XML, YAML or JSON, told apart by how it begins.

    Raises:
        PolicyError: The file cannot be read, or is no policy; the message names line and element.
    """
    file = Path(path)
    try:
        with file.open("rb") as stream:
            data = stream.read(bounds.DOCUMENT_BYTES_MAX + 1)
    except OSError as error:
        raise PolicyError(f"cannot read {path}: {error.strerror or error}") from None
    _check_size(len(data))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PolicyError("the file is not UTF-8 text", line=line) from None
    return loads(text)


def loads(text: str) -> Policy:
    """Read a policy from a text in XML, YAML or JSON, told apart by how it begins."""
    try:
        _check_size(len(text.encode()))
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise PolicyError("half a character, which no text has", line=line) from None
    # Each reader is loaded only for its own form: the command answers sooner, a device needs less.
    if text.lstrip().startswith("<"):
        from heliograph.policy.xml import read_xml  # noqa: PLC0415

        return policy_of(read_xml(text))
    from heliograph.policy.yaml import read_yaml  # noqa: PLC0415

    return policy_of(read_yaml(text))


def _check_size(size: int) -> None:
    if size > bounds.DOCUMENT_BYTES_MAX:
        raise PolicyError(f"a policy document has at most {bounds.DOCUMENT_BYTES_MAX} bytes")


def policy_of(root: Element) -> Policy:
    """Return the policy that an element tree describes.

    Raises:
        PolicyError: It describes none; the message names line and element.
    """
    _expect(root, "policy", {"attribute", "rest"})
    attribute = _tag(root, "attribute")
    rest = _choice(root, "rest", Rest, Rest.NOTHING)
    levels, always = _levels(root, attribute)
    summaries = [child for child in root.children if child.name == "summary"]
    for extra in summaries[1:]:
        raise PolicyError("a policy has one summary", line=extra.line, element="summary")
    digesters: tuple[Digester, ...] = ()
    each = Each.PACK
    if summaries:
        _expect(summaries[0], "summary", {"each"})
        each = _choice(summaries[0], "each", Each, Each.PACK)
        digesters = _digesters(summaries[0], attribute)
    return Policy(levels, digesters, each, always, rest)


def _levels(root: Element, attribute: str | None) -> tuple[tuple[Level, ...], tuple[Filter, ...]]:
    levels: list[Level] = []
    always: tuple[Filter, ...] = ()
    found = [child for child in root.children if child.name != "summary"]
    if len(found) > bounds.LEVELS_MAX:
        raise PolicyError(
            f"a policy has at most {bounds.LEVELS_MAX} levels", line=found[bounds.LEVELS_MAX].line
        )
    for place, child in enumerate(found):
        _expect(child, "level", {"always"})
        filters = tuple(_filter(one, attribute) for one in child.children)
        if not filters:
            raise PolicyError("it has no filters", line=child.line, element="level")
        if len(filters) > bounds.FILTERS_MAX:
            raise PolicyError(
                f"a level has at most {bounds.FILTERS_MAX} filters",
                line=child.line,
                element="level",
            )
        if _flag(child, "always"):
            if place:
                raise PolicyError(
                    "only the first level can be always", line=child.line, element="level"
                )
            _check_always(filters)
            always = filters
        else:
            levels.append(Level(filters))
    return tuple(levels), always


def _check_always(filters: Iterable[Filter]) -> None:
    for one in filters:
        if not one.kind.alone:
            raise PolicyError(
                "it looks at the events around one, which an always level does not see yet: "
                "put it into a level of its own",
                line=one.line,
                element=one.name,
            )


def _filter(element: Element, inherited: str | None) -> Filter:
    name = _name(element, "filter", FILTERS)
    kind = FILTERS[name]
    known = {one.name: one for one in kind.parameters}
    fields = {"name", "attribute", *known}
    fields |= ({"by"} if kind.by else set()) | ({"action"} if kind.action else set())
    _check_meaning(element, kind)
    _expect(element, "filter", fields, of=name)
    settings = []
    for parameter in kind.parameters:
        if parameter.name in element.fields:
            value, line = element.fields[parameter.name]
            setting = check_setting(value, parameter, line, name)
            if parameter.required or setting != parameter.default:
                settings.append((parameter.name, setting))
        elif parameter.required:
            raise PolicyError(
                f"it needs {parameter.name}, {parameter.shape.value}",
                line=element.line,
                element=name,
            )
    attribute = _tag(element, "attribute") or (inherited if kind.needs_attribute else None)
    if attribute is None and kind.needs_attribute:
        raise PolicyError(
            "it needs an attribute, on itself or on the policy", line=element.line, element=name
        )
    action: Action | None = _choice(element, "action", Action, None)
    action = None if action is kind.action else action  # One form of what is the same.
    result = Filter(name, tuple(settings), attribute, _tag(element, "by"), action, element.line)
    check_sense(result)
    return result


def _check_meaning(element: Element, kind: FilterKind) -> None:
    """Refuse options that other filters have and this one cannot, and say why."""
    if "by" in element.fields and not kind.by:
        words = "it judges each event alone, so that by= has no meaning"
    elif "action" in element.fields and kind.action is None:
        words = "it has one meaning only, without an action"
    else:
        return
    raise PolicyError(words, line=element.line, element=kind.name)


def _digesters(summary: Element, attribute: str | None) -> tuple[Digester, ...]:
    """Return the digesters, side by side or one inside the other as the papers print them."""
    result: list[Digester] = []
    waiting = list(reversed(summary.children))
    while waiting:
        child = waiting.pop()
        waiting += reversed(child.children)
        name = _name(child, "digester", DIGESTERS)
        _expect(child, "digester", {"name", "attribute"}, of=name)
        tag = _tag(child, "attribute") or attribute or ""
        if not tag and DIGESTERS[name].needs_attribute:
            raise PolicyError(
                "it needs an attribute, on itself or on the policy", line=child.line, element=name
            )
        digester = Digester(name, tag, child.line)
        if digester in result:
            raise PolicyError("it stands twice for one attribute", line=child.line, element=name)
        result.append(digester)
    if len(result) > bounds.DIGESTERS_MAX:
        raise PolicyError(
            f"a summary has at most {bounds.DIGESTERS_MAX} digesters", line=summary.line
        )
    return tuple(result)


def _expect(element: Element, name: str, fields: set[str], of: str = "") -> None:
    """Refuse an element of another name, and fields that it does not have."""
    if element.name != name:
        raise PolicyError(
            f"expected {name}, found {element.name}", line=element.line, element=element.name
        )
    inside = [f"{one}s" if one != "summary" else one for one in _INSIDE.get(name, ())]
    for key, (_, line) in element.fields.items():
        if key not in fields:
            known = [*sorted(fields), *inside]
            raise PolicyError(
                f"it has no {key}{_hint(key, known)}; it takes {', '.join(known)}",
                line=line,
                element=of or name,
            )
    for child in element.children:
        if child.name not in _INSIDE.get(name, (name,)):
            raise PolicyError(
                f"{child.name} has no place in {name}", line=child.line, element=of or name
            )


def _name(element: Element, what: str, known: Iterable[str]) -> str:
    if element.name != what:
        raise PolicyError(
            f"expected {what}, found {element.name}", line=element.line, element=element.name
        )
    if "name" not in element.fields:
        raise PolicyError("it has no name", line=element.line, element=what)
    value, line = element.fields["name"]
    if str(value) not in known:
        raise PolicyError(
            f"there is no {what} {value!r}{_hint(str(value).upper(), known)}; "
            f"the {what}s are {' '.join(known)}",
            line=line,
            element=what,
        )
    return str(value)


def _hint(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word[:64], list(known), 1)
    return f" (did you mean {close[0]}?)" if close else ""


def _tag(element: Element, key: str) -> str | None:
    if key not in element.fields:
        return None
    value, line = element.fields[key]
    if not isinstance(value, str):
        what = f"a list of {len(value)}" if isinstance(value, tuple) else repr(value)
        raise PolicyError(f"{key} takes one tag, not {what}", line=line, element=element.name)
    try:
        check_tag(value)
    except EventError as error:
        raise PolicyError(str(error), line=line, element=element.name) from None
    return value


def _flag(element: Element, key: str) -> bool:
    value, line = element.fields.get(key, (False, element.line))
    if not isinstance(value, bool):
        raise PolicyError(f"{key} is true or false, not {value!r}", line=line, element=element.name)
    return value


def _choice(element: Element, key: str, choices: Any, default: Any) -> Any:
    if key not in element.fields:
        return default
    value, line = element.fields[key]
    known = [str(one) for one in choices]
    if value not in known:
        raise PolicyError(
            f"{key} is {' or '.join(known)}, not {value!r}", line=line, element=element.name
        )
    return choices(value)
