"""The rooms of the architecture import only downwards, and keep their hands off each other's tools.

The checker is tested itself, on sources that break each rule.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = Path(__file__).resolve().parent.parent / "src" / "heliograph"
# From the lowest to the highest; a room imports itself and those before it.
ROOMS = (
    "event", "policy", "lane", "wire", "overlay", "naming", "graph", "selection", "planet",
    "client", "store", "net", "sim", "spark", "gateway", "web", "experiments", "cli",
)  # fmt: skip
CORES = ROOMS[: ROOMS.index("client") + 1]
# What a core would need a shell for.
SHELL_ONLY = frozenset({"asyncio", "time", "random", "socket", "threading", "uvloop"})
# Which rooms may import which third-party library; one that is not here is nobody's.
LIBRARIES = {
    "numpy": {
        "event",
        "policy",
        "lane",
        "graph",
        "selection",
        "client",
        "store",
        "spark",
        "experiments",
    },
    "msgspec": {"event", "policy", "lane", "wire", "planet", "client", "store"},
    "pyarrow": {"event", "store", "spark", "experiments"},
    "re2": {"policy"},
    "datasketches": {"policy"},
    "yaml": {"policy"},
    "uvloop": {"net"},
    "pyspark": {"spark"},
    "pandas": {"spark"},
    "click": {"cli"},
    "matplotlib": {"experiments", "cli"},
}
STANDARD = sys.stdlib_module_names
# A core is given its source of chance, and may name its type; the module has a state of its own.
GIVEN = "random.Random"


def imports(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the module of each import, wherever it stands in a file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield node.lineno, "." * node.level
            elif node.module in ("heliograph", "random"):
                yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module or ""


def breaches(room: str, source: str) -> list[str]:
    """Return what a source of a room imports against the rules."""
    found = []
    for line, module in imports(source):
        top, _, rest = module.partition(".")
        if top == "":
            found.append(f"line {line}: a relative import; write the whole name")
        elif top == "heliograph":
            other = rest.partition(".")[0]
            if other in ROOMS and ROOMS.index(other) > ROOMS.index(room):
                found.append(f"line {line}: {room} imports {other}, which is above it")
        elif top in SHELL_ONLY and room in CORES and module != GIVEN:
            found.append(f"line {line}: {room} is a core and imports {top}")
        elif top not in STANDARD and room not in LIBRARIES.get(top, ()):
            found.append(f"line {line}: {room} imports {top}, which is not its library")
    return found


def files() -> list[Path]:
    return sorted(path for path in SOURCES.rglob("*.py") if path.parent != SOURCES)


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(SOURCES)))
def test_a_file_imports_only_downwards(path: Path) -> None:
    room = path.relative_to(SOURCES).parts[0]
    assert breaches(room, path.read_text(encoding="utf-8")) == []


def test_every_folder_is_a_room() -> None:
    folders = {path.parent.relative_to(SOURCES).parts[0] for path in files()}
    assert folders <= set(ROOMS)


def test_the_root_imports_what_it_offers_only_when_that_is_asked_for() -> None:
    tree = ast.parse((SOURCES / "__init__.py").read_text(encoding="utf-8"))
    checked = [node for node in tree.body if isinstance(node, ast.If)]
    assert [ast.unparse(node.test) for node in checked] == ["TYPE_CHECKING"]
    loaded = [node for node in tree.body if node not in checked]
    assert [module for node in loaded for _, module in imports(ast.unparse(node))] == [
        "importlib", "typing",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("event", "from heliograph.policy.pack import pack"),
        ("event", "import heliograph.policy"),
        ("event", "from heliograph import policy"),
        ("policy", "def late():\n    from heliograph.cli import main"),
        (
            "policy",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import heliograph.net.tcp",
        ),
        ("policy", "import time"),
        ("policy", "from random import random"),
        ("client", "import random"),
        ("client", "from random import Random, seed"),
        ("client", "import asyncio.streams"),
        ("event", "import socket, threading"),
        ("event", "import click"),
        ("policy", "import pyarrow.compute as pc"),
        ("cli", "import numpy as np"),
        ("cli", "import requests"),
        ("event", "from . import block"),
    ],
)
def test_the_checker_sees_a_breach(room: str, source: str) -> None:
    assert breaches(room, source)


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("policy", "from heliograph.event.block import Block"),
        ("policy", "import json\nfrom heliograph.policy import judge"),
        ("cli", "import time\nimport click\nfrom heliograph import __version__"),
        ("client", "from random import Random"),
        ("net", "import asyncio\nimport uvloop"),
        ("event", "import numpy as np\nimport pyarrow as pa"),
    ],
)
def test_the_checker_lets_through_what_is_right(room: str, source: str) -> None:
    assert breaches(room, source) == []
