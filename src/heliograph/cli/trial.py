"""`heliograph policy try`: what a receiver would get of a recorded stream over a thin link."""

from __future__ import annotations

import importlib.util
import json
import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from heliograph.cli.options import AS_JSON, STREAM, TIME, located
from heliograph.cli.table import percent, seconds, show_table
from heliograph.event.errors import TraceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heliograph.event.block import Block
    from heliograph.event.digest import Digest
    from heliograph.event.trace import Trace
    from heliograph.policy.limits import Limits
    from heliograph.policy.queue import Rate
    from heliograph.policy.trial import Outcome

_BITS: Final = {"bit": 1, "kbit": 1_000, "mbit": 1_000_000}
_BYTES: Final = {"b": 1, "kb": 1_000, "kib": 1_024, "mb": 1_000_000, "mib": 1_048_576}
_AMOUNT: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*?)(/s)?", re.IGNORECASE)


def read_rate(text: str) -> Rate:
    """Read a rate such as `25`, `25/s` (events) or `50kbit` (bits), all a second."""
    from heliograph.policy.queue import Rate  # noqa: PLC0415 - verbs load what they need

    found = _AMOUNT.fullmatch(text.strip())
    if found and not found[2]:
        return Rate(float(found[1]))
    if found and found[2].lower() in _BITS:
        return Rate(float(found[1]) * _BITS[found[2].lower()], bits=True)
    raise UsageError(f"{text!r} is no rate: write 25/s for events, or 50kbit for bits a second")


def read_capacity(text: str) -> Limits:
    """Read a capacity such as `256` (events and digests) or `64KiB`."""
    from heliograph.policy.limits import Limits  # noqa: PLC0415 - as above

    found = _AMOUNT.fullmatch(text.strip())
    if found and not found[3]:
        if not found[2] and found[1].isdigit():
            return Limits(entries=int(found[1]))
        if found[2].lower() in _BYTES:
            return Limits(entries=None, bytes=int(float(found[1]) * _BYTES[found[2].lower()]))
    raise UsageError(f"{text!r} is no capacity: write 256 for entries, or 64KiB for bytes")


@click.command("try", short_help="See what a receiver would get of TRACE under POLICY.")
@click.argument("policy")
@click.argument("trace")
@click.option("--capacity", required=True, metavar="N", help="What the queue holds: 256, or 64KiB.")
@click.option(
    "--rate", required=True, metavar="R", help="How fast it is drained: 25/s, or 50kbit a second."
)
@click.option(
    "--controller",
    type=click.Choice(["ladder", "aim"]),
    default="ladder",
    show_default=True,
    help="What picks the level: the papers' ladder, or one that aims at the needed fraction.",
)
@click.option(
    "--against", metavar="LIST", default="", help="Brokers to run beside it: newest,oldest."
)
@click.option(
    "--output",
    metavar="FILE",
    help="Write what the receiver gets as JSON lines; - is standard output.",
)
@click.option("--plot", metavar="FILE", help="Draw latency, loss and packs as a PNG (PACK Fig. 8).")
@TIME
@STREAM
@AS_JSON
def try_(
    policy: str,
    trace: str,
    *,
    capacity: str,
    rate: str,
    controller: str,
    against: str,
    output: str | None,
    plot: str | None,
    time_tag: str | None,
    stream: str | None,
    as_json: bool,
) -> None:
    """Let TRACE arrive, at its own times, at a queue that is drained at a rate.

    Shows what the receiver gets under POLICY: latency, loss, and the levels that were used. An
    event costs its encoded size and 16 bytes on the link. --against runs what brokers do with a
    full queue, keep the newest or the oldest, over the same events.

    \b
    Example:
      heliograph policy try examples/policies/pulse.yaml examples/traces/pulse.csv \\
          --capacity 64 --rate 3/s --against newest,oldest
    """  # noqa: D301 - \b is click's mark for text that keeps its lines
    from heliograph.cli.missing import (  # noqa: PLC0415 - verbs load what they need
        attributes_missing,
        show_missing,
    )
    from heliograph.cli.progress import watched  # noqa: PLC0415 - as above
    from heliograph.event.trace import open_trace  # noqa: PLC0415 - as above
    from heliograph.policy.builtin import resolve  # noqa: PLC0415 - as above
    from heliograph.policy.trial import Trial  # noqa: PLC0415 - as above

    _check_targets([output, plot], [policy, trace])
    if plot is not None:
        _check_plot(Path(plot))
    with located(policy):
        found = resolve(policy)
    trial = Trial(read_capacity(capacity), read_rate(rate))
    with located(policy), ExitStack() as stack:
        source = stack.enter_context(open_trace(trace, time=time_tag, stream=stream))
        sink = _sink(output, source, stack)
        trial.add_policy(Path(policy).name, found, controller, sink)
        for name in filter(None, (part.strip() for part in against.split(","))):
            trial.add_broker(name)
        for block, schema in watched(source, "trying"):
            if not source.timed:
                raise UsageError(
                    f"{trace} says nowhere when its events happened: name the attribute "
                    f"that does with --time; it has {', '.join(schema.index)}"
                )
            trial.offer(block, schema)
        outcomes = trial.finish()
        missing = attributes_missing(found, source.schema)
    if not outcomes[0].offered:
        raise TraceError(f"{trace} holds no events")
    _report(outcomes, as_json=as_json, err=output == "-")
    show_missing(trace, missing, source.schema)
    if plot is not None:
        from heliograph.cli.plot import draw  # noqa: PLC0415 - matplotlib is slow to load

        draw(outcomes, Path(plot))


