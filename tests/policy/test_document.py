from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from heliograph.event.errors import PolicyError
from heliograph.policy.catalogue import Action
from heliograph.policy.document import load, loads
from heliograph.policy.element import DOCUMENT_BYTES_MAX
from heliograph.policy.model import Digester, Each, Filter, Level, Policy, Rest
from policy.strategies_policy import documents, kinds_of, policy_of, pools
from policy.written import as_xml

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

POLICIES = Path(__file__).parents[2] / "examples" / "policies"
PULSE = (
    Level((Filter("DELTA", (("change", 5),), "PulseRate"),)),
    Level((Filter("WITHIN", (("low", 50), ("high", 100)), "PulseRate"),)),
    Level((Filter("LATEST", (("window", 10),)),)),
)


def digesters(*names: str) -> tuple[Digester, ...]:
    return tuple(Digester(name, "PulseRate") for name in names)


def test_figure_2_of_the_report_reads_as_printed() -> None:
    policy = load(POLICIES / "pack-report-figure-2.xml")
    assert policy == Policy(PULSE, digesters("MEAN", "COUNT"))


def test_figure_2_of_the_conference_paper_reads_as_printed() -> None:
    policy = load(POLICIES / "pack-conference-figure-2.xml")
    assert policy == Policy(PULSE, digesters("MAX", "MIN"))


def test_figure_7b_of_solar_is_figure_2_of_the_report() -> None:
    solar = load(POLICIES / "solar-figure-7b.xml")
    assert solar.identity == load(POLICIES / "pack-report-figure-2.xml").identity


def test_the_policy_of_the_locator_is_the_six_filters_of_pack_7() -> None:
    policy = load(POLICIES / "locator.yaml")
    filters = [one for level in policy.levels for one in level.filters]
    assert [(one.name, one.attribute) for one in filters] == [
        ("EQ", "message_type"),
        ("INSET", "message"),
        ("MATCH", "host_name"),
        ("FIRST", "action"),
        ("GUNIQ", "ap_name"),
        ("EVERY", None),
    ]
    assert len(policy.levels) == 6
    assert filters[0].keeps
    assert filters[-1].action is Action.DROP


@pytest.mark.parametrize("path", sorted(POLICIES.iterdir()), ids=lambda path: path.name)
def test_every_policy_that_we_ship_reads_the_same_from_its_canonical_form(path: Path) -> None:
    policy = load(path)
    again = loads(json.dumps(policy.document()))
    assert again == policy
    assert again.identity == policy.identity


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_the_canonical_document_of_any_policy_reads_as_the_same_policy(
    data: st.DataObject,
) -> None:
    kinds = data.draw(kinds_of())
    policy = policy_of(data.draw(documents(kinds, data.draw(pools(kinds)), sketches=True)))
    written = policy.document()
    for again in (
        loads(json.dumps(written)),
        loads(json.dumps(written, ensure_ascii=False, indent="\t")),
    ):
        assert again == policy
        assert again.identity == policy.identity
        assert again.document() == written


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_xml_yaml_and_json_of_one_policy_have_one_identity(data: st.DataObject) -> None:
    kinds = data.draw(kinds_of())
    document = data.draw(documents(kinds, data.draw(pools(kinds))))
    policy = policy_of(document)
    canonical = policy.document()
    assert loads(yaml.safe_dump(canonical, allow_unicode=True)).identity == policy.identity
    text = as_xml(canonical)
    if text is not None:  # XML has no way to write some characters, nor "5" where a text is meant.
        assert loads(text).identity == policy.identity


def test_an_attribute_may_stand_on_the_policy_or_on_each_filter_and_digester() -> None:
    inherited = loads(
        '{"attribute": "a", "levels": [{"filters": [{"name": "UNIQ"}, {"name": "LATEST",'
        ' "window": 1}, {"name": "UNIQ", "attribute": "b"}]}], "summary": {"digesters": ["MAX"]}}'
    )
    assert [one.attribute for one in inherited.levels[0].filters] == ["a", None, "b"]
    assert inherited.digesters == (Digester("MAX", "a"),)


def test_digesters_may_stand_side_by_side_or_one_inside_the_other() -> None:
    nested = (
        '<digester name="MAX"><digester name="MIN"><digester name="SUM"/></digester></digester>'
    )
    beside = '<digester name="MAX"/><digester name="MIN"/><digester name="SUM"/>'
    one, other = (
        loads(f'<policy attribute="PulseRate"><summary>{text}</summary></policy>')
        for text in (nested, beside)
    )
    assert one == other == Policy(digesters=digesters("MAX", "MIN", "SUM"))


