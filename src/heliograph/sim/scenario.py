"""Scenario: a text with a drawing, commands and recorded effects, which replays and compares.

    # A drawing, and what is going to happen.

    planet lane_entries=64
    client nurse thin
    ----
    what happened, as it was recorded

    run 2s
    ----
    ...

Some commands make a step; below its `----` stands what happened. `rewrite` records it again: only
keep what has changed if you understand why, and it is what you want (etcd's rule).
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff
from typing import TYPE_CHECKING, Final

from heliograph.sim.commands import Stage
from heliograph.sim.world import SimulationError

if TYPE_CHECKING:
    from pathlib import Path

_RECORDED: Final = "----"


@dataclass(slots=True)
class Step:
    """Some commands, and what happened."""

    commands: list[str]
    recorded: list[str]


def read_steps(text: str) -> tuple[list[str], list[Step]]:
    """Return the lines of the head of a scenario, and its steps.

    Raises:
        SimulationError: A step has no place for what happens.
    """
    lines = text.splitlines()
    start = next(
        (place for place, line in enumerate(lines) if line and not line.startswith("#")),
        len(lines),
    )
    steps: list[Step] = []
    commands: list[str] = []
    recording = False
    for number, line in enumerate(lines[start:], start + 1):
        if line == _RECORDED:
            steps.append(Step(commands, []))
            commands, recording = [], True
        elif not line.strip():
            recording = False
        elif recording:
            steps[-1].recorded.append(line)
        elif not line.startswith("#"):
            commands.append(line)
        else:
            raise SimulationError(f"line {number}: comments stand in the head of a scenario")
    if commands:
        raise SimulationError(f"no {_RECORDED} behind {commands[-1]!r}: add that line")
    return lines[:start], steps


def show(head: list[str], steps: list[Step]) -> str:
    """Return a scenario as text."""
    parts = ["\n".join(head).rstrip()]
    parts += ["\n".join([*step.commands, _RECORDED, *step.recorded]) for step in steps]
    return "\n\n".join(parts) + "\n"


def replay(text: str) -> str:
    """Return a scenario with what happens now."""
    head, steps = read_steps(text)
    stage = Stage()
    done = [Step(step.commands, stage.perform(step.commands)) for step in steps]
    return show(head, done)


def check(path: Path, *, rewrite: bool = False) -> None:
    """Replay a scenario from a file, and compare, or record it again.

    Raises:
        SimulationError: Something else happens than what was recorded.
    """
    before = path.read_text(encoding="utf-8")
    after = replay(before)
    if rewrite:
        path.write_text(after, encoding="utf-8")
    elif before != after:
        lines = unified_diff(
            before.splitlines(), after.splitlines(), "recorded", "now", lineterm="", n=2
        )
        raise SimulationError(
            f"{path.name} does not happen as it was recorded; if that is what you want, run "
            f"HELIOGRAPH_REWRITE=1 pytest tests/sim, and read the difference:\n" + "\n".join(lines)
        )
