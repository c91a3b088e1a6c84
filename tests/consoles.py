"""The console blocks of the documentation: `python tests/consoles.py` runs them all again.

A block shows commands as `$ heliograph ...` with what they printed. A test runs them and compares;
this rewrites what they print, so that no output in the docs is ever typed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = (
    "README.md",
    "docs/policy-guide.md",
    "docs/reference/cli.md",
    "docs/reference/policy.md",
    "examples/README.md",
)
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROMPT = "$ "


@dataclass(frozen=True)
class Command:
    """One command of a block, and the lines that stand under it."""

    document: str
    words: str
    shown: tuple[str, ...]


def commands(document: str) -> list[Command]:
    """Return the commands of a document that begin with `$ heliograph`."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = [one for block in _BLOCK.findall(text) for one in _split(document, block)]
    return [one for one in found if one.words.startswith("heliograph")]


def _split(document: str, block: str) -> list[Command]:
    """Split a block at its prompts; a command goes on over lines that end in a backslash."""
    result = []
    lines = block.splitlines()
    while lines:
        words = lines.pop(0).removeprefix(_PROMPT)
        while words.endswith("\\") and lines:
            words = words + "\n" + lines.pop(0)
        end = next((n for n, line in enumerate(lines) if line.startswith(_PROMPT)), len(lines))
        result.append(Command(document, words, tuple(lines[:end])))
        lines = lines[end:]
    return result


def run(command: Command) -> subprocess.CompletedProcess[str]:
    """Run a command as a reader would, from the root of the repository."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command.words],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )


def _refreshed(document: str, text: str) -> str:
    def again(found: re.Match[str]) -> str:
        lines = []
        for one in _split(document, found[1]):
            lines.append(_PROMPT + one.words)
            ours = one.words.startswith("heliograph")
            lines += run(one).stdout.splitlines() if ours else one.shown
        return "\n".join(["```console", *lines, "```"])

    return _BLOCK.sub(again, text)


def main() -> None:
    """Run every command again, and put what it prints into the documents."""
    for document in DOCUMENTS:
        path = ROOT / document
        before = path.read_text(encoding="utf-8")
        after = _refreshed(document, before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            sys.stdout.write(f"{document} changed\n")


if __name__ == "__main__":
    main()
