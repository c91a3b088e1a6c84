"""Findings: what an experiment came to: the paper's numbers beside ours, and if each goal holds.

An experiment runs the same in the simulator and over real links; a `Setting` says which, and how
long. What it found is rows of a table, the data behind them, and a drawing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

# Behind a number of a paper that stands only in a plot.
READ_OFF: Final = "(read off)"


def _untold(part: float) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Setting:
    """How an experiment is run; 0 is what the experiment itself takes."""

    real: bool = False
    seeds: int = 0
    seconds: float = 0.0  # Of each of its runs.
    quick: bool = False
    tell: Callable[[float], None] = _untold  # Hears which part of it is done.


@dataclass(frozen=True)
class Row:
    """One measure: the paper's number, ours, and what must hold whatever the machine."""

    measure: str
    paper: str
    ours: str
    goal: str = ""
    holds: bool | None = None  # None: there is no goal.


@dataclass
class Findings:
    """What an experiment found."""

    rows: list[Row]
    data: Mapping[str, Mapping[str, Sequence[Any]]]  # Tables by name, columns by name.
    draw: Callable[[Figure], None]
    notes: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether every goal holds."""
        return all(one.holds is not False for one in self.rows)


@dataclass(frozen=True)
class Experiment:
    """A figure of the papers, and what measures it again."""

    name: str
    figure: str
    what: str
    simulate: Callable[[Setting], Findings]
    measure: Callable[[Setting], Findings]  # Over real links.

    def run(self, setting: Setting) -> Findings:
        """Run it."""
        return self.measure(setting) if setting.real else self.simulate(setting)


def columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return rows as columns."""
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def markdown(findings: Findings) -> str:
    """Return the table, the notes and the verdict as Markdown."""
    rows = [("measure", "paper", "ours", "must hold", "holds"), ("---",) * 5]
    says = {None: "", True: "yes", False: "**no**"}
    rows += [(one.measure, one.paper, one.ours, one.goal, says[one.holds]) for one in findings.rows]
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    lines += ["", *(f"- {one}" for one in findings.notes)] if findings.notes else []
    goals = [one for one in findings.rows if one.holds is not None]
    kept = sum(one.holds is True for one in goals)
    verdict = "yes" if findings.holds else "no"
    return "\n".join([*lines, "", f"shape holds: {verdict} ({kept} of {len(goals)} goals)", ""])


def document(findings: Findings) -> dict[str, Any]:
    """Return the table as JSON can hold it."""
    return {
        "holds": findings.holds,
        "rows": [
            {"measure": one.measure, "paper": one.paper, "ours": one.ours, "goal": one.goal,
             "holds": one.holds}
            for one in findings.rows
        ],
        "notes": findings.notes,
    }  # fmt: skip
