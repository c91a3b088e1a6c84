"""The report of the demo: a table, a drawing of what each receiver got, and how to read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heliograph.policy.digesters import result

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from demo import Receiving
    from heliograph import Digest, Event

GREY, BLUE, RED, SAND = "#9ca3af", "#1d4ed8", "#dc2626", "#f59e0b"


def write_report(
    folder: Path,
    readings: Sequence[Event],
    receivings: Sequence[Receiving],
    *,
    speed: float,
    link: int,
    normal: tuple[int, int],
) -> Path:
    """Write report.md and demo.png into a folder; return where the report is."""
    folder.mkdir(parents=True, exist_ok=True)
    draw(folder / "demo.png", readings, receivings, speed, normal)
    alarms = _alarms(readings, normal)
    rows = []
    for one in receivings:
        late = sorted(one.late)
        got = _alarms(one.events, normal)
        rows.append(
            f"| {one.title} | {len(one.events):,} | {one.books.dropped:,} | {len(one.digests):,} "
            f"| **{got} of {alarms}** | {late[len(late) // 2]:.1f} s | {late[-1]:.1f} s "
            f"| {one.lane['packs']} |"
        )
    text = f"""# What a receiver gets over a link that is too thin

{len(readings):,} readings of a patient's pulse, {speed:g} times as fast as recorded. The thin links
pass {link:,} bytes a second. An alarm is a reading below {normal[0]} or above {normal[1]}.

| receiver | events | dropped | digests | alarms | median age | oldest | packs |
|---|---|---|---|---|---|---|---|
{chr(10).join(rows)}

Each row adds up: events + dropped = {len(readings):,}. Age is from publishing to receiving.

![What each receiver got](demo.png)

Grey is what the monitor sent, dots are what arrived (alarms red), and boxes are digests: when, and
from where to where, the pulse was that was dropped (a bar at the bottom where a policy asks for no
more than the count). The lane of the good link stayed empty, so nothing was packed there: a slow
receiver slows nobody else. The policy, examples/policies/pulse.yaml, gives up what is normal first;
`newest` knows nothing of a pulse, and loses alarms with the rest.
"""
    path = folder / "report.md"
    path.write_text(text, encoding="utf-8")
    return path


def _alarms(events: Sequence[Event], normal: tuple[int, int]) -> int:
    return sum(not normal[0] <= one.values["PulseRate"] <= normal[1] for one in events)


def draw(
    path: Path,
    readings: Sequence[Event],
    receivings: Sequence[Receiving],
    speed: float,
    normal: tuple[int, int],
) -> None:
    """Draw what the receivers of the thin links got, and how full all lanes were."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - it is slow
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    drawn = Figure(figsize=(11, 7.5), layout="constrained")
    FigureCanvasAgg(drawn)
    thin = receivings[1:]
    axes = drawn.subplots(len(thin) + 1, 1, sharex=True, height_ratios=[*[3] * len(thin), 1.6])
    first = readings[0].time
    for axis, one in zip(axes, thin, strict=False):
        _pulse(axis, readings, one, first, normal)
    lanes = axes[-1]
    for one, colour in zip(receivings, (GREY, BLUE, SAND), strict=True):
        points = [(at * speed, part * 100) for at, part in one.fills]
        lanes.plot(*zip(*points, strict=True), color=colour, linewidth=1.2, label=one.title)
    lanes.set_ylabel("lane full (%)")
    lanes.set_ylim(0, 105)
    lanes.set_xlabel("time in the recorded stream (s)")
    lanes.legend(loc="lower right", ncols=3, fontsize=8, frameon=False)
    drawn.savefig(path, dpi=100)


def _pulse(
    axis: Any, readings: Sequence[Event], one: Receiving, first: int, normal: tuple[int, int]
) -> None:
    whole = [((event.time - first) / 1e6, event.values["PulseRate"]) for event in readings]
    axis.plot(*zip(*whole, strict=True), color=GREY, linewidth=0.6, zorder=1)
    for digest in one.digests:
        _box(axis, digest, first)
    for alarms, colour, size in ((False, BLUE, 3), (True, RED, 7)):
        points = [
            ((event.time - first) / 1e6, event.values["PulseRate"])
            for event in one.events
            if (not normal[0] <= event.values["PulseRate"] <= normal[1]) == alarms
        ]
        if points:
            axis.scatter(*zip(*points, strict=True), s=size, color=colour, zorder=3, linewidths=0)
    axis.axhspan(*normal, color="#f1f5f9", zorder=0)
    axis.set_ylabel("pulse")
    got, there = _alarms(one.events, normal), _alarms(readings, normal)
    axis.set_title(
        f"{one.title}: {len(one.events):,} of {len(readings):,} readings, "
        f"{got} of {there} alarms, the rest in {len(one.digests)} digests",
        fontsize=10, loc="left",
    )  # fmt: skip


def _box(axis: Any, digest: Digest, first: int) -> None:
    """Draw what a digest tells: from when to when, and from where to where."""
    if digest.first_time is None or digest.last_time is None:
        return
    told = {part.digester: result(part) for part in digest.parts if part.known}
    left, right = ((at - first) / 1e6 for at in (digest.first_time, digest.last_time))
    low, high = told.get("MIN"), told.get("MAX")
    if low is None or high is None:
        axis.hlines(32, left, right, color=SAND, linewidth=4, zorder=2)
        return
    axis.fill_between([left, right], low, high, color=SAND, alpha=0.25, zorder=2, linewidth=0)
    axis.hlines(told["MEAN"], left, right, color=SAND, linewidth=1.5, zorder=2)
