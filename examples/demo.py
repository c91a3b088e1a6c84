"""`make demo`: a planet, two patients, and receivers over links of which two are far too thin.

Each patient's monitor sends its pulse. A station with a good link gets everything. Two receivers
have links that pass a third of what one patient sends: one says by a policy what may be dropped,
the other keeps the newest, as other brokers' queues do. See what each gets, and read the report.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from demo_report import write_report
from heliograph import Digest, PlanetConfig, connect, serve
from heliograph.cli.books import Books
from heliograph.cli.words import counted, drop_words, fill
from heliograph.event.convert import events_of
from heliograph.event.trace import open_trace
from heliograph.policy.limits import Limits
from thin_link import thin_link

if TYPE_CHECKING:
    from heliograph.event.event import Event
    from heliograph.net.client import AsyncClient
    from heliograph.net.server import Server

ROOT = Path(__file__).resolve().parent.parent
POLICY = ROOT / "examples/policies/pulse.yaml"
TRACE = ROOT / "examples/traces/pulse.csv"
OUT = Path("out/demo")
SPEED = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0  # Ten minutes in twenty seconds.
LINK_BYTES = 1_500  # A second.
CAPACITY = Limits(entries=256)
LOW, HIGH = 50, 110
STREAM, OTHER = "ward-3/patient-7/pulse", "ward-3/patient-8/pulse"
LANE_SECONDS = 0.1


@dataclass
class Receiving:
    """One receiver of the first patient's pulse, and what it got."""

    title: str
    policy: Path | str | None
    events: list[Event] = field(default_factory=list)
    digests: list[Digest] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    books: Books = field(default_factory=Books)
    fills: list[tuple[float, float]] = field(default_factory=list)  # When, and how full.
    lane: dict[str, object] = field(default_factory=dict)

    def alarms(self) -> int:
        """Count the readings that nobody wants to lose."""
        return sum(map(alarming, self.events))


@dataclass
class Ward:
    """What all parts of the demo know."""

    readings: list[Event]
    receivings: list[Receiving]
    sent: dict[int, float] = field(default_factory=dict)  # When, by number.
    began: float = 0.0
    over: bool = False

    def now(self) -> float:
        """Return the seconds since the beginning."""
        return asyncio.get_running_loop().time() - self.began

    def done(self) -> bool:
        """Say whether every reading has been received or told as dropped, by all."""
        count = len(self.readings)
        return all(one.books.total == count and not one.books.open for one in self.receivings)


def alarming(event: Event) -> bool:
    """Say whether a reading is an alarm."""
    return not LOW <= event.values["PulseRate"] <= HIGH


async def send(ward: Ward, client: AsyncClient, stream: str, *, watched: bool) -> None:
    """Publish the trace, faster than it was recorded."""
    sender = await client.advertise(stream)
    first = ward.readings[0].time
    for number, event in enumerate(ward.readings, 1):
        due = (event.time - first) / 1e6 / SPEED
        await asyncio.sleep(max(0.0, due - ward.now()))
        if watched:
            ward.sent[number] = ward.now()
        sender.publish(event.values, event.time)
    await sender.flush()


async def receive(ward: Ward, one: Receiving, client: AsyncClient) -> None:
    """Take what comes, and enter it into the books."""
    async for entry in client.subscribe(STREAM, one.policy, capacity=CAPACITY):
        one.books.enter(entry)
        if isinstance(entry, Digest):
            one.digests.append(entry)
        else:
            one.events.append(entry)
            one.late.append(ward.now() - ward.sent[entry.number])


