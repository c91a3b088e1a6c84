"""`heliograph bench`: how many events a second a planet carries, and how late they are."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from heliograph.cli.attaching import Place, of_planet, show_warnings
from heliograph.cli.options import AS_JSON
from heliograph.event.errors import HeliographError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heliograph.cli.measuring import Measured

_STOP_SECONDS: Final = 10
_NANO: Final = 1e9


@click.command(short_help="Measure a planet: events a second, and latency.")
@click.option(
    "--receivers",
    type=click.IntRange(1, 1_000),
    default=4,
    show_default=True,
    metavar="N",
    help="How many receivers, each with a link of its own.",
)
@click.option(
    "--events",
    type=click.IntRange(1),
    default=50_000,
    show_default=True,
    metavar="N",
    help="How many events are published as fast as they are received.",
)
@click.option(
    "--latency-events",
    type=click.IntRange(1),
    default=2_000,
    show_default=True,
    metavar="N",
    help="How many are published at 1,000 a second, to see how late they are.",
)
@AS_JSON
@of_planet
@click.pass_context
def command(
    ctx: click.Context, place: Place, *, receivers: int, events: int, latency_events: int,
    as_json: bool,
) -> None:  # fmt: skip
    """Publish to a planet and receive from it; print events a second, and latency.

    Without --planet (and HELIOGRAPH_PLANET), a planet is started for it in a process of its own.
    The sender and all receivers share one process of Python, which is most often what limits.

    \b
    Examples:
      heliograph bench
      heliograph bench --receivers 64 --events 20000 --json
    """  # noqa: D301 - \b is click's mark for text that keeps its lines
    from heliograph.cli.measuring import measure
    from heliograph.net.loops import run

    show_warnings()
    source = ctx.get_parameter_source("planet")
    given = source is not None and source.name in ("COMMANDLINE", "ENVIRONMENT")
    with _planet(place, given=given) as address:
        found = run(
            measure(
                address, place.tls,
                receivers=receivers, events=events, latency_events=latency_events,
            )
        )  # fmt: skip
    if as_json:
        click.echo(json.dumps(found.document()))
    else:
        _show(found)


@contextmanager
def _planet(place: Place, *, given: bool) -> Iterator[str]:
    """Yield the address of the planet to be measured."""
    if given:
        yield place.address
        return
    words = [sys.executable, "-m", "heliograph.cli", "planet", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        try:
            line = process.stdout.readline() if process.stdout is not None else ""
            if "listens on " not in line:
                raise HeliographError("the planet for the bench did not start: try --planet")
            yield line.partition("listens on ")[2].partition(";")[0]
        finally:
            process.terminate()
            process.wait(_STOP_SECONDS)


def _show(found: Measured) -> None:
    from heliograph.cli.table import seconds, show_table

    head = ["receivers", "events", "published/s", "delivered", "delivered/s", "dropped"]
    head += ["p50", "p99", "max"]
    late = (found.latency_p50, found.latency_p99, found.latency_max)
    row = [
        f"{found.receivers:,}",
        f"{found.events:,}",
        f"{found.published_per_s:,.0f}",
        f"{found.delivered:,}",
        f"{found.received_per_s:,.0f}",
        f"{found.dropped:,}",
        *(seconds(one * _NANO) for one in late),
    ]
    show_table(head, [row])
    click.echo(
        f"\nlatency is that of {found.latency_events:,} deliveries at 1,000 events/s, from "
        "publish to take",
        err=True,
    )
