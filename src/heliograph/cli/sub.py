"""`heliograph sub`: receive a stream, and what was dropped of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import click

from heliograph.cli.arguments import POLICY
from heliograph.cli.attaching import Place, attached, of_planet
from heliograph.cli.options import located
from heliograph.cli.outputs import FORMATS, output
from heliograph.cli.stopping import LOOK_SECONDS, Stop, stopping
from heliograph.event.digest import Digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heliograph.cli.books import Books
    from heliograph.cli.outputs import Output
    from heliograph.cli.watching import Watch
    from heliograph.event.event import Event
    from heliograph.net.sync import SyncReceiver

A_BUG: Final = 3
# A stream that nobody offers is waited for; whoever waits is told so after that.
_PATIENCE_SECONDS: Final = 2.0
_WILD: Final = frozenset({"#", "+", "*", "**", ">"})  # Of MQTT, Zenoh and NATS.


@click.command(short_help="Receive a stream, and what was dropped of it.")
@click.argument("stream")
@click.option(
    "--policy",
    type=POLICY,
    metavar="POLICY",
    help="What may be dropped: a file, oldest, newest, or latest-per KEY.",
)
@click.option(
    "--capacity",
    metavar="N",
    help="What the lane at the planet holds before it is packed: 256 entries, or 64KiB.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="A table for people, JSON lines as in traces, or an Arrow IPC stream.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="End after so many events.")
@click.option("--seconds", type=click.FloatRange(0), metavar="S", help="End after so long.")
@click.option("--quiet", is_flag=True, help="No summary at the end.")
@of_planet
def command(
    stream: str, policy: str | None, capacity: str | None, form: str, place: Place, **given: Any
) -> int:
    """Receive STREAM from a planet and print it: events, and digests of what was dropped.

    The stream need not exist yet. Without a policy, everything that waits is dropped when the lane
    is full, and counted. At the end, and on Ctrl-C, standard error gets a summary: what was
    received and dropped, whether it adds up, and how the lane was packed, or why it was not.

    \b
    Examples:
      heliograph sub ward-3/pulse
      heliograph sub ward-3/pulse --policy examples/policies/pulse.yaml --capacity 64
      heliograph sub ward-3/pulse --format jsonl --limit 100 > pulse.jsonl
    """  # noqa: D301 - \b is click's mark for text that keeps its lines
    from heliograph.cli.amounts import read_capacity
    from heliograph.cli.books import Books
    from heliograph.cli.missing import attributes_missing, show_missing
    from heliograph.cli.watching import Watch, watching
    from heliograph.policy.builtin import resolve

    limits = None if capacity is None else read_capacity(capacity)
    with located(policy or ""):
        found = None if policy is None else resolve(policy)
    quiet = given.pop("quiet")
    books = Books()
    with stopping(given["seconds"]) as stop, attached(place, "sub") as (client, name):
        began = time.monotonic()
        receiver = client.subscribe(stream, found, capacity=limits)
        watch = Watch(client, receiver, name)
        writer = output(form)
        with watching(watch):
            _receive(receiver, books, writer, stop, given["limit"], watch)
        watch.last(books.dropped - books.gaps)
        if found is not None and books.events:
            show_missing(stream, attributes_missing(found, receiver.schema), receiver.schema)
        writer.close()
    if not quiet or books.troubles:
        _summary(books, watch, time.monotonic() - began)
    return A_BUG if books.troubles else 0


def _receive(
    receiver: SyncReceiver, books: Books, writer: Output, stop: Stop, limit: int | None,
    watch: Watch,
) -> None:  # fmt: skip
    patience = time.monotonic() + _PATIENCE_SECONDS
    while not stop:
        entries = receiver.take(LOOK_SECONDS)
        if limit is not None:
            entries = list(_first(entries, limit - books.events))
        for one in entries:
            books.enter(one, receiver.begin)
        if entries:
            writer.write(entries, receiver.schema)
        elif patience and time.monotonic() > patience and not books.digests + books.events:
            patience = 0.0
            if not watch.offered:
                click.echo(f"note: nobody offers {receiver.stream} yet; waiting for it", err=True)
                if _WILD.intersection(receiver.stream.split("/")):
                    click.echo("note: there are no wildcards: a stream is named in full", err=True)
        if limit is not None and books.events >= limit:
            return


def _first(entries: list[Event | Digest], limit: int) -> Iterator[Event | Digest]:
    """Yield entries up to so many events."""
    for one in entries:
        yield one
        limit -= not isinstance(one, Digest)
        if limit <= 0:
            return


def _summary(books: Books, watch: Watch, seconds: float) -> None:
    from heliograph.cli.table import seconds as shown
    from heliograph.cli.words import counted

    got = f"{counted(books.events, 'event')} and {counted(books.digests, 'digest')}"
    lost = f", {books.gaps:,} of them lost in gaps" if books.gaps else ""
    lost = f"{books.dropped:,} dropped{lost}, {books.filtered:,} filtered"
    click.echo(f"received {got} in {shown(seconds * 1e9)}; {lost}", err=True)
    click.echo(books.words(), err=True)
    if watch.missing:
        late = counted(watch.missing, "number")
        click.echo(f"note: of what was published {late} had not come yet", err=True)
    click.echo(watch.words(books.dropped - books.gaps), err=True)
