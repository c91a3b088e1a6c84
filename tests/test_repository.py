"""The repository keeps its own rules: mirrored tests, sizes, dependencies, light imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tokenize
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src" / "heliograph"
TESTS = ROOT / "tests"
FILE_LINES_MAX = 300
FUNCTION_LINES_MAX = 60
# What has no test file of its own, and why.
EXEMPT = {
    "__init__.py": "tested by tests/test_public.py, under a name that says what it does",
    "event/__init__.py": "holds a sentence only",
    "policy/__init__.py": "holds a sentence only",
    "lane/__init__.py": "holds a sentence only",
    "wire/__init__.py": "holds a sentence only",
    "planet/__init__.py": "holds a sentence only",
    "client/__init__.py": "holds a sentence only",
    "net/__init__.py": "holds a sentence only",
    "sim/__init__.py": "holds a sentence only",
    "experiments/__init__.py": "holds a sentence only",
    "cli/__init__.py": "tested by tests/cli/test_main.py, under a name that says what it does",
    "cli/__main__.py": "two lines, run by tests/cli/test_main.py",
}


def sources() -> list[Path]:
    return sorted(SOURCES.rglob("*.py"))


def written() -> list[Path]:
    """Return all Python files that people write."""
    folders = ("src", "tests", "examples", "benchmarks")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


@pytest.mark.parametrize("path", sources(), ids=name)
def test_a_source_has_its_test_file(path: Path) -> None:
    place = path.relative_to(SOURCES)
    mirror = TESTS / place.parent / f"test_{place.name}"
    if str(place) in EXEMPT:
        assert not mirror.exists(), "it has one now: take it out of EXEMPT"
    else:
        assert mirror.exists(), f"write {name(mirror)}"


def test_every_exemption_is_of_a_source() -> None:
    assert {str(path.relative_to(SOURCES)) for path in sources()} >= set(EXEMPT)


@pytest.mark.parametrize("path", sources(), ids=name)
def test_a_source_fits_in_the_eye(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= FILE_LINES_MAX, "one idea a file: divide it"
    for one in functions(ast.parse(text)):
        lines = (one.end_lineno or one.lineno) - one.lineno + 1
        assert lines <= FUNCTION_LINES_MAX, f"{one.name} has {lines} lines"


@pytest.mark.parametrize("path", sources(), ids=name)
def test_a_source_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def comments(path: Path) -> list[str]:
    with path.open("rb") as file:
        return [
            token.string
            for token in tokenize.tokenize(file.readline)
            if token.type == tokenize.COMMENT
        ]


@pytest.mark.parametrize("path", written(), ids=name)
def test_a_comment_keeps_the_rules(path: Path) -> None:
    for comment in comments(path):
        if re.search(r"\b(TODO|FIXME|XXX)\b", comment):
            assert re.match(r"# TODO\([a-z]+\): \S", comment), f"whose is it? {comment}"
        if "noqa" in comment:
            assert re.search(r"# noqa: [A-Z]+[0-9]+", comment), f"of which rule? {comment}"


def requirements() -> dict[str, set[str]]:
    """Return each requirement of the project with the extras that ask for it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    found: dict[str, set[str]] = {}
    for group, members in groups.items():
        for member in members:
            named = re.match(r"[A-Za-z0-9_.-]+", member)
            assert named is not None
            if named[0] != "heliograph":
                found.setdefault(named[0], set()).add(group)
    return found


def test_every_dependency_has_its_reason_in_the_docs_and_no_other() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \|(.*)\|$", text, re.MULTILINE)
    assert {row for row, _ in rows} == set(requirements())
    for row, cells in rows:
        assert all(len(cell.strip()) > 5 or "`" in cell for cell in cells.split("|")), row


def test_the_docs_name_the_extras_of_a_dependency() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for library, groups in requirements().items():
        extras = groups - {"", "dev"}
        row = next(line for line in text.splitlines() if line.startswith(f"| `{library}` |"))
        for extra in extras:
            assert f"`{extra}`" in row, row


HEAVY = ("pyarrow", "matplotlib", "click", "pyspark", "pandas", "datasketches", "re2", "yaml")


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("heliograph", (*HEAVY, "numpy", "msgspec")),
        ("heliograph.policy.pack", HEAVY),
        ("heliograph.policy.document", HEAVY),
        ("heliograph.event.trace", HEAVY),
        ("heliograph.lane.trial", HEAVY),
        ("heliograph.cli", ("pyarrow", "matplotlib", "numpy", "datasketches", "re2", "yaml")),
    ],
)
def test_an_import_loads_nothing_heavy(module: str, heavy: tuple[str, ...]) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert {name.partition(".")[0] for name in done.stdout.split()}.isdisjoint(heavy)


def test_the_version_stands_once() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version = tomllib.loads(text)["project"]["version"]
    assert f'__version__ = "{version}"' in (SOURCES / "__init__.py").read_text(encoding="utf-8")
    assert version in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_rule_that_is_not_applied_has_its_reason() -> None:
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"][
        "lint"
    ]
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    codes = set(lint["ignore"]).union(*lint["per-file-ignores"].values())
    assert {code for code in codes if f"`{code}`" not in text} == set()
