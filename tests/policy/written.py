"""Writes the canonical document of a policy as XML, as the papers would."""

from __future__ import annotations

import re
from typing import Any
from xml.sax.saxutils import quoteattr

from heliograph.policy.element import literal, written


def as_xml(document: dict[str, Any]) -> str | None:
    """Return a document in XML, or None where XML cannot say what JSON can."""
    root = {"rest": document["rest"]} if "rest" in document else {}
    inside = "".join(level(one) for one in document.get("levels", ()))
    if "summary" in document:
        summary = document["summary"]
        told = "".join(f"<digester {fields(one)}/>" for one in summary.get("digesters", ()))
        inside += f"<summary {fields({'each': summary.get('each', 'pack')})}>{told}</summary>"
    text = f"<policy {fields(root)}>{inside}</policy>"
    return None if LOST.search(text) or "\x00lost" in text else text


# What no XML document may hold.
LOST = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


OWN = ("name", "attribute", "by", "action")


def fields(some: dict[str, Any]) -> str:
    escapes = {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
    return " ".join(f"{key}={quoteattr(value, escapes)}" for key, value in some.items())


def level(document: dict[str, Any]) -> str:
    inside = "".join(one_filter(one) for one in document["filters"])
    return f"<level {fields({'always': written(document.get('always', False))})}>{inside}</level>"


def one_filter(document: dict[str, Any]) -> str:
    own: dict[str, Any] = {
        key: document[key] for key in ("name", "attribute", "by", "action") if key in document
    }
    inside = ""
    for key, value in document.items():
        if key not in own:
            members = value if isinstance(value, list) else [value]
            inside += "".join(parameter(key, member) for member in members)
            if not members:
                inside += f'<para name="{key}"/>'
    return f"<filter {fields(own)}>{inside}</filter>"


def parameter(name: str, value: Any) -> str:
    text = written(value)
    if name != "pattern" and (type(literal(text)), literal(text)) != (type(value), value):
        return "\x00lost"  # A text that reads like a number.
    return f"<para {fields({'name': name, 'value': text})}/>"
