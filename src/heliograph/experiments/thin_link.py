"""Thin link: PACK's Figure 8 (Solar's 9a): a queue that drops at its tail, beside policies."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import sleep
from typing import TYPE_CHECKING, Any, Final, Literal

from heliograph.experiments import thin_real, thin_sim
from heliograph.experiments.findings import Experiment, Findings, columns
from heliograph.experiments.load import EVENT_BYTES, capacity, levels
from heliograph.experiments.namespaces import kill_all
from heliograph.experiments.thin_plot import drawing
from heliograph.experiments.thin_table import rows
from heliograph.experiments.waiting import told
from heliograph.policy.builtin import OLDEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heliograph.experiments.findings import Setting
    from heliograph.experiments.thin_table import Prompt
    from heliograph.experiments.transit import Transit
    from heliograph.policy.model import Policy


@dataclass(frozen=True)
class Queue:
    """One of the queues that stand before the same link."""

    name: str
    each: Literal["pack", "run", ""] = ""  # How many digests; a queue without levels has no such.
    controller: Literal["ladder", "aim"] = "ladder"

    def policy(self, seed: int) -> Policy:
        """Return its policy, with the chance of a run."""
        return levels(self.each, seed) if self.each else OLDEST


# The papers do not tell how long theirs was. In a shorter one, what RANDOM drops varies more from
# pack to pack, and the ladder takes that for a change of the load.
QUEUE_EVENTS: Final = 320
QUEUE_BYTES: Final = capacity(QUEUE_EVENTS)
QUEUES: Final = (
    Queue("DropTail"),
    Queue("ladder", "pack"),
    Queue("ladder, digest a run", "run"),
    Queue("aim", "pack", "aim"),
    Queue("aim, digest a run", "run", "aim"),
)
_PROBED: Final = QUEUES[1]
_SECONDS: Final = 540.0
# The ladder wanders: one run's latency deviates from the mean of many by 0.026 of DropTail's, and
# its goal is less than that away. A mean over so many is known to half a hundredth.
_SEEDS: Final = 24
_REAL_SEEDS: Final = 8  # All at once: as many as two processors carry beside each other.
_QUICK_SEEDS: Final = 3
_BULK_SECONDS: Final = 60.0
_QUICK_SECONDS: Final = 320.0  # It takes most of that until all is steady.
_QUICK_BULK_SECONDS: Final = 20.0
_STOP_SECONDS: Final = 4.0
# Between one seed's real runs and the next one's: dozens of programs that start at once would wait
# for each other.
_STAGGER_SECONDS: Final = 5.0


def simulate(setting: Setting) -> Findings:
    """Run all queues over a simulated link, with a chance of its own for each seed."""
    seconds = setting.seconds or (_QUICK_SECONDS if setting.quick else _SECONDS)
    seeds = setting.seeds or (_QUICK_SEEDS if setting.quick else _SEEDS)
    plain = thin_sim.bulk(1, _BULK_SECONDS)
    runs: dict[str, list[Transit]] = {one.name: [] for one in QUEUES}
    for seed in range(1, seeds + 1):
        for place, queue in enumerate(QUEUES):
            one = thin_sim.simulate(queue, QUEUE_BYTES, seconds, seed)
            one.bulk = plain
            runs[queue.name].append(one)
            setting.tell(((seed - 1) * len(QUEUES) + place + 1) / (seeds * len(QUEUES)))
    prompt = thin_sim.probe(_PROBED, QUEUE_BYTES, seconds / 2, 1, _STOP_SECONDS)
    return findings(runs, prompt, f"runs: {seeds} of {seconds:g} s a queue, in virtual time")


def measure(setting: Setting) -> Findings:
    """Run all queues at once, each over a real link of its own, between namespaces of its own.

    Several seeds: the ladder wanders, so that one run says little of its latency.
    """
    seconds = setting.seconds or (_QUICK_SECONDS if setting.quick else _SECONDS)
    plain = _QUICK_BULK_SECONDS if setting.quick else _BULK_SECONDS
    seeds = setting.seeds or (1 if setting.quick else _REAL_SEEDS)
    jobs = [(queue, seed) for seed in range(1, seeds + 1) for queue in QUEUES]
    last = _STAGGER_SECONDS * (seeds - 1)

    def run(queue: Queue, seed: int) -> Transit:
        sleep(_STAGGER_SECONDS * (seed - 1))
        return thin_real.measure(queue, QUEUE_BYTES, seconds, plain, seed)

    with ThreadPoolExecutor(len(jobs) + 1) as pool, told(setting.tell, seconds + plain + last + 45):
        probed = pool.submit(
            thin_real.probe, _PROBED, QUEUE_BYTES, seconds / 2, _STOP_SECONDS, seed=1
        )
        running = [pool.submit(run, queue, seed) for queue, seed in jobs]
        try:
            found = [one.result() for one in running]
            prompt = probed.result()
        except BaseException:
            # The others would go on for minutes, and leaving the pool waits for them.
            kill_all()
            raise
    runs: dict[str, list[Transit]] = {one.name: [] for one in QUEUES}
    for one in found:
        runs[one.queue].append(one)
    note = (
        f"runs: {seeds} of {seconds:g} s a queue, each over a token bucket of its own; bulk TCP "
        f"ran {plain:g} s over the same one before"
    )
    return findings(runs, prompt, note)


def findings(runs: Mapping[str, Sequence[Transit]], prompt: Prompt, note: str) -> Findings:
    """Return what all of it comes to."""
    bulk = [one.bulk for transits in runs.values() for one in transits]
    offered = [one.offered for transits in runs.values() for one in transits]
    part = [one.seconds for transits in runs.values() for one in transits]
    sent, carried = sum(offered) / len(offered) / 1e3, sum(bulk) / len(bulk) / 1e3
    notes = [
        note,
        f"bulk TCP: {carried:.1f} Kbit/s; offered: {sent:.1f}, events of {EVENT_BYTES} bytes",
        f"each queue holds {QUEUE_BYTES:,} bytes, {QUEUE_EVENTS} events",
        f"measured from pack to pack, {min(part):.0f} to {max(part):.0f} s of each run",
    ]
    return Findings(rows(runs, prompt), tables(runs), drawing(runs), notes)


def tables(runs: Mapping[str, Sequence[Transit]]) -> dict[str, dict[str, list[Any]]]:
    """Return the data behind the figure: every event, and every pack."""
    events: list[tuple[Any, ...]] = []
    packs: list[tuple[Any, ...]] = []
    for one in (one for transits in runs.values() for one in transits):
        came = {number: at for at, _, number in one.events}
        events += [
            (one.queue, one.seed, number, sent, came.get(number))
            for number, sent in enumerate(one.published, 1)
        ]
        packs += [(one.queue, one.seed, *pack) for pack in one.packs]
    return {
        "events": columns(("queue", "seed", "number", "sent_ns", "arrived_ns"), events),
        "packs": columns(("queue", "seed", "at_ns", "level", "taken"), packs),
    }


EXPERIMENT: Final = Experiment(
    "thin-link",
    "PACK Fig. 8, Solar Fig. 9a",
    "A link of 50 Kbit/s for a third more than it carries: DropTail against levels RANDOM "
    "10/25/50 %",
    simulate,
    measure,
)
