"""`heliograph experiment`: the papers' figures, measured again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from heliograph.cli.options import AS_JSON

if TYPE_CHECKING:
    from heliograph.experiments.findings import Experiment, Findings

A_GOAL_MISSED: Final = 5
"""The exit code where a goal does not hold."""
_OUTPUT: Final = Path("out", "experiments")


@click.group()
def command() -> None:
    """Measure the papers' figures again: simulated, or over real links.

    Each run prints a table with the paper's number beside ours, and says whether the shape of the
    figure holds. docs/experiments.md says what each reproduces, and where we depart.
    """


@command.command("list", short_help="List the experiments.")
@AS_JSON
def list_(*, as_json: bool) -> None:
    """List the experiments, with the figures that they reproduce."""
    from heliograph.cli.table import show_table
    from heliograph.experiments.catalogue import EXPERIMENTS

    rows = [[one.name, one.figure, one.what] for one in EXPERIMENTS.values()]
    if as_json:
        click.echo(json.dumps([{"name": a, "figure": b, "what": c} for a, b, c in rows]))
        return
    show_table(["name", "figure", "what"], rows)


@command.command(short_help="Run the experiment NAME.")
@click.argument("name")
@click.option(
    "--real", is_flag=True,
    help="Run it over real links, between network namespaces (Linux, as root).",
)  # fmt: skip
@click.option(
    "--seeds", type=click.IntRange(1), metavar="N", help="How many runs, each with its own chance."
)
@click.option(
    "--seconds", type=click.FloatRange(0, min_open=True), metavar="S",
    help="How long each run is: virtual time, or real.",
)  # fmt: skip
@click.option("--quick", is_flag=True, help="Fewer and shorter runs: the shape, not the numbers.")
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Where data, plot and table go; out/experiments/NAME if absent.",
)  # fmt: skip
@AS_JSON
def run(
    name: str, *, real: bool, seeds: int | None, seconds: float | None, quick: bool,
    output: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Run the experiment NAME; write its data, its plot and its table.

    The exit code is 5 if a goal does not hold. Without the privileges that --real needs, it is
    skipped with the reason; the exit code is then 2.

    \b
    Examples:
      heliograph experiment run thin-link --quick
      heliograph experiment run thin-link --real
    """  # noqa: D301 - \b is click's mark for text that keeps its lines
    from heliograph.cli import WRONG_USAGE
    from heliograph.cli.progress import advancing
    from heliograph.experiments import files, namespaces
    from heliograph.experiments.catalogue import find
    from heliograph.experiments.findings import Setting

    experiment = find(name)
    folder = output or _OUTPUT / name
    if real and (reason := namespaces.unavailable()):
        click.echo(f"skipped: {reason}", err=True)
        raise SystemExit(WRONG_USAGE)
    files.check(folder)
    with advancing(f"running {name}") as tell:
        found = experiment.run(Setting(real, seeds or 0, seconds or 0.0, quick, tell))
    written = files.write(experiment, found, folder, real=real)
    _show(experiment, found, written, real=real, as_json=as_json)
    if not found.holds:
        raise SystemExit(A_GOAL_MISSED)


def _show(
    experiment: Experiment, found: Findings, written: list[Path], *, real: bool, as_json: bool
) -> None:
    from heliograph.experiments.findings import document, markdown

    if as_json:
        head = {"experiment": experiment.name, "real": real, "files": [str(one) for one in written]}
        click.echo(json.dumps(head | document(found)))
        return
    click.echo(f"{experiment.name}, {'real' if real else 'simulated'}: {experiment.what}\n")
    click.echo(markdown(found), nl=False)
    click.echo(f"written: {', '.join(map(str, written))}", err=True)
