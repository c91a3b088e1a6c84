"""Report: what a trial found, as a table or as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from heliograph.cli.table import percent, seconds, show_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heliograph.lane.trial import Outcome
    from heliograph.policy.model import Policy

A_BUG: Final = 3
"""The exit code where Heliograph itself is wrong."""


def report(
    outcomes: Sequence[Outcome], policy: Policy, *, gaps: int, as_json: bool, err: bool
) -> None:
    """Show what each queue did; the first is that of the policy.

    `gaps` is how many numbers the trace itself lacks. What is dropped behind one is told together
    with the digest that settles it (decision 8), and a trial leaves out those of a trace.

    Raises:
        SystemExit: An event was neither delivered nor counted, which no policy can be blamed for.
    """
    ours = outcomes[0]
    if as_json:
        click.echo(json.dumps([_outcome(one, policy) for one in outcomes]), err=err)
    else:
        _show(outcomes, policy, err=err)
    missing = ours.offered - ours.delivered - ours.told - ours.filtered
    if not missing:
        if not as_json:
            click.echo(f"every event is accounted for: {_account(ours)}", err=err)
    elif gaps and 0 < missing == ours.dropped - ours.told:
        click.echo(
            f"note: {missing:,} dropped events wait to be told: the trace lacks {gaps:,} numbers "
            "before them, and try offers no digest that settles those, not even of the trace; "
            f"{_account(ours)}",
            err=True,
        )
    else:
        click.echo(
            f"error: {_account(ours)}, but {ours.offered:,} were offered: this is a bug of "
            "Heliograph, not of your policy or trace; please report it with both",
            err=True,
        )
        raise SystemExit(A_BUG)


def level_name(level: int, policy: Policy) -> str:
    """Return what the JSON report calls a level; the one above the policy's last is no level."""
    if level <= len(policy.levels):
        return str(level)
    return "worst case" if policy.rest == "nothing" else "rest"


def _show(outcomes: Sequence[Outcome], policy: Policy, *, err: bool) -> None:
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
        verb = "event was" if ours.filtered == 1 else "events were"
        click.echo(f"\n{ours.filtered:,} {verb} filtered by the always level", err=err)
    click.echo(f"\n{_packs(ours, policy)}", err=err)


def _packs(ours: Outcome, policy: Policy) -> str:
    if not ours.packs:
        return "nothing was packed: the queue was never full"
    used = []
    for level, count in sorted(ours.levels.items()):
        name = level_name(level, policy)
        words = {"rest": f"rest {policy.rest}", "worst case": name}.get(name, f"level {name}")
        used.append(f"{words}: {count:,}")
    return f"{ours.packs:,} {'pack' if ours.packs == 1 else 'packs'} ({', '.join(used)})"


def _account(ours: Outcome) -> str:
    """Return what the receiver got and was told, as a sum that it can check."""
    total = ours.delivered + ours.told + ours.filtered
    return (
        f"{ours.delivered:,} delivered + {ours.told:,} told in digests "
        f"+ {ours.filtered:,} filtered = {total:,}"
    )


def _outcome(one: Outcome, policy: Policy) -> dict[str, Any]:
    """Return an outcome as JSON; times in seconds."""
    scale = 1e9
    mean = one.latency_mean
    quantiles = {f"p{rank * 100:g}": one.quantile(rank) for rank in (0.5, 0.99)}
    return {
        "queue": one.name,
        "offered": one.offered,
        "delivered": one.delivered,
        "dropped": one.dropped,
        "told": one.told,
        "filtered": one.filtered,
        "loss": one.loss_fraction,
        "digests": one.digests,
        "packs": one.packs,
        "levels": {level_name(level, policy): n for level, n in sorted(one.levels.items())},
        "busy": one.busy_fraction,
        "latency_s": {
            "mean": None if mean is None else mean / scale,
            **{name: None if at is None else at / scale for name, at in quantiles.items()},
            "max": one.latency_max / scale if one.delivered else None,
        },
    }
