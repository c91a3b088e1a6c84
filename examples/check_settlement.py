"""Read what a receiver gets, and check that every number arrived or was counted."""

from __future__ import annotations

from pathlib import Path

from heliograph.event.block import Block
from heliograph.event.digest import Digest, settles
from heliograph.event.trace import open_trace
from heliograph.event.types import show_time
from heliograph.lane.queue import Rate
from heliograph.lane.trial import Trial
from heliograph.policy.digesters import result
from heliograph.policy.document import load
from heliograph.policy.limits import Limits

ROOT = Path(__file__).resolve().parent.parent


def receive() -> list[Block | Digest]:
    """Return what a receiver gets of the syslog over a link of six entries a second."""
    received: list[Block | Digest] = []
    trial = Trial(Limits(entries=200), Rate(6))
    trial.add_policy("syslog", load(ROOT / "docs/guide/syslog.yaml"), sink=received.append)
    with open_trace(ROOT / "examples/traces/syslog.jsonl") as trace:
        for block in trace:
            trial.offer(block, trace.schema)
    trial.finish()
    return received


def main() -> None:
    """Count, digest by digest, what arrived and what did not."""
    arrived = dropped = filtered = waiting = settled = 0
    for entry in receive():
        if isinstance(entry, Block):
            waiting += entry.count  # Not settled before the next digest comes.
            continue
        if entry.after != settled or not settles(waiting, entry):
            raise ValueError(f"something was lost silently before number {entry.upto}")
        if entry.count > 100 and entry.first_time is not None:
            says = ", ".join(f"{part.digester} {result(part)}" for part in entry.parts)
            since = show_time(entry.first_time)
            print(f"({entry.after}, {entry.upto}]: {entry.count} dropped since {since}; {says}")
        arrived, waiting, settled = arrived + waiting, 0, entry.upto
        dropped, filtered = dropped + entry.count, filtered + entry.filtered
    total = arrived + waiting + dropped + filtered
    print(f"{arrived + waiting} arrived + {dropped} dropped + {filtered} filtered = {total}")


if __name__ == "__main__":
    main()
