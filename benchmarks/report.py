"""Tables of a benchmark, printed as they come and written to `docs/benchmarks/`."""

from __future__ import annotations

import os
import platform
import timeit
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "benchmarks"


def best(work: Callable[[], object], seconds: float = 0.3, rounds: int = 7) -> float:
    """Return the shortest time of one run: what the work costs when nothing disturbs it."""
    timer = timeit.Timer(work)
    once = max(timer.timeit(1), 1e-7)
    number = max(1, int(seconds / rounds / once))
    return min(timer.repeat(rounds, number)) / number


class Report:
    """Collects the sections of one benchmark."""

    def __init__(self, name: str, title: str, command: str) -> None:
        """Begin with a title and what the numbers were measured on."""
        self.path = FOLDER / f"{name}.md"
        machine = (
            f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} "
            f"{platform.machine()}"
        )
        self.lines = [
            f"# {title}",
            "",
            (
                f"Printed by `{command}` on {machine}. Single runs on a shared machine: read "
                "differences under 30 % as none, and ratios rather than times."
            ),
        ]

    def section(self, title: str, text: str = "") -> None:
        """Begin a section."""
        self._say("", f"## {title}", "")
        if text:
            self._say(text, "")

    def table(self, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Add a table."""
        texts = [[str(cell) for cell in row] for row in rows]
        widths = [max(map(len, column)) for column in zip(head, *texts, strict=True)]
        for line in (head, ["-" * width for width in widths], *texts):
            cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            self._say("| " + " | ".join(cells) + " |")

    def say(self, text: str) -> None:
        """Add a sentence."""
        self._say("", text)

    def _say(self, *lines: str) -> None:
        self.lines += lines
        print("\n".join(lines), flush=True)

    def write(self) -> None:
        """Write everything to its file."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        print(f"\nwritten to {self.path.relative_to(FOLDER.parent.parent)}")
