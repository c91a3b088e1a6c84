"""`heliograph policy try`: what a receiver would get of a recorded stream over a thin link."""

from __future__ import annotations

import importlib.util
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heliograph.cli.amounts import read_capacity, read_rate
from heliograph.cli.arguments import BROKERS, FILE, POLICY
from heliograph.cli.options import AS_JSON, STREAM, TIME, located
from heliograph.cli.report import report
from heliograph.event.errors import TraceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heliograph.event.block import Block
    from heliograph.event.digest import Digest
    from heliograph.event.schema import Schema
    from heliograph.event.trace import Trace
    from heliograph.lane.queue import Rate
    from heliograph.lane.trial import Outcome
    from heliograph.policy.limits import Limits
    from heliograph.policy.model import Policy


@click.command("try", short_help="See what a receiver would get of TRACE under POLICY.")
@click.argument("policy", type=POLICY)
@click.argument("trace", type=FILE)
@click.option("--capacity", required=True, metavar="N", help="What the queue holds: 256, or 64KiB.")
@click.option(
    "--rate",
    required=True,
    metavar="R",
    help="How fast it is drained: 25/s, 2/min or 7.2/h, or 50kbit a second.",
)
@click.option(
    "--controller",
    type=click.Choice(["ladder", "aim"]),
    default="ladder",
    show_default=True,
    help="What picks the level: the papers' ladder, or one that aims at the needed fraction.",
)
@click.option(
    "--against",
    type=BROKERS,
    metavar="LIST",
    default="",
    help="Brokers to run beside it: newest,oldest.",
)
@click.option(
    "--output",
    type=FILE,
    metavar="FILE",
    help="Write what the receiver gets as JSON lines; - is standard output.",
)
@click.option(
    "--plot", type=FILE, metavar="FILE", help="Draw latency, loss and packs as a PNG (PACK Fig. 8)."
)
@TIME
@STREAM
@AS_JSON
def try_(policy: str, capacity: str, rate: str, *, as_json: bool, **given: Any) -> None:
    """Let TRACE arrive, at its own times, at a queue that is drained at a rate.

    Shows what the receiver gets under POLICY: latency, loss, and the levels that were used. An
    event costs its encoded size and 16 bytes on the link. --against runs what brokers do with a
    full queue, keep the newest or the oldest, over the same events.

    \b
    Example:
      heliograph policy try examples/policies/pulse.yaml examples/traces/pulse.csv \\
          --capacity 64 --rate 3/s --against newest,oldest
    """  # noqa: D301 - \b is click's mark for text that keeps its lines
    from heliograph.cli.missing import show_missing

    wanted = _read(policy, capacity, rate, given)
    found = _run(wanted)
    outcomes, aside = found.outcomes, wanted.output == "-"
    report(outcomes, wanted.policy, gaps=found.gaps, as_json=as_json, err=aside)
    show_missing(wanted.trace, found.missing, found.schema)
    if wanted.plot is not None:
        from heliograph.cli.plot import draw

        draw(outcomes, Path(wanted.plot))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The command line, read and checked before the trace is opened."""

    source: str  # Of the policy.
    policy: Policy
    limits: Limits
    rate: Rate
    trace: str
    controller: str
    against: tuple[str, ...]
    output: str | None
    plot: str | None
    time_tag: str | None
    stream: str | None


def _read(policy: str, capacity: str, rate: str, given: dict[str, Any]) -> _Wanted:
    from heliograph.policy.builtin import resolve

    _check_targets([given["output"], given["plot"]], [policy, given["trace"]])
    if given["plot"] is not None:
        _check_plot(Path(given["plot"]))
    with located(policy):
        found = resolve(policy)
    return _Wanted(policy, found, read_capacity(capacity), read_rate(rate), **given)


@dataclass(frozen=True, slots=True)
class _Found:
    """What each queue did; of the trace, what it lacks and what it has."""

    outcomes: Sequence[Outcome]
    gaps: int  # Numbers.
    missing: list[str]  # Attributes.
    schema: Schema


def _run(wanted: _Wanted) -> _Found:
    """Let the trace arrive."""
    from heliograph.cli.missing import attributes_missing
    from heliograph.cli.progress import watched
    from heliograph.event.trace import open_trace
    from heliograph.lane.trial import Trial

    trial = Trial(wanted.limits, wanted.rate)
    gaps = 0
    last = (0, 0)
    with located(wanted.source), ExitStack() as stack:
        source = stack.enter_context(
            open_trace(wanted.trace, time=wanted.time_tag, stream=wanted.stream)
        )
        sink = _sink(wanted.output, source, stack)
        trial.add_policy(Path(wanted.source).name, wanted.policy, wanted.controller, sink)
        for name in wanted.against:
            # The built-in policies have the same names.
            trial.add_broker(name).name = f"broker {name}"
        for block, schema in watched(source, "trying"):
            if not source.timed:
                raise UsageError(
                    f"{wanted.trace} says nowhere when its events happened: name the attribute "
                    f"that does with --time; it has {', '.join(schema.index)}"
                )
            trial.offer(block, schema)
            before = last[1] if last[0] == block.epoch else 0
            gaps += block.last - before - block.count
            last = (block.epoch, block.last)
        outcomes = trial.finish()
        missing = attributes_missing(wanted.policy, source.schema)
    if not outcomes[0].offered:
        raise TraceError(f"{wanted.trace} holds no events")
    return _Found(outcomes, gaps, missing, source.schema)


def _sink(
    output: str | None, source: Trace, stack: ExitStack
) -> Callable[[Block | Digest], None] | None:
    """Return what writes each entry that the receiver gets, as a JSON line."""
    if output is None:
        return None
    from heliograph.event.jsonl import lines_of

    try:
        file = click.open_file(output, "w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from None
    stack.enter_context(file)

    def write(entry: Block | Digest) -> None:
        file.writelines(f"{line}\n" for line in lines_of(entry, source.schema))

    return write


def _check_targets(targets: Sequence[str | None], sources: Sequence[str]) -> None:
    """Refuse to write over what is to be read."""
    for target in filter(None, targets):
        for source in sources:
            if _same(target, source):
                raise UsageError(f"{target} is what is read: write to another file")


def _same(target: str, source: str) -> bool:
    try:
        return Path(target).samefile(source)
    except OSError:  # One of them is not there, or cannot be: who opens it says so.
        return False


def _check_plot(path: Path) -> None:
    """Refuse a plot before a long trace is read, not after."""
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib: pip install 'heliograph[plot]'")
    try:
        reason = "it is a folder" if path.is_dir() else ""
        if not path.parent.is_dir():
            reason = f"there is no folder {path.parent}"
    except OSError as error:
        reason = error.strerror or str(error)
    if reason:
        raise UsageError(f"cannot write {path}: {reason}")