async def watch(ward: Ward, server: Server) -> None:
    """Look at the lanes, and show what each receiver gets."""
    live = sys.stdout.isatty()
    shown = 0
    while not ward.over:
        now = ward.now()
        lanes = server.planet.status(server.shell.clock())["lanes"]
        for one in ward.receivings:
            for lane in lanes:
                if lane["name"] == one.title and lane["stream"] == STREAM:
                    one.lane = lane
                    one.fills.append((now, lane["fill"]))
        if now >= shown * (0.5 if live else 5.0):
            if live and shown:
                print(f"\x1b[{len(ward.receivings) + 2}A", end="")
            shown += 1
            for line in picture(ward):
                print(f"{line}\x1b[K" if live else line, flush=True)
        await asyncio.sleep(LANE_SECONDS)


def picture(ward: Ward) -> list[str]:
    """Return what is shown of all receivers now."""
    alarms = sum(map(alarming, ward.readings[: len(ward.sent)]))
    head = f"{'after ' + format(ward.now(), '.0f') + ' s':27} lane  events dropped digests"
    lines = [f"{head} alarms of {alarms:<3}  age"]
    for one in ward.receivings:
        level = fill(float(str(one.lane.get("fill", 0.0))))
        age = f"{one.late[-1]:.1f} s" if one.late else "-"
        lines.append(
            f"{one.title:27} {level:>6} {len(one.events):6,} {one.books.dropped:7,} "
            f"{len(one.digests):7,} {one.alarms():10,} {age:>7}"
        )
    return [*lines, ""]


async def main() -> None:
    """Run all of it for about half a minute, then write the report."""
    with open_trace(TRACE) as trace:
        readings = [event for block in trace for event in events_of(block, trace.schema)]
    ward = Ward(
        readings,
        [
            Receiving("good link", POLICY),
            Receiving("thin link, policy", POLICY),
            Receiving("thin link, keeps the newest", "newest"),
        ],
    )
    print(
        f"Two patients, {len(readings) / 600 * SPEED:.0f} readings a second each; "
        "this shows one of them.\n"
        f"The thin links pass {LINK_BYTES:,} bytes a second, a third of what one patient sends; a\n"
        f"lane holds {CAPACITY.entries} entries. Alarms are readings below {LOW} or above {HIGH}.\n"
        "This takes half a minute.\n",
        flush=True,
    )
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serve(PlanetConfig(listen="127.0.0.1:0")))
        clients = []
        for one in ward.receivings:
            address = server.address
            if one is not ward.receivings[0]:
                address = await stack.enter_async_context(thin_link(address, LINK_BYTES))
            clients.append(await stack.enter_async_context(connect(address, name=one.title)))
        monitors = [
            await stack.enter_async_context(connect(server.address, name=f"monitor {number}"))
            for number in (7, 8)
        ]
        clients[0].subscribe(OTHER)  # The station has other patients too.
        ward.began = asyncio.get_running_loop().time()
        tasks = [
            asyncio.create_task(receive(ward, one, client))
            for one, client in zip(ward.receivings, clients, strict=True)
        ]
        watching = asyncio.create_task(watch(ward, server))
        await asyncio.gather(
            send(ward, monitors[0], STREAM, watched=True),
            send(ward, monitors[1], OTHER, watched=False),
        )
        async with asyncio.timeout(60):
            while not ward.done():  # noqa: ASYNC110 - the books of three receivers say it
                await asyncio.sleep(LANE_SECONDS)
        ward.over = True
        await watching
        for task in tasks:
            task.cancel()
    finish(ward)


def finish(ward: Ward) -> None:
    """Say what came of it, and write the report."""
    for one in ward.receivings:
        dropped = one.lane["dropped"]
        words = drop_words(dropped) if isinstance(dropped, dict) else "0"
        print(f"{one.title}: {one.books.words()}")
        print(f"  {counted(int(str(one.lane['packs'])), 'pack')}, dropped {words}")
    path = write_report(
        OUT, ward.readings, ward.receivings, speed=SPEED, link=LINK_BYTES, normal=(LOW, HIGH)
    )
    print(f"\nwritten: {path} (what each got, and why) and {path.with_name('demo.png')}")


if __name__ == "__main__":
    asyncio.run(main())
