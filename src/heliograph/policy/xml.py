"""Policies in XML, as the papers print them (PACK 2, Figure 2).

Plain expat: a document type is refused, so there are no entities to expand and nothing external.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.parsers import expat

from heliograph.event.errors import PolicyError
from heliograph.policy.catalogue import FILTERS, NUMERIC, Shape
from heliograph.policy.element import DEPTH_MAX, VALUES_MAX, Element, literal, number

if TYPE_CHECKING:
    from heliograph.policy.model import Setting

_NUL: Final = "\x00"
# What is always a text; all else that stands on a filter is a parameter, as its <para> would be.
_OWN: Final = ("name", "attribute", "by", "action")


class _Reader:
    """Collects the elements that expat reports."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.open: list[Element] = []
        self.root: Element | None = None

    def _doctype(self, *_: object) -> None:
        raise PolicyError(
            "a policy has no document type and no entities: delete the <!DOCTYPE ...>",
            line=self.parser.CurrentLineNumber,
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        if len(self.open) >= DEPTH_MAX:
            raise PolicyError(f"elements nest at most {DEPTH_MAX} deep", line=line)
        element = Element(name, line)
        for key, text in attributes.items():
            element.fields[key] = (literal(text) if _is_value(name, key) else text, line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def _end(self, _name: str) -> None:
        element = self.open.pop()
        if element.name == "filter":
            _take_parameters(element)

    def _text(self, text: str) -> None:
        if text.strip():
            raise PolicyError(
                f"text {text.strip()[:20]!r} has no meaning here: "
                'write values as <para name="..." value="..."/>',
                line=self.parser.CurrentLineNumber,
            )


def _is_value(name: str, key: str) -> bool:
    """Say whether an attribute of an element may be a number or a truth."""
    if name == "filter":
        return key not in _OWN
    return (name, key) in (("para", "value"), ("level", "always"))


def _take_parameters(element: Element) -> None:
    """Turn the <para> elements of a filter into fields; one that is repeated makes a list."""
    lists: dict[str, list[tuple[Setting, int]]] = {}
    for child in element.children:
        name = _parameter_name(child)
        found = lists.setdefault(name, [])
        if "value" in child.fields:
            found.append(child.fields["value"])
        if len(found) > VALUES_MAX:
            raise PolicyError(
                f"a filter takes at most {VALUES_MAX} values", line=child.line, element="<para>"
            )
    for name, found in lists.items():
        if name in element.fields:
            raise PolicyError(f"{name} stands twice", line=element.line, element="<filter>")
        if len(found) == 1 and name != "values":
            element.fields[name] = found[0]
        else:
            members = tuple(value for value, _ in found if not isinstance(value, tuple))
            element.fields[name] = (members, element.line)
    element.children = []
    _shape(element)


def _shape(element: Element) -> None:
    """Make lists and numbers of what can be nothing else: XML has only texts."""
    kind = FILTERS.get(str(element.fields.get("name", ("", 0))[0]))
    for parameter in kind.parameters if kind is not None else ():
        value, line = element.fields.get(parameter.name, ((), 0))
        if isinstance(value, tuple):
            continue
        if parameter.shape is Shape.LITERALS:
            element.fields[parameter.name] = ((value,), line)
        elif parameter.shape in NUMERIC and isinstance(value, str):
            found = number(value)
            element.fields[parameter.name] = (value if found is None else found, line)


def _parameter_name(child: Element) -> str:
    if child.name != "para":
        raise PolicyError(
            f"expected <para>, found <{child.name}>", line=child.line, element="<filter>"
        )
    if child.children:
        raise PolicyError("nothing stands inside it", line=child.line, element="<para>")
    for key in child.fields:
        if key not in ("name", "value"):
            raise PolicyError(
                f"expected name and value, found {key}", line=child.line, element="<para>"
            )
    if "name" not in child.fields:
        raise PolicyError("it has no name", line=child.line, element="<para>")
    name = str(child.fields["name"][0])
    if name in _OWN:
        raise PolicyError(
            f'{name} stands on the filter itself, as <filter {name}="...">',
            line=child.line,
            element="<para>",
        )
    return name


def read_xml(text: str) -> Element:
    """Read an XML document.

    Raises:
        PolicyError: It is not well-formed, with the line and the element that is left open.
    """
    reader = _Reader()
    try:
        reader.parser.Parse(text.replace(_NUL, "\N{REPLACEMENT CHARACTER}"), True)  # noqa: FBT003
    except expat.ExpatError as error:
        raise PolicyError(_explain(error, reader), line=error.lineno) from None
    if reader.root is None:
        raise PolicyError("the document is empty", line=1)
    return reader.root


def _explain(error: expat.ExpatError, reader: _Reader) -> str:
    words = expat.ErrorString(error.code)
    if not reader.open:
        return f"not well-formed XML: {words}"
    inner = reader.open[-1]
    return (
        f"not well-formed XML: {words}; <{inner.name}> of line {inner.line} is still open, "
        f"end it with </{inner.name}> or write it as <{inner.name} .../>"
    )
