from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from heliograph.event.errors import PolicyError
from heliograph.policy.element import Element
from heliograph.policy.yaml import read_yaml

if TYPE_CHECKING:
    from heliograph.policy.model import Setting


def value_in(text: str) -> Setting:
    return read_yaml(text).fields["value"][0]


def test_mappings_become_elements_with_their_lines() -> None:
    root = read_yaml("attribute: a\nlevels:\n- filters:\n  - name: X\n    value: 1\nsummary: {}")
    (level, summary) = root.children
    assert root.fields == {"attribute": ("a", 1)}
    assert (level.name, level.line) == ("level", 3)
    assert level.children == [Element("filter", 4, {"name": ("X", 4), "value": (1, 5)})]
    assert (summary.name, summary.line) == ("summary", 6)


def test_a_digester_may_be_its_name_alone() -> None:
    (one, other) = read_yaml("digesters: [MAX, {name: MIN, attribute: a}]").children
    assert one.fields == {"name": ("MAX", 1)}
    assert other.fields == {"name": ("MIN", 1), "attribute": ("a", 1)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("'5'", "5"),
        ('"5"', "5"),
        ("2.50", 2.5),
        ("1e3", 1000.0),
        ("-1E-2", -0.01),
        (".5", 0.5),
        ("05", "05"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("true", True),
        ("'true'", "true"),
        ("yes", "yes"),
        ("-inf", "-inf"),
        ("NaN", "NaN"),
        ("'.nan'", ".nan"),
        ('"1e999"', "1e999"),
        ("12345678901234567890", 12345678901234567890),
        ("-0", 0),
        ("+5", "+5"),
        ("-05", "-05"),
        ("\u0665", "\u0665"),
        ("True", True),
        ("TRUE", True),
        ("False", False),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("[True, 'True']", (True, "True")),
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
        ("12:30", "12:30"),
        ("|-\n  a\tb", "a\tb"),
        ("[1, '1', a]", (1, "1", "a")),
        ("[]", ()),
    ],
)
def test_values_are_numbers_truths_or_texts_and_nothing_is_rounded(
    text: str, value: Setting
) -> None:
    found = value_in(f"value: {text}")
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL", "[1, Null]"])
def test_a_null_is_no_value(text: str) -> None:
    with pytest.raises(PolicyError, match="line 1: expected a value, found null"):
        read_yaml(f"value: {text}")


@pytest.mark.parametrize("text", [".inf", "-.INF", "+.Inf", ".nan", ".NaN", "1e999", "[1, .nan]"])
def test_a_number_that_is_not_finite_is_refused_unless_it_is_a_text(text: str) -> None:
    with pytest.raises(PolicyError, match=r"line 1: expected a finite number, found .*quotes"):
        read_yaml(f"value: {text}")


@pytest.mark.parametrize("key", ["name", "attribute", "by", "pattern"])
def test_names_tags_and_patterns_are_texts_however_they_look(key: str) -> None:
    for text in ("007", "1.50", "true", "1e3"):
        assert read_yaml(f"{key}: {text}").fields[key] == (text, 1)


def test_json_has_its_own_ways_to_write_characters() -> None:
    assert value_in(r'{"value": "\ud83d\ude00"}') == "😀"
    assert value_in(r'{"value": "\\ud83d\ude00"}'.replace("\\ude00", "x")) == "\\ud83dx"
    assert value_in(r'{"value": "a\/b\u0000\t"}') == "a/b\0\t"
    assert value_in('{"value": "\u2028\u2029\x85\x7f\ufeff"}') == "\u2028\u2029\x85\x7f\ufeff"


def test_a_half_of_a_character_is_refused() -> None:
    with pytest.raises(PolicyError, match="line 2: not well-formed YAML or JSON"):
        read_yaml('{"value":\n"\\ud83d"}')
