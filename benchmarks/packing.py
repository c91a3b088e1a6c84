"""How fast a full lane is packed, and how fast `heliograph policy check` answers."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heliograph.event import arrow
from heliograph.event.block import Block, block_of, decode_block, encode_block
from heliograph.event.digest import Digest, encode_digest
from heliograph.event.schema import Schema
from heliograph.policy.binding import bind
from heliograph.policy.document import load
from heliograph.policy.pack import Held, pack
from report import Report, best

if TYPE_CHECKING:
    from heliograph.policy.binding import BoundPolicy

EVENTS = 1_024
LEVEL = 3
PULSE = Path(__file__).resolve().parent.parent / "examples/policies/pack-report-figure-2.xml"
FOUR = {"PulseRate": "int64", "SpO2": "float64", "battery": "int64", "moving": "bool"}
NUMBERS = Schema.declare(FOUR | {"leads": "int64"})
TEXT = Schema.declare(FOUR | {"patient": "string"})


def blocks(kind: str, size: int, schema: Schema) -> list[Block]:
    """Return a full lane of pulse readings, in blocks of `size` events."""
    rng = np.random.default_rng(7)
    if kind == "calm":
        walk = 75 + np.cumsum(rng.normal(0, 1, EVENTS))
        pulse = np.clip(walk, 35, 190)
    else:
        pulse = rng.normal(75, 12, EVENTS)
    fifth = "patient-7" if schema is TEXT else 12
    rows = [[value, 97.5, 81, value > 90, fifth] for value in pulse.round().astype(int).tolist()]
    times = [n * 1_000_000 for n in range(EVENTS)]
    numbers = list(range(1, EVENTS + 1))
    made = []
    for at in range(0, EVENTS, size):
        part = slice(at, at + size)
        made.append(block_of("ward-3", 1, numbers[part], times[part], rows[part], schema))
    return made


def through(data: list[bytes], policy: BoundPolicy) -> list[bytes]:
    """Pack from encoded blocks to encoded blocks and digests."""
    lane = Held([decode_block(one) for one in data])
    packed = pack(lane, policy, LEVEL)
    return [
        encode_digest(entry) if isinstance(entry, Digest) else encode_block(entry)
        for entry in packed.entries
    ]


def packing(report: Report, _rows: int) -> None:
    """Measure packs of a full lane at level 3 of the papers' pulse policy."""
    report.section(
        "Packing a full lane",
        f"{EVENTS:,} events of 5 attributes, the papers' pulse policy (DELTA 5, WITHIN 50-100, "
        f"LATEST 10; MEAN and COUNT) at level {LEVEL}, one core, from encoded to encoded, best of "
        "many. A calm pulse is a random walk; a wild one is noise, of which DELTA keeps most, and "
        "each event that DELTA keeps costs it twice what one that it drops does.",
    )
    rows = []
    for kind, schema, form, size, goal in (
        ("calm", NUMBERS, "rows", EVENTS, 2),
        ("calm", TEXT, "rows", EVENTS, 2),
        ("calm", TEXT, "rows", 64, 2),
        ("calm", TEXT, "rows", 1, 0),
        ("wild", TEXT, "rows", EVENTS, 2),
        ("calm", NUMBERS, "arrow", EVENTS, 10),
        ("calm", TEXT, "arrow", EVENTS, 10),
        ("wild", NUMBERS, "arrow", EVENTS, 10),
        ("wild", TEXT, "arrow", EVENTS, 10),
    ):
        lane = blocks(kind, size, schema)
        if form == "arrow":
            lane = [arrow.to_columns(block, schema) for block in lane]
        data = [encode_block(block) for block in lane]
        policy = bind(load(PULSE), schema)
        seconds = best(partial(through, data, policy), 2.0, 40)
        values = "5 numbers" if schema is NUMBERS else "4 numbers, a text"
        rate, wanted = f"{EVENTS / seconds / 1e6:.2f} M/s", f"{goal} M/s" if goal else "-"
        shape = f"{len(lane)} x {size}"
        rows.append([kind, values, form, shape, f"{seconds * 1e6:.0f} us", rate, wanted])
    report.table(["pulse", "attributes", "form", "blocks", "a pack", "events/s", "goal"], rows)


def check(report: Report, _rows: int) -> None:
    """Measure the command from start to end."""
    report.section("heliograph policy check", "From the start of the process to its end.")
    command = [sys.executable, "-m", "heliograph.cli", "policy", "check", str(PULSE)]
    times = []
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    best_ms, worst_ms = min(times) * 1e3, max(times) * 1e3
    report.table(
        ["best", "worst of 7", "goal"], [[f"{best_ms:.0f} ms", f"{worst_ms:.0f} ms", "300 ms"]]
    )
