"""Streams of the samples as blocks and digests, and ledgers that they are entered into."""

from __future__ import annotations

from heliograph.event.block import Block, block_of
from heliograph.event.digest import Digest
from heliograph.sim.application import event_time
from heliograph.sim.ledger import Ledger
from heliograph.sim.samples import SCHEMA, values_of
from heliograph.sim.truth import Truth

STREAM = "pulse"
Entries = list[Block | Digest]


def published(last: int, epochs: int = 1) -> Truth:
    """Return the truth of a sender that published so many events in each epoch."""
    truth = Truth()
    for _ in range(epochs):
        epoch = truth.begin(STREAM, 1)
        epoch.times += [event_time(number * 1_000_000) for number in range(1, last + 1)]
    return truth


def events(first: int, last: int, epoch: int = 1) -> Block:
    """Return a block of the events `first` to `last`."""
    return some(list(range(first, last + 1)), epoch)


def some(numbers: list[int], epoch: int = 1) -> Block:
    """Return a block of some events."""
    times = [event_time(number * 1_000_000) for number in numbers]
    rows = [SCHEMA.row(values_of(STREAM, epoch, number)) for number in numbers]
    return block_of(STREAM, epoch, numbers, times, rows, SCHEMA)


def digest(after: int, upto: int, count: int, epoch: int = 1, gap: int = 0) -> Digest:
    return Digest(STREAM, epoch, after, upto, count, gap=gap)


def enter(entries: Entries, truth: Truth) -> Ledger:
    """Return a ledger into which entries have been entered."""
    ledger = Ledger("nurse", STREAM, truth)
    for entry in entries:
        ledger.take(entry, SCHEMA, event_time(10**9))
    return ledger