def test_an_always_level_is_not_one_of_the_levels() -> None:
    text = """
    levels:
      - {always: true, filters: [{name: EQ, attribute: a, value: 1}]}
      - filters: [{name: LATEST, window: 1}]
    summary: {each: run}
    rest: newest
    """
    policy = loads(text)
    assert [one.name for one in policy.always] == ["EQ"]
    assert len(policy.levels) == 1
    assert policy.each is Each.RUN
    assert policy.rest is Rest.NEWEST


def test_an_empty_policy_has_the_worst_case_only() -> None:
    assert loads("<policy/>") == loads("{}") == loads("levels: []") == Policy()


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "policy.xml"
    file.write_bytes(b"\xef\xbb\xbf<policy/>")
    assert load(file) == Policy()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda _file: None, "No such file"),
        (lambda file: file.mkdir(), "Is a directory"),
        (lambda file: file.write_bytes(b""), "line 1: the document is empty"),
        (lambda file: file.write_bytes(b"a: 1\nb: \xff\n"), "line 2: the file is not UTF-8 text"),
        (
            lambda file: file.write_text("#" + "é" * DOCUMENT_BYTES_MAX, "utf-8"),
            "a policy document has at most 65536 bytes",
        ),
    ],
    ids=["no file", "directory", "empty", "not UTF-8", "too big"],
)
def test_a_file_that_cannot_be_a_policy_is_refused(
    tmp_path: Path, make: Callable[[Path], object], words: str
) -> None:
    file = tmp_path / "policy"
    make(file)
    with pytest.raises(PolicyError) as caught:
        load(file)
    assert words in str(caught.value)


def read_or_refuse(text: str | bytes, tmp_path: Path | None = None) -> None:
    """Only PolicyError may come of a document from outside."""
    try:
        if isinstance(text, bytes):
            assert tmp_path is not None
            (tmp_path / "policy").write_bytes(text)
            policy = load(tmp_path / "policy")
        else:
            policy = loads(text)
    except PolicyError as error:
        assert str(error)  # noqa: PT017 - either end is right, any other error is not
    else:
        assert loads(json.dumps(policy.document())).identity == policy.identity


@settings(deadline=None, max_examples=150)
@given(st.text(st.characters(codec=None), max_size=60), st.sampled_from(["", "<", "{", "- "]))
def test_random_text_is_refused_with_a_policy_error_only(text: str, start: str) -> None:
    read_or_refuse(start + text)


@pytest.mark.parametrize("start", [b"", b"<policy>", b"levels:\n"])
def test_random_bytes_are_refused_with_a_policy_error_only(start: bytes, tmp_path: Path) -> None:
    random = Random(1)
    for _ in range(100):
        read_or_refuse(start + random.randbytes(random.randint(0, 40)), tmp_path)


SEEDS: list[str] = [path.read_text() for path in sorted(POLICIES.iterdir())]
PIECES = ["<", ">", '"', "'", "/", "&", ":", "-", "[", "{", "}", " ", "\n", "\x00", "0", "e9", "é"]


def mutated(random: Random, text: str) -> str:
    """Return a text with some pieces deleted, doubled, moved or put in."""
    for _ in range(random.randint(1, 4)):
        start = random.randrange(len(text) + 1)
        end = min(len(text), start + random.randint(0, 12))
        piece = random.choice([*PIECES, text[start:end], "", random.choice(SEEDS)[start:end]])
        text = text[:start] + piece + text[random.choice([start, end]) :]
    return text


def test_a_document_with_mistakes_is_read_or_refused_with_a_policy_error() -> None:
    random = Random(2)
    for _ in range(600):
        read_or_refuse(mutated(random, random.choice(SEEDS)))


@pytest.mark.slow
def test_a_document_with_mistakes_is_read_or_refused_over_a_long_campaign() -> None:
    random = Random(3)
    for _ in range(50_000):
        read_or_refuse(mutated(random, random.choice(SEEDS)))


def test_the_lines_of_a_policy_are_no_part_of_it() -> None:
    one = loads('<policy attribute="a"><level><filter name="UNIQ"/></level></policy>')
    other = loads('<policy attribute="a">\n\n<level><filter name="UNIQ"/></level></policy>')
    assert one == other
    lines: list[Any] = [policy.levels[0].filters[0].line for policy in (one, other)]
    assert lines == [1, 3]
