"""Wrong documents, each with the line that it is told and the words that tell it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from heliograph.event.errors import PolicyError
from heliograph.policy.document import loads


def told(text: str) -> tuple[int | None, str]:
    """Return the line and the words, element and all, with which a document is refused."""
    with pytest.raises(PolicyError) as caught:
        loads(text)
    error = caught.value
    return error.line, f"{error.element}: {error.reason}" if error.element else error.reason


def in_xml(one: str) -> str:
    return f'<policy attribute="a">\n<level>\n{one}\n</level>\n</policy>'


def in_json(**one: Any) -> str:
    return json.dumps({"attribute": "a", "levels": [{"filters": [one]}]}, indent=1)


LATEST = {"name": "LATEST", "window": 1}
XML = [
    ('<filter name="DLTA"/>', 3, "filter: there is no filter 'DLTA' (did you mean DELTA?); the"),
    ('<filter name="uniq"/>', 3, "filter: there is no filter 'uniq' (did you mean UNIQ?); the"),
    ('<filter name="?"/>', 3, "filter: there is no filter '?'; the filters are GT GE LT LE EQ NE"),
    ("<filter/>", 3, "filter: it has no name"),
    ('<filter name="DELTA"/>', 3, "DELTA: it needs change, a number above 0"),
    (
        '<filter name="DELTA"><para name="chnge" value="5"/></filter>',
        3,
        "DELTA: it has no chnge (did you mean change?); it takes attribute, by, change,",
    ),
    (
        '<filter name="DELTA">\n<para name="change" value="much"/></filter>',
        4,
        "DELTA: change is a number above 0, not 'much'",
    ),
    (
        '<filter name="DELTA"><para name="change" value="0"/></filter>',
        3,
        "DELTA: change is a number above 0, not 0",
    ),
    (
        '<filter name="DELTA"><para name="change" value="nan"/></filter>',
        3,
        "DELTA: change is a number above 0, not 'nan'",
    ),
    (
        '<filter name="DELTA"><para name="change" value="inf"/></filter>',
        3,
        "DELTA: change is a number above 0, not 'inf'",
    ),
    (
        '<filter name="DELTA"><para name="change" value="1e999"/></filter>',
        3,
        "DELTA: change is finite, not inf",
    ),
    (
        '<filter name="LATEST"><para name="window" value="2.5"/></filter>',
        3,
        "LATEST: window is a whole number from 1 to 2**63 - 1, not 2.5",
    ),
    (
        '<filter name="RANDOM"><para name="fraction" value="1.1"/></filter>',
        3,
        "RANDOM: fraction is a number from 0 to 1, not 1.1",
    ),
    (
        '<filter name="RANDOM"><para name="fraction" value="true"/></filter>',
        3,
        "RANDOM: fraction is a number from 0 to 1, not True",
    ),
    (
        '<filter name="WITHIN"><para name="low" value="9"/><para name="high" value="1"/></filter>',
        3,
        "WITHIN: low 9 is above high 1",
    ),
    ('<filter name="WITHIN" low="100" high="50"/>', 3, "WITHIN: low 100 is above high 50"),
    (
        '<filter name="LATEST" window="1_0"/>',
        3,
        "LATEST: window is a whole number from 1 to 2**63 - 1, not '1_0'",
    ),
    (
        '<filter name="INSET"><para name="values"/></filter>',
        3,
        "INSET: values is empty: it would never act",
    ),
    (
        '<filter name="EQ"><para name="value" value="1"/><para name="value" value="2"/></filter>',
        3,
        "EQ: value is one value, not a list of 2",
    ),
    (
        '<filter name="EQ" value="1"><para name="value" value="2"/></filter>',
        3,
        "<filter>: value stands twice",
    ),
    (
        '<filter name="EQ"><para name="value" value="1"><para/></para></filter>',
        3,
        "<para>: nothing stands inside it",
    ),
    (
        '<filter name="EQ"><para name="by" value="x"/></filter>',
        3,
        '<para>: by stands on the filter itself, as <filter by="...">',
    ),
    ('<filter name="EQ"><para value="x"/></filter>', 3, "<para>: it has no name"),
    ('<filter name="EQ"><value/></filter>', 3, "<filter>: expected <para>, found <value>"),
    (
        '<filter name="EQ" by="b"><para name="value" value="1"/></filter>',
        3,
        "EQ: it judges each event alone, so that by= has no meaning",
    ),
    (
        '<filter name="UNIQ" action="drop"/>',
        3,
        "UNIQ: it has one meaning only, without an action",
    ),
    (
        '<filter name="EVERY" action="lose"><para name="n" value="3"/></filter>',
        3,
        "filter: action is keep or drop, not 'lose'",
    ),
    (
        '<filter name="MATCH"><para name="pattern" value="(a)\\1"/></filter>',
        3,
        "MATCH: pattern '(a)\\\\1' is no RE2 regular expression: invalid escape sequence: \\1",
    ),
    (
        '<filter name="MATCH"><para name="pattern" value="((a{99}){99}){99}"/></filter>',
        3,
        "MATCH: pattern '((a{99}){99}){99}' is no RE2 regular expression: invalid repetition",
    ),
    (
        f'<filter name="MATCH"><para name="pattern" value="{"a" * 1_025}"/></filter>',
        3,
        "MATCH: a value has at most 1024 characters",
    ),
    (
        '<filter name="UNIQ">\nplease</filter>',
        4,
        "text 'please' has no meaning here: write values as <para",
    ),
    ('<filter name="UNIQ">', 4, "not well-formed XML: mismatched tag; <filter> of line 3 is still"),
    ('<filter name="UNIQ" by=""/>', 3, "filter: a tag has 1 to 256 characters, this one has 0"),
    ('<filter name="UNIQ" by="_time"/>', 3, "filter: the tag _time is reserved for positions"),
    ("", 2, "level: it has no filters"),
    ('<digester name="MAX"/>', 3, "level: digester has no place in level"),
]


@pytest.mark.parametrize(("one", "line", "words"), XML, ids=[words[:50] for *_, words in XML])
def test_a_wrong_filter_in_xml_is_told_with_its_line(one: str, line: int, words: str) -> None:
    where, found = told(in_xml(one))
    assert (where, found[: len(words)]) == (line, words)


WHOLE = [
    ("<policy>\n<summary>\n<digester name='MAX'>\n</summary></policy>", 4, "not well-formed XML: "),
    (
        "<policy><summary>\n<digester name='COUNT'/>\n<digester name='COUNT'/></summary></policy>",
        3,
        "COUNT: it stands twice for one attribute",
    ),
    (
        "<policy>\n<summary>\n<digester name='MAXI'/></summary></policy>",
        3,
        "digester: there is no digester 'MAXI' (did you mean MAX?); the digesters are MAX MIN",
    ),
    (
        "<policy><summary>\n<digester name='MAX'/></summary></policy>",
        2,
        "MAX: it needs an attribute, on itself or on the policy",
    ),
    (
        "<policy><level>\n<filter name='UNIQ'/></level></policy>",
        2,
        "UNIQ: it needs an attribute, on itself or on the policy",
    ),
    ("<policy><summary/>\n<summary/></policy>", 2, "summary: a policy has one summary"),
    ("<policy><summary each='event'/></policy>", 1, "summary: each is pack or run, not 'event'"),
    ("<policy rest='all'/>", 1, "policy: rest is nothing or newest or oldest, not 'all'"),
    ("<policy colour='red'/>", 1, "policy: it has no colour; it takes attribute, rest"),
    ("colour: red", 1, "policy: it has no colour; it takes attribute, rest, levels, summary"),
    (
        "levels:\n- filter: []",
        2,
        "level: it has no filter (did you mean filters?); it takes always, filters",
    ),
    ("summary: {colour: red}", 1, "summary: it has no colour; it takes each, digesters"),
    ("levels: [{always: 1, filters: [LATEST]}]", 1, "filter: expected a mapping"),
    (
        "levels: [{always: 1, filters: [{name: LATEST, window: 1}]}]",
        1,
        "level: always is true or false, not 1",
    ),
    ("<polizy/>", 1, "polizy: expected policy, found polizy"),
    ("<policy>\n<polizy/></policy>", 2, "policy: polizy has no place in policy"),
    (
        json.dumps({"levels": [{"filters": [LATEST]}, {"filters": [LATEST], "always": True}]}),
        1,
        "level: only the first level can be always",
    ),
    (
        "<policy attribute='a'><level always='true'>\n<filter name='UNIQ'/></level></policy>",
        2,
        "UNIQ: it looks at the events around one, which an always level does not see yet",
    ),
    (
        "<policy><level always='yes'><filter name='RANDOM' fraction='1'/></level></policy>",
        1,
        "level: always is true or false, not 'yes'",
    ),
    (
        '<!DOCTYPE lolz [\n<!ENTITY lol "lol">]>\n<policy attribute="&lol;"/>',
        1,
        "a policy has no document type and no entities: delete the <!DOCTYPE ...>",
    ),
    (
        '<?xml version="1.0"?>\n<!DOCTYPE p SYSTEM "file:///etc/passwd">\n<policy/>',
        2,
        "a policy has no document type",
    ),
    ('<policy attribute="&lol;"/>', 1, "not well-formed XML: undefined entity"),
    ("<a>" * 33, 1, "elements nest at most 32 deep"),
    ("<policy>", 1, "not well-formed XML: no element found; <policy> of line 1 is still open"),
    ("<policy/>\n<policy/>", 2, "not well-formed XML: junk after document element"),
    ("", 1, "the document is empty"),
    (" \n\t\n", 1, "the document is empty"),
    ("# Nothing but a comment.", 1, "the document is empty"),
    ("hello", 1, "policy: expected a mapping of names to values"),
    ("- levels", 1, "policy: expected a mapping of names to values"),
    ("a: 1\n? [b]\n: 2", 2, "policy: expected a name"),
    ("levels: 5", 1, "levels: expected a list"),
    ("levels:\n- UNIQ", 2, "level: expected a mapping of names to values"),
    ("attribute: [[a]]", 1, "attribute: expected plain values"),
    ("rest: newest\nattribute: [a, b]", 2, "policy: attribute takes one tag, not a list of 2"),
    (
        "levels:\n- filters:\n  - name: LATEST\n    window: 1\n    by: [a]",
        5,
        "filter: by takes one tag, not a list of 1",
    ),
    ("summary:\n  digesters:\n  - {name: MAX, attribute: []}", 3, "digester: attribute takes one"),
    ("attribute: {a: b}", 1, "attribute: expected a value or a list of values"),
    ("attribute: ~", 1, "expected a value, found null"),
    ("attribute: a\nattribute: b", 2, "policy: attribute stands twice"),
    ("summary: {}\nsummary: {}", 2, "policy: summary stands twice"),
    ("levels: []\nlevels: []", 2, "policy: levels stands twice"),
    ("rest: &x newest\nattribute: *x", 2, "aliases (*name) are not allowed: write it out"),
    ("a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]", 2, "aliases (*name) are not allowed"),
    ("a: 1\nb: !!python/object/apply:os.system [ls]", 2, "the tag tag:yaml.org,2002:python/object"),
    ("[" * 40 + "]" * 40, 1, "collections nest at most 32 deep"),
    ("a: {\nb: 1", 3, "not well-formed YAML or JSON: "),
    ("levels:\n\t- 1", 2, "not well-formed YAML or JSON: "),
    ("a: 1\n---\nb: 2", 2, "not well-formed YAML or JSON: but found another document"),
    ("a: 1\nb: \x07", 2, "not well-formed YAML or JSON: control characters are not allowed"),
    ("a: 1\nb: \ud800", 2, "half a character, which no text has"),
    ("#" + "x" * 65_536, None, "a policy document has at most 65536 bytes"),
]


@pytest.mark.parametrize(("text", "line", "words"), WHOLE, ids=[repr(w[2][:50]) for w in WHOLE])
def test_a_wrong_document_is_told_with_its_line(text: str, line: int | None, words: str) -> None:
    where, found = told(text)
    assert (where, found[: len(words)]) == (line, words)


JSON = [
    (in_json(name="EQ", value=[1, 2]), 8, "EQ: value is one value, not a list of 2"),
    (in_json(name="INSET", values=[]), 6, "INSET: values is empty: it would never act"),
    (in_json(name="INSET", values=5), 8, "INSET: values is a list of values, not 5: write [5]"),
    (in_json(name="LATEST", window="3"), 8, "LATEST: window is a whole number from 1 to 2**63 - 1"),
    (in_json(name="DELTA", change=-1), 8, "DELTA: change is a number above 0, not -1"),
    (in_json(name="EQ", value=None), 8, "expected a value, found null"),
    (in_json(name="LATEST", window=10**30), 8, "LATEST: window is a whole number from 1"),
    (in_json(name="INSET", values=["x" * 1_025]), 8, "INSET: a value has at most 1024 characters"),
    (in_json(name="INSET", values=[0] * 4_097), 8, "values: at most 4096 values"),
    ('{"attribute": "a",\n"attribute": "b"}', 2, "policy: attribute stands twice"),
]


@pytest.mark.parametrize(("text", "line", "words"), JSON, ids=[words[:50] for *_, words in JSON])
def test_wrong_json_is_told_with_its_line(text: str, line: int, words: str) -> None:
    where, found = told(text)
    assert found[: len(words)] == words
    assert where == line


def test_json_may_be_indented_by_tabs() -> None:
    text = '{\n\t"levels": [\n\t\t{"filters": [{"name":\t"LATEST", "window": 1}]}\n\t]\n}'
    assert len(loads(text).levels) == 1


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"levels": [{"filters": [LATEST]}] * 33}, "a policy has at most 32 levels"),
        ({"levels": [{"filters": [LATEST] * 33}]}, "level: a level has at most 32 filters"),
        (
            {"summary": {"digesters": [{"name": "MAX", "attribute": f"a{n}"} for n in range(33)]}},
            "a summary has at most 32 digesters",
        ),
    ],
)
def test_too_much_of_anything_is_refused(document: dict[str, Any], words: str) -> None:
    _, found = told(json.dumps(document))
    assert found == words


def test_a_bomb_is_refused_at_once() -> None:
    begin = time.perf_counter()
    laughs = '<!DOCTYPE p [<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(20)
    )
    told(laughs + ']><policy attribute="&u;"/>')
    told("\n".join(["a0: &a0 x", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 90))]))
    told("[" * 60_000)
    told("<a>" * 20_000)
    told("{" * 60_000)
    told("- " * 30_000)
    told("levels: [" + "{}," * 20_000 + "]")
    assert time.perf_counter() - begin < 2
