"""The documents say what is there, and all of it: they are read beside the code."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click
import jsonschema
import pytest
import yaml

from consoles import DOCUMENTS, ROOT, Command, commands, planet, run, run_session, sessions
from heliograph.cli import command as root
from heliograph.policy.catalogue import DIGESTERS, FILTERS
from heliograph.policy.document import load
from heliograph.policy.json_schema import json_schema

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = ROOT / "src" / "heliograph"
SCHEMA = ROOT / "docs" / "reference" / "policy.schema.json"
MARKDOWN = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("examples/*.md")])
POLICIES = sorted(
    path
    for folder in ("examples/policies", "docs/guide")
    for path in (ROOT / folder).iterdir()
    if path.suffix in (".xml", ".yaml", ".json")
)
# The vocabulary is binding; these are the words that others would use.
SYNONYMS = re.compile(
    r"\b(broker node|publisher|subscriber|topics?|back-?pressure)\b", re.IGNORECASE
)


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def row_of(text: str, word: str) -> str:
    found = [line for line in text.splitlines() if line.startswith(f"| `{word}` |")]
    assert len(found) == 1, f"{word} has {len(found)} rows"
    return found[0]


@pytest.mark.parametrize("kind", FILTERS.values(), ids=lambda kind: kind.name)
def test_a_filter_is_documented(kind: Any) -> None:
    row = row_of(text_of("docs/reference/policy.md"), kind.name)
    _, _, parameters, selects, action, by, _, _ = row.split("|")
    assert re.findall(r"`(\w+)`", parameters) == [one.name for one in kind.parameters]
    assert action.strip() == (str(kind.action) if kind.action else "")
    assert by.strip() == ("yes" if kind.by else "")
    assert selects.strip()


def test_the_parameters_are_documented() -> None:
    text = text_of("docs/reference/policy.md")
    table = text[text.index("Parameters:") : text.index("Three details:")]
    named = {word for line in table.splitlines() for word in re.findall(r"`(\w+)`", line[:30])}
    assert named == {one.name for kind in FILTERS.values() for one in kind.parameters}


def test_the_types_of_the_filters_are_documented() -> None:
    said = {"numbers": 2, "ordered": 4, "scalar": 5, "lists": 5, "string": 1, "all": 12}
    text = text_of("docs/reference/policy.md")
    for kind in FILTERS.values():
        types = row_of(text, kind.name).split("|")[-2].strip()
        assert said[types] == len(kind.types), kind.name


@pytest.mark.parametrize("digester", DIGESTERS)
def test_a_digester_is_documented(digester: str) -> None:
    assert row_of(text_of("docs/reference/policy.md"), digester)


def verbs(command: click.Command, words: str) -> list[tuple[str, click.Command]]:
    """Return every verb with the words that call it."""
    if not isinstance(command, click.Group):
        return [(words, command)]
    context = click.Context(command)
    found = []
    for one in command.list_commands(context):
        verb = command.get_command(context, one)
        assert verb is not None
        found += verbs(verb, f"{words} {one}")
    return found


@pytest.mark.parametrize(("words", "verb"), verbs(root, "heliograph"), ids=str)
def test_a_verb_and_its_options_are_documented(words: str, verb: click.Command) -> None:
    sections = re.split(r"^## ", text_of("docs/reference/cli.md"), flags=re.MULTILINE)
    (section,) = [one for one in sections if one.startswith(f"`{words}")]
    head = section.splitlines()[0]
    for one in verb.params:
        if isinstance(one, click.Argument):
            assert one.human_readable_name.upper() in head or "SHELL" in head
        else:
            assert f"`{one.opts[-1]}" in section, one.opts
    known = {option for one in verb.params for option in one.opts}
    assert set(re.findall(r"^\| `(--[a-z-]+)", section, re.MULTILINE)) <= known


def test_the_schema_in_the_docs_is_that_of_the_code() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json_schema(), (
        "run: heliograph policy schema > docs/reference/policy.schema.json"
    )


@pytest.mark.parametrize("path", POLICIES, ids=name)
def test_an_example_policy_is_valid_under_the_schema(path: Path) -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    validator.check_schema(json_schema())
    validator.validate(load(path).document())
    if path.suffix != ".xml":
        validator.validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def public_classes() -> set[str]:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES.rglob("*.py"))
    nodes = (node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    return {node.name for node in nodes if not node.name.startswith("_")}


def test_every_public_class_is_in_the_glossary_and_no_other() -> None:
    text = text_of("docs/glossary.md")
    named = set(re.findall(r"`([A-Z]\w+)`", text[text.index("## Classes") :]))
    assert named == public_classes()


@pytest.mark.parametrize("path", MARKDOWN, ids=name)
def test_relative_links_resolve(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = path.parent / target if target else path
        assert file.exists(), link
        if anchor:
            heads = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
            assert anchor in slugs, link


@pytest.mark.parametrize("path", MARKDOWN, ids=name)
def test_documents_keep_to_the_vocabulary(path: Path) -> None:
    assert SYNONYMS.findall(path.read_text(encoding="utf-8")) == []


def test_every_document_is_in_the_index() -> None:
    index = text_of("docs/README.md")
    linked = {(ROOT / "docs" / link).resolve() for link in re.findall(r"\]\(([^)#]+)\)", index)}
    ours = [path for path in (ROOT / "docs").rglob("*.md") if "benchmarks" not in path.parts]
    assert {name(path) for path in ours if path.resolve() not in linked} == {"docs/README.md"}


SHOWN = [command for document in DOCUMENTS for command in commands(document)]


@pytest.mark.parametrize("shown", SHOWN, ids=lambda one: f"{one.document}: {one.words[:60]}")
def test_a_shown_command_runs_and_prints_what_is_shown(shown: Command) -> None:
    done = run(shown)
    assert done.returncode == 0, done.stdout
    assert shown.shown, "show what it prints: python tests/consoles.py"
    first = done.stdout.splitlines()[0]
    assert shown.head(first) == shown.head(shown.shown[0]), "run: python tests/consoles.py"


SESSIONS = [session for document in DOCUMENTS for session in sessions(document)]


@pytest.mark.parametrize("session", SESSIONS, ids=lambda one: f"{one[0].document}: {one[0].words}")
def test_a_shown_session_runs_and_prints_what_is_shown(session: list[Command]) -> None:
    tools = {tool for one in session for tool in ("curl", "openssl", "jq") if tool in one.words}
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"no {missing[0]} here")
    for shown, printed in zip(session, run_session(session), strict=True):
        heads = [shown.head(line) for line in printed[:1]]
        assert heads == [shown.head(line) for line in shown.shown[:1]], shown.words


def python_blocks() -> list[tuple[str, str, bool]]:
    """Return the blocks of Python, and whether a planet is to listen where they look for one."""
    found = []
    for path in MARKDOWN:
        blocks = re.findall(
            r"^```python( planet)?\n(.*?)^```$",
            path.read_text(encoding="utf-8"),
            re.MULTILINE | re.DOTALL,
        )
        found += [
            (f"{name(path)}:{number}", block, bool(kind))
            for number, (kind, block) in enumerate(blocks, 1)
        ]
    return found


@pytest.mark.parametrize(
    ("place", "source", "asks"), python_blocks(), ids=lambda one: str(one)[:40]
)
def test_a_python_block_runs(place: str, source: str, asks: bool) -> None:  # noqa: FBT001 - a case
    with planet() if asks else nullcontext("") as address:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", source.replace("127.0.0.1:7440", address)],
            cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), place
    assert done.stdout, "a block that prints nothing shows nothing"


def document_blocks() -> list[tuple[str, str]]:
    text = text_of("docs/reference/policy.md")
    return re.findall(r"^```(yaml|json|xml)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("form", "text"), document_blocks(), ids=["yaml", "json", "xml"])
def test_a_policy_in_the_reference_is_one(form: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / f"policy.{form}"
    path.write_text(text, encoding="utf-8")
    assert load(path).levels


@pytest.mark.parametrize("step", ["step-1", "step-2", "step-3", "syslog"])
def test_what_the_guide_shows_of_a_policy_is_in_its_file(step: str) -> None:
    guide = text_of("docs/policy-guide.md")
    section = guide[guide.index(f"(guide/{step}.yaml)") :]
    found = re.search(r"```yaml\n(.*?)```", section, re.DOTALL)
    assert found is not None
    whole = yaml.safe_load(text_of(f"docs/guide/{step}.yaml"))
    shown = yaml.safe_load(found[1])
    assert {key: whole[key] for key in shown} == shown


def test_decisions_have_their_parts() -> None:
    for path in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for part in ("- Status: ", "- Date: 2", "## Context", "## Decision", "## Consequences"):
            assert part in text, f"{path.name} lacks {part}"
        assert len(text.splitlines()) <= 60, f"{path.name} is more than a page"


@pytest.mark.parametrize("document", ["README.md", "CHANGELOG.md"])
def test_filters_and_digesters_are_counted_right(document: str) -> None:
    text = text_of(document)
    assert f"{len(FILTERS)} filters" in text
    assert f"{len(DIGESTERS)} digesters" in text
