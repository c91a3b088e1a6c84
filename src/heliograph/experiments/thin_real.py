"""Thin link, real: the same between two namespaces, over a token bucket of 50 Kbit/s."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.errors import HeliographError
from heliograph.experiments.bulk import goodput
from heliograph.experiments.load import THIN_RATE
from heliograph.experiments.namespaces import ThinLink, joined
from heliograph.experiments.thin_ends import FarJob, Got, NearJob, Seen
from heliograph.experiments.thin_table import Prompt
from heliograph.experiments.transit import Transit

if TYPE_CHECKING:
    from heliograph.experiments.namespaces import Namespace
    from heliograph.experiments.thin_link import Queue

_PROGRAM: Final = [sys.executable, "-m", "heliograph.experiments.thin_ends"]
# How long a program may take beyond its job.
_SLACK_SECONDS: Final = 60.0


class EndError(HeliographError):
    """A program at one end of a link did not do its job."""


def measure(queue: Queue, size: int, seconds: float, bulk_seconds: float, seed: int) -> Transit:
    """Send bulk TCP over a link of its own, then one queue of `size` bytes over the same link."""
    with joined(ThinLink(THIN_RATE)) as ends:
        plain = goodput(*ends, bulk_seconds)
        drain = size * 8 / THIN_RATE + 2.0
        near = NearJob(ends[0].address, seconds, size, controller=queue.controller, linger=drain)
        far = FarJob(ends[0].address, 0, [json.dumps(queue.policy(seed).document())], 0.0)
        seen, got = run(ends, near, far)
    found = Transit(queue.name, seed, seen.published)
    found.bulk = plain.bits_per_second
    found.events = [(at, sent, number) for at, sent, number in got.events[0]]
    found.digests = [(at, weight) for at, weight in got.digests[0]]
    found.packs, found.received, found.under_way = seen.packs, got.received, seen.under_way
    found.missing = len(seen.published) - len(found.events) - got.counted[0]
    found.settle()
    return found


def probe(queue: Queue, size: int, seconds: float, stop: float, seed: int) -> Prompt:
    """Ask for something each second beside the stream; then stop reading, as a busy program does.

    It has a link of its own: the answers would take some of what a queue could have.
    """
    with joined(ThinLink(THIN_RATE)) as ends:
        near = NearJob(ends[0].address, seconds + stop + 2, size, controller=queue.controller)
        policy = json.dumps(queue.policy(seed).document())
        far = FarJob(ends[0].address, 0, [policy], 0.0, requests=True, stop_after=seconds,
                     stop_seconds=stop)  # fmt: skip
        seen, got = run(ends, near, far)
    begin, end = got.stopped
    sent = [size for at, size in seen.under_way if begin <= at < end]
    silent = [seconds for at, seconds in [*seen.silent, *got.silent] if at < begin]
    return Prompt(
        got.answers, max(silent), max([got.inbox, *sent]), got.asked - len(got.answers)
    )  # fmt: skip


def run(ends: tuple[Namespace, Namespace], near: NearJob, far: FarJob) -> tuple[Seen, Got]:
    """Run both programs to their end; where and how long `far` receives is filled in.

    Raises:
        EndError: One of them ended early, or in words that are no answer.
    """
    here, there = ends
    one = here.start([*_PROGRAM, "near", json.dumps(asdict(near))], stderr=subprocess.PIPE)
    if one.stdout is None:
        raise EndError("the near end was started without a pipe")
    port = one.stdout.readline()
    if not port.strip():
        raise EndError(f"the near end did not start: {one.communicate()[1]}")
    seconds = near.seconds + near.linger
    job = asdict(far) | {"port": int(port), "seconds": far.seconds or seconds}
    other = there.start([*_PROGRAM, "far", json.dumps(job)], stderr=subprocess.PIPE)
    got = _answer(other, seconds)
    seen = _answer(one, seconds)
    return Seen(**seen), Got(**got)


def _answer(process: subprocess.Popen[str], seconds: float) -> dict[str, Any]:
    said, wrong = process.communicate(timeout=seconds + _SLACK_SECONDS)
    if process.returncode or not said.strip():
        raise EndError(f"an end of the link ended with {process.returncode}: {wrong.strip()}")
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found
