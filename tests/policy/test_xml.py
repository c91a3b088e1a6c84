from __future__ import annotations

import pytest

from heliograph.event.errors import PolicyError
from heliograph.policy.element import Element
from heliograph.policy.xml import read_xml


def test_elements_keep_their_lines_and_their_order() -> None:
    root = read_xml('<policy attribute="5">\n<level/>\n\n<summary/></policy>')
    assert root.fields == {"attribute": ("5", 1)}
    assert root.children == [Element("level", 2), Element("summary", 4)]


def test_parameters_become_fields_each_with_its_line() -> None:
    one = read_xml(
        '<filter name="X" by="5">\n<para name="low" value="5"/>\n<para name="high" value="05"/>'
        "</filter>"
    )
    assert one.fields == {"name": ("X", 1), "by": ("5", 1), "low": (5, 2), "high": ("05", 3)}
    assert one.children == []


def test_a_parameter_that_is_repeated_makes_a_list() -> None:
    text = '<filter name="X">{}</filter>'
    a, b = ('<para name="values" value="a"/>', '<para name="values" value="2"/>')
    assert read_xml(text.format(a + b)).fields["values"] == (("a", 2), 1)
    assert read_xml(text.format(a)).fields["values"] == (("a",), 1)
    assert read_xml(text.format('<para name="values"/>')).fields["values"] == ((), 1)


def test_a_parameter_may_stand_on_the_filter_itself_and_means_the_same() -> None:
    on_itself = '<filter name="{}" attribute="5" {}="{}"/>'
    inside = '<filter name="{}" attribute="5"><para name="{}" value="{}"/></filter>'
    for one in (
        *(("GT", "value", text) for text in ("5", "05", "2.5", "2.50", "true", "x")),
        *(("INSET", "values", text) for text in ("5", "x")),
        *(("DELTA", "change", text) for text in ("5", "2.50", "1e3", "x")),
        ("MATCH", "pattern", "5"),
    ):
        assert read_xml(on_itself.format(*one)) == read_xml(inside.format(*one))
    assert read_xml(on_itself.format("GT", "value", "5")).fields["value"] == (5, 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("5", 5), ("05", 5), ("+5", 5), ("5.0", 5.0), ("2.50", 2.5), ("-1e3", -1000.0)),
        *((".5", 0.5), ("1_0", "1_0"), ("\u0665", "\u0665"), (" 5 ", " 5 "), ("0x5", "0x5")),
    ],
)
def test_what_can_only_be_a_number_is_read_as_one_however_it_is_written(
    text: str, value: float | str
) -> None:
    one = read_xml(f'<filter name="DELTA"><para name="change" value="{text}"/></filter>')
    found = one.fields["change"][0]
    assert (type(found), found) == (type(value), value)


def test_comments_and_instructions_are_passed_over() -> None:
    text = '<?xml version="1.0" encoding="utf-16"?>\n<!-- a --><?b c?><policy><!-- d --></policy>'
    assert read_xml(text) == Element("policy", 2)


def test_escapes_are_read() -> None:
    root = read_xml('<policy attribute="&lt;&#10;&#x1F600;&quot;"/>')
    assert root.fields["attribute"] == ('<\n😀"', 1)


def test_an_element_that_is_left_open_is_named() -> None:
    with pytest.raises(PolicyError) as caught:
        read_xml('<policy>\n<summary>\n<digester name="MEAN">\n<digester name="COUNT">\n</summary>')
    assert caught.value.line == 5
    assert str(caught.value).endswith(
        "<digester> of line 4 is still open, end it with </digester> or write it as <digester .../>"
    )


def test_too_many_values_are_refused() -> None:
    many = '<para name="values" value="a"/>' * 4_097
    with pytest.raises(PolicyError, match="a filter takes at most 4096 values"):
        read_xml(f"<filter>{many}</filter>")
