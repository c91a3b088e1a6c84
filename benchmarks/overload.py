"""A receiver that takes half of what is offered: which alarms it gets, and how old events are."""

from __future__ import annotations

import json
import statistics
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from heliograph.event.errors import UsageError
from heliograph.experiments.namespaces import alone
from heliograph.net.sockets import SocketLimits
from overload_rig import ALARM_EVERY, Plan, Tally
from overload_sides import SIDES

if TYPE_CHECKING:
    from effort import Effort
    from heliograph.experiments.namespaces import Namespace
    from report import Report

RIG = Path(__file__).with_name("overload_rig.py")
# What the kernel makes of the buffers that we ask for; all others get the same, and no more.
SEND_BUFFER = 2 * SocketLimits().send_bytes
RECEIVE_BUFFER = 2 * SocketLimits().receive_bytes


def overload(report: Report, effort: Effort) -> None:
    """Measure all sides, each with a namespace of its own."""
    plan = Plan(seconds=4 * effort.seconds)
    kib = plan.queue_bytes // 1024
    report.section(
        "Overload",
        f"{plan.offered:,.0f} events/s of {plan.event_bytes} bytes are offered for "
        f"{plan.seconds:g} s, one in {ALARM_EVERY} is an alarm; the receiver takes "
        f"{plan.taken:,.0f} a second. Each side has a queue of {kib} KiB (Zenoh: as many batches; "
        "its ring stands in the client), and kernel buffers of the same size, "
        f"{SEND_BUFFER // 1024} KiB to send and {RECEIVE_BUFFER // 1024} KiB to receive, set for a "
        "network namespace in which it runs. Age is from the time at which an event is due to be "
        "published to when it is taken. A broker may hold up the sender, which is then late. One "
        "that ends the connection of a slow receiver sees it come back. Ours has the "
        "policy EQ alarm true.",
    )
    rows: list[list[object]] = []
    try:
        for side in SIDES:
            with alone() as namespace:
                rows.append(row(side.name, plan, run(namespace, side.name, plan)))
    except UsageError as error:
        report.say(f"Not measured: {error}.")
        return
    report.table(
        ["side", "alarms delivered", "all delivered", "told as dropped", "age mean", "age p99",
         "alarm age mean", "alarm age p99", "sending took",
         "reconnects"],
        rows,
    )  # fmt: skip


def run(namespace: Namespace, side: str, plan: Plan) -> Tally:
    """Run one side in a namespace whose kernel buffers are set."""
    for name, size in (("tcp_wmem", SEND_BUFFER), ("tcp_rmem", RECEIVE_BUFFER)):
        text = f"{min(4_096, size)} {size} {size}"
        namespace.run(["sh", "-c", f"echo {text} > /proc/sys/net/ipv4/{name}"])
    words = [sys.executable, str(RIG), side, json.dumps(asdict(plan))]
    done = namespace.run(words, check=False)
    if done.returncode:
        raise SystemExit(f"{side} failed under overload:\n{done.stderr}")
    return Tally(**json.loads(done.stdout.splitlines()[-1]))


def row(side: str, plan: Plan, tally: Tally) -> list[object]:
    """Return a row of the table."""
    alarms = len(range(0, plan.events, ALARM_EVERY))
    ages = sorted(tally.routine + tally.alarms)
    return [
        side,
        f"{len(tally.alarms)} of {alarms}",
        f"{len(ages) / plan.events:.1%}",
        f"{tally.counted:,}" if tally.counted else "-",
        *_ages(ages),
        *_ages(sorted(tally.alarms)),
        f"{tally.sending:.1f} s",
        tally.reconnects or "-",
    ]


def _ages(ages: list[float]) -> list[str]:
    if not ages:
        return ["-", "-"]
    p99 = ages[min(len(ages) - 1, int(0.99 * len(ages)))]
    return [f"{statistics.fmean(ages) * 1e3:,.0f} ms", f"{p99 * 1e3:,.0f} ms"]