def _sink(
    output: str | None, source: Trace, stack: ExitStack
) -> Callable[[Block | Digest], None] | None:
    """Return what writes each entry that the receiver gets, as a JSON line."""
    if output is None:
        return None
    from heliograph.event.jsonl import lines_of  # noqa: PLC0415 - as above

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
            if Path(target).exists() and Path(source).exists() and Path(target).samefile(source):
                raise UsageError(f"{target} is what is read: write to another file")


def _check_plot(path: Path) -> None:
    """Refuse a plot before a long trace is read, not after."""
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib: pip install 'heliograph[plot]'")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {path.parent}")


def _report(outcomes: Sequence[Outcome], *, as_json: bool, err: bool) -> None:
    if as_json:
        click.echo(json.dumps([_outcome(one) for one in outcomes]), err=err)
        return
    head = ["queue", "offered", "delivered", "dropped", "loss", "digests", "link busy"]
    head += ["latency mean", "p50", "p99", "max"]
    rows = [
        [
            one.name,
            f"{one.offered:,}",
            f"{one.delivered:,}",
            f"{one.dropped:,}",
            percent(one.loss_fraction),
            f"{one.digests:,}",
            percent(one.busy_fraction),
            seconds(one.latency_mean),
            seconds(one.quantile(0.5)),
            seconds(one.quantile(0.99)),
            seconds(one.latency_max if one.delivered else None),
        ]
        for one in outcomes
    ]
    show_table(head, rows, err=err)
    ours = outcomes[0]
    if ours.filtered:
        click.echo(f"\n{ours.filtered:,} events were filtered by the always level", err=err)
    if not ours.packs:
        click.echo("\nnothing was packed: the queue was never full", err=err)
        return
    used = ", ".join(f"level {level}: {count:,}" for level, count in sorted(ours.levels.items()))
    click.echo(f"\n{ours.packs:,} packs ({used})", err=err)
    click.echo(
        f"every event is accounted for: {ours.delivered:,} delivered + {ours.dropped:,} dropped "
        f"+ {ours.filtered:,} filtered = {ours.offered:,}",
        err=err,
    )


def _outcome(one: Outcome) -> dict[str, Any]:
    """Return an outcome as JSON; times in seconds."""
    scale = 1e9
    mean = one.latency_mean
    quantiles = {f"p{rank * 100:g}": one.quantile(rank) for rank in (0.5, 0.99)}
    return {
        "queue": one.name,
        "offered": one.offered,
        "delivered": one.delivered,
        "dropped": one.dropped,
        "filtered": one.filtered,
        "loss": one.loss_fraction,
        "digests": one.digests,
        "packs": one.packs,
        "levels": {str(level): count for level, count in sorted(one.levels.items())},
        "busy": one.busy_fraction,
        "latency_s": {
            "mean": None if mean is None else mean / scale,
            **{name: None if at is None else at / scale for name, at in quantiles.items()},
            "max": one.latency_max / scale if one.delivered else None,
        },
    }
