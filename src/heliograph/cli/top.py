"""`heliograph top`: a planet's status, drawn again each second."""

from __future__ import annotations

import json
import shutil
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import click

from heliograph.cli.attaching import Place, attached, of_planet
from heliograph.cli.options import AS_JSON
from heliograph.cli.stopping import LOOK_SECONDS, Stop, stopping
from heliograph.event.errors import LinkError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heliograph.net.sync import SyncClient

_ANSWER_SECONDS: Final = 2.0
# Leaves the screen that was there as it was, and comes back to it; the cursor is hidden meanwhile.
_ENTER: Final = "\x1b[?1049h\x1b[?25l"
_LEAVE: Final = "\x1b[?25h\x1b[?1049l"
_HOME: Final = "\x1b[H"
_REST: Final = "\x1b[K"
_BELOW: Final = "\x1b[J"
# Lines of a view that are no rows: heads, totals, the keys.
_FRAME_LINES: Final = 16


@click.command(short_help="Watch a planet: streams, lanes, drops, slow receivers.")
@click.option(
    "--interval",
    type=click.FloatRange(0.1),
    default=1.0,
    show_default=True,
    metavar="S",
    help="How long until it is drawn again.",
)
@click.option("--seconds", type=click.FloatRange(0), metavar="S", help="End after so long.")
@AS_JSON
@of_planet
def command(place: Place, *, interval: float, seconds: float | None, as_json: bool) -> None:
    """Watch a planet: streams, lanes with fill and level, what was dropped and why, who is slow.

    It is drawn again each second; q or Ctrl-C ends it. Where standard output is no terminal, it
    prints one view, with the rates of one interval. --json prints what `status --json` does, one
    line an interval.

    \b
    Examples:
      heliograph top
      heliograph top --planet helio://10.0.0.5:7440
      heliograph top --json --interval 10 >> planet.jsonl
    """  # noqa: D301 - \b is click's mark for text that keeps its lines
    with stopping(seconds) as stop, attached(place, "top") as (client, name):
        if as_json:
            _record(client, name, place, stop, interval)
            return
        if not sys.stdout.isatty():
            before = _look(client, name)
            stop.wait(interval)
            _print(_lines(_look(client, name) or before, before, place, rows=20))
            return
        with _screen(), _keys() as pressed:
            _redraw(client, name, place, stop, pressed, interval)


def _redraw(
    client: SyncClient, name: str, place: Place, stop: Stop, pressed: Any, interval: float
) -> None:
    before: dict[str, Any] | None = None
    while not stop:
        found = _look(client, name)
        width, height = shutil.get_terminal_size()
        rows = max(3, (height - _FRAME_LINES) // 2)
        lines = _lines(found, before, place, rows=rows)
        lines = [*lines[: height - 2], "", "q ends"]
        drawn = [f"{line[:width]}{_REST}" for line in lines[: height - 1]]
        click.echo(_HOME + "\r\n".join(drawn) + _BELOW, nl=False)
        before = found or before
        until = time.monotonic() + interval
        while not stop and time.monotonic() < until:
            if pressed(min(LOOK_SECONDS, max(0.0, until - time.monotonic()))) in ("q", "Q"):
                return


def _record(client: SyncClient, name: str, place: Place, stop: Stop, interval: float) -> None:
    """Print the status as JSON, one line an interval; what only people need is an aside."""
    while not stop:
        found = _look(client, name)
        if found is None:
            click.echo(_silence(place), err=True)
        else:
            click.echo(json.dumps(found))
        stop.wait(interval)


def _look(client: SyncClient, name: str) -> dict[str, Any] | None:
    try:
        found = client.status(_ANSWER_SECONDS)
    except LinkError:
        return None
    # Who looks is no part of the picture.
    found["clients"] = [one for one in found["clients"] if one["name"] != name]
    return found


def _lines(
    found: dict[str, Any] | None, before: dict[str, Any] | None, place: Place, *, rows: int
) -> list[str]:
    from heliograph.cli.view import view

    if found is None:
        return [_silence(place)]
    return view(found, before, rows=rows, where=f" at {place.address}")


def _silence(place: Place) -> str:
    return f"the planet at {place.address} does not answer; waiting for it"


def _print(lines: list[str]) -> None:
    for line in lines:
        click.echo(line)


@contextmanager
def _screen() -> Iterator[None]:
    click.echo(_ENTER, nl=False)
    try:
        yield
    finally:
        click.echo(_LEAVE, nl=False)


@contextmanager
def _keys() -> Iterator[Any]:
    """Yield what waits for a key for a while, and returns it, or nothing."""
    try:
        import select
        import termios
        import tty

        before = termios.tcgetattr(sys.stdin)
    except (ImportError, OSError, ValueError, termios.error):
        yield _no_key
        return

    def pressed(wait: float) -> str:
        with suppress(InterruptedError):
            ready, _, _ = select.select([sys.stdin], [], [], wait)
            if ready:
                return sys.stdin.read(1) or "q"
        return ""

    tty.setcbreak(sys.stdin)
    try:
        yield pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _no_key(wait: float) -> str:
    time.sleep(wait)
    return ""
