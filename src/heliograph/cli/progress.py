"""Progress on standard error, where someone watches and the work takes a while."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heliograph.event.block import Block
    from heliograph.event.schema import Schema
    from heliograph.event.trace import Trace

_QUIET_SECONDS: Final = 1.0
_REDRAW_SECONDS: Final = 0.2


def watched(trace: Trace, what: str) -> Iterator[tuple[Block, Schema]]:
    """Yield the blocks of a trace with their schema; show how far it is once it takes a second."""
    with _bar(trace, what) as advance:
        for block in trace:
            yield block, trace.schema
            advance(block.count)


@contextmanager
def _bar(trace: Trace, what: str) -> Iterator[_Line]:
    line = _Line(trace, what)
    try:
        yield line
    finally:
        line.close()


class _Line:
    """One line that is drawn over and over."""

    def __init__(self, trace: Trace, what: str) -> None:
        self.trace, self.what = trace, what
        self.events = 0
        self.shown = False
        self.next = time.monotonic() + _QUIET_SECONDS
        self.watched = sys.stderr.isatty()

    def __call__(self, events: int) -> None:
        self.events += events
        now = time.monotonic()
        if not self.watched or now < self.next:
            return
        self.next = now + _REDRAW_SECONDS
        self.shown = True
        share = ""
        if self.trace.size:
            part = min(1.0, self.trace.done / self.trace.size)
            share = f"[{'#' * round(part * 30):30}] {part:4.0%} "
        click.echo(f"\r{self.what} {share}{self.events:,} events", nl=False, err=True)

    def close(self) -> None:
        if self.shown:
            click.echo("\r\x1b[K", nl=False, err=True)
