"""`heliograph pub`: publish a stream from a file, a pipe or a generator."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import click

from heliograph.cli.arguments import FILE
from heliograph.cli.attaching import Place, attached, of_planet
from heliograph.cli.origins import (
    FORMATS,
    LINES_WANTED,
    STDIN,
    from_generator,
    from_stdin,
    from_trace,
)
from heliograph.cli.pacing import Pace, read_pace
from heliograph.cli.stopping import Stop, stopping
from heliograph.event.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heliograph.cli.origins import Reading
    from heliograph.net.sync import SyncSender

_GENERATORS: Final = ("pulse", "temperature", "traffic")
# So many events of an origin that does not wait are published before the planet has received
# them; it is well below what a sender's lane holds, so that none of them is dropped here.
_AHEAD: Final = 8_192
# A pipe is held up so long where the planet is away; then its events wait in the sender's lane,
# and what does not fit is dropped as the receivers' policies say.
_PIPE_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 1.0
# Who asked for the end has it after so long, whether or not a planet is there to take the rest.
_END_SECONDS: Final = 5.0
_INTERRUPTED: Final = 130


@click.command(short_help="Publish a stream: from a file, a pipe or a generator.")
@click.argument("stream")
@click.argument("file", type=FILE, required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default=None,
    help="What FILE is, where neither its name nor its beginning say.",
)
@click.option(
    "--generate", type=click.Choice(_GENERATORS), help="Publish made-up readings, without a FILE."
)
@click.option("--seed", default=1, show_default=True, help="Another seed, other readings.")
@click.option(
    "--rate",
    metavar="R",
    help="How fast: 25/s, 2/min or 7.2/h; or max: as fast as the planet receives.",
)
@click.option(
    "--speed",
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    help="So many times as fast as recorded; a FILE goes at 1 by itself.",
)
@click.option("--now", is_flag=True, help="Each event happens when it is published.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="End after so many events.")
@click.option("--seconds", type=click.FloatRange(0), metavar="S", help="End after so long.")
@click.option(
    "--time", "time_tag", metavar="TAG", help="The attribute that holds the time of an event."
)
@click.option("--of", "chosen", metavar="KEY", help="Which stream, of a FILE of several.")
@of_planet
def command(stream: str, place: Place, **given: Any) -> int:
    """Publish STREAM: the events of FILE, of standard input, or of a generator.

    FILE is a trace in CSV, JSON lines or Parquet; - or none is standard input, of which each line
    (JSON lines or CSV) is published as soon as it is there. Ends when the planet has received
    everything, and says how many that were.

    \b
    Examples:
      heliograph pub ward-3/pulse --generate pulse
      heliograph pub ward-3/pulse examples/traces/pulse.csv --speed 20
      heliograph pub road/a7 counts.parquet --rate max
      sensor | heliograph pub ward-3/door
    """  # noqa: D301 - \b is click's mark for text that keeps its lines
    with ExitStack() as stack:
        origin, pace = _opened(stack, **given)
        stop = stack.enter_context(stopping(given["seconds"]))
        client, _ = stack.enter_context(attached(place, "pub", stream))
        with stop.interrupted():  # It may wait for an owner that seems attached.
            sender = client.advertise(stream)
        began = time.monotonic()
        patience = _PIPE_SECONDS if _piped(given) else None
        count = _publish(sender, origin, pace, stop, now=given["now"], patience=patience)
        taken = time.monotonic() - began
        # Who asked for the end before there was one is told so by the exit code.
        early = stop.asked and not given["generate"] and not _piped(given)
        received = _wait(sender, stop)
        _summary(sender, count, taken, received=received)
        if not count and _piped(given):
            click.echo(f"note: no event came; standard input is {LINES_WANTED}", err=True)
        return 0 if received and not early else _INTERRUPTED


def _piped(given: dict[str, Any]) -> bool:
    return not given["generate"] and given["file"] in (None, STDIN)


def _opened(stack: ExitStack, **given: Any) -> tuple[Iterator[Reading], Pace]:
    """Return the events to be published, and when each is due."""
    generate, file = given["generate"], given["file"]
    if generate and file:
        raise UsageError(f"publish {file} or --generate {generate}, not both")
    piped = _piped(given)
    pace = read_pace(given["rate"], given["speed"], recorded=not piped, generated=bool(generate))
    if generate:
        origin = from_generator(generate, given["seed"])
    elif piped:
        if file is None and sys.stdin.isatty():
            raise UsageError(
                "nothing to publish: name a FILE, pipe events in, or add --generate pulse"
            )
        origin = from_stdin(given["form"] or "", given["time_tag"])
    else:
        from heliograph.event.trace import open_trace

        trace = stack.enter_context(
            open_trace(
                file, time=given["time_tag"], stream=given["chosen"], form=given["form"] or ""
            )
        )
        origin = from_trace(trace)
    return islice(origin, given["limit"]), pace


def _publish(
    sender: SyncSender, origin: Iterator[Reading], pace: Pace, stop: Stop, *, now: bool,
    patience: float | None,
) -> int:  # fmt: skip
    """Publish until the origin ends or someone asks; return how many events that were."""
    count = 0
    for reading in stop.reads(origin):
        pace.wait(reading, stop)
        if stop:
            break
        sender.publish(reading.values, None if now else reading.time)
        count += 1
        if not count % _AHEAD and not pace.waits:
            sender.flush(patience)
    return count


def _wait(sender: SyncSender, stop: Stop) -> bool:
    """Wait until the planet has received everything; say if that is so."""
    told = False
    before = stop.asked
    until = time.monotonic() + _END_SECONDS
    while not sender.flush(_LOOK_SECONDS):
        if stop.asked and (not before or time.monotonic() >= until):
            return False
        if not told:
            told = True
            click.echo("waiting for the planet to receive the rest (Ctrl-C gives it up)", err=True)
    return True


def _summary(sender: SyncSender, count: int, seconds: float, *, received: bool) -> None:
    from heliograph.cli.table import seconds as shown
    from heliograph.cli.words import counted, drop_words

    status = sender.status()
    by = "the planet has received them all" if received else "the planet has not received them all"
    click.echo(f"published {counted(count, 'event')} in {shown(seconds * 1e9)}; {by}", err=True)
    if status.get("packs"):
        click.echo(
            f"the link was too slow for {drop_words(status['dropped'])} of them: these were "
            "dropped here, and digests tell of them",
            err=True,
        )
    if received and not status.get("receivers"):
        click.echo(f"note: nobody receives it now: heliograph sub {sender.stream}", err=True)
