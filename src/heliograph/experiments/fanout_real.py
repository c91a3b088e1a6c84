"""Fan-out, real: the same over loopback, in a namespace of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from heliograph.experiments.fanout_ends import ClientsJob, words_of
from heliograph.experiments.namespaces import alone
from heliograph.experiments.thin_real import EndError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from heliograph.experiments.namespaces import Namespace

_PROGRAM: Final = [sys.executable, "-m", "heliograph.experiments.fanout_ends"]
KINDS: Final = ("planet", "forwarder", "bare")
# The papers publish each 200 ms, for three minutes. Nothing waits for so long, so we wait less.
INTERVAL: Final = 0.06


def measure(
    counts: Sequence[int], events: int, tell: Callable[[float], None]
) -> Iterator[tuple[int, list[list[list[float]]]]]:
    """Yield each number of receivers, with the latencies of each kind and each receiver."""
    with alone() as place:
        ports = [start(place, kind) for kind in KINDS]
        for turn, receivers in enumerate(counts, 1):
            job = ClientsJob(place.address, ports, receivers, events, INTERVAL)
            yield receivers, _late(place, job)
            tell(turn / len(counts))


def start(place: Namespace, kind: str) -> int:
    """Start a planet, or a kind of forwarding; return its port."""
    process = place.start([*_PROGRAM, kind, place.address], stderr=subprocess.PIPE)
    line = "" if process.stdout is None else process.stdout.readline()
    if not line.strip():
        raise EndError(f"the {kind} did not start: {process.communicate()[1]}")
    return int(line)


def _late(place: Namespace, job: ClientsJob) -> list[list[list[float]]]:
    done = place.run([*_PROGRAM, *words_of(job)], check=False)
    if done.returncode:
        raise EndError(f"the clients ended with {done.returncode}: {done.stderr.strip()}")
    found: list[list[list[float]]] = json.loads(done.stdout)
    return found
