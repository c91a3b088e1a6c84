"""Progress on standard error, where someone watches and the work takes a while."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heliograph.event.block import Block
    from heliograph.event.schema import Schema
    from heliograph.event.trace import Trace

_QUIET_SECONDS: Final = 1.0
_REDRAW_SECONDS: Final = 0.2


def watched(trace: Trace, what: str) -> Iterator[tuple[Block, Schema]]:
    """Yield the blocks of a trace with their schema; show how far it is once it takes a second."""
    events = 0
    with _line(what) as line:
        for block in trace:
            yield block, trace.schema
            events += block.count
            share = trace.done / trace.size if trace.size else None
            line.draw(share, f"{events:,} events")


@contextmanager
def advancing(what: str) -> Iterator[Callable[[float], None]]:
    """Yield what is told which part of the work is done."""
    with _line(what) as line:
        yield line.draw


@contextmanager
def _line(what: str) -> Iterator[_Line]:
    line = _Line(what)
    try:
        yield line
    finally:
        line.close()


class _Line:
    """One line that is drawn over and over."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.shown = False
        self.next = time.monotonic() + _QUIET_SECONDS
        self.watched = sys.stderr.isatty()

    def draw(self, share: float | None, more: str = "") -> None:
        now = time.monotonic()
        if not self.watched or now < self.next:
            return
        self.next = now + _REDRAW_SECONDS
        self.shown = True
        bar = ""
        if share is not None:
            part = min(1.0, share)
            bar = f"[{'#' * round(part * 30):30}] {part:4.0%} "
        click.echo(f"\r{self.what} {bar}{more}", nl=False, err=True)

    def close(self) -> None:
        if self.shown:
            click.echo("\r\x1b[K", nl=False, err=True)
