"""Thin ends: the two programs of a real thin link, one in each namespace.

As in the papers, the planet and the sender stand at one end and the receivers at the other:

    python -m heliograph.experiments.thin_ends near JOB     prints its port, then what it saw
    python -m heliograph.experiments.thin_ends far JOB      prints what it received

A job is the JSON form of a `NearJob` or a `FarJob`. Both ends read the clock of the same machine.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import math
import os
import struct
import sys
import termios
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.errors import LinkError
from heliograph.event.event import Event
from heliograph.experiments.load import EVENT_INTERVAL, SCHEMA, STREAM, padding, values
from heliograph.experiments.rig import wire_bytes
from heliograph.experiments.transit import PackWatch
from heliograph.net import loops
from heliograph.net.connect import connect
from heliograph.net.server import serve
from heliograph.planet.config import PlanetConfig
from heliograph.policy.document import loads

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from heliograph.net.client import AsyncClient
    from heliograph.net.server import Server

# How long the near end waits for its receivers.
WAIT_SECONDS: Final = 30.0
_SECOND: Final = 1_000_000_000
_SAMPLE_SECONDS: Final = 0.05
_REQUEST_SECONDS: Final = 1.0
# No request is under way when reading stops: its answer would be as late as the stop is long.
_QUIET_SECONDS: Final = 2.0


@dataclass(frozen=True)
class NearJob:
    """What the end with planet and sender is to do."""

    address: str
    seconds: float
    lane_bytes: int
    lane_entries: int = 1 << 20
    controller: str = "ladder"
    lanes: int = 1  # How many must stand before the first event is published.
    linger: float = 0.0  # How long to go on after the last event.


@dataclass(frozen=True)
class FarJob:
    """What the end with the receivers is to do: a client for each, or one for all of them."""

    address: str
    port: int
    policies: list[str]
    seconds: float
    together: bool = True
    requests: bool = False  # Whether to ask for something each second, and see how long it takes.
    stop_after: float = 0.0  # When to stop reading, if at all, and for how long.
    stop_seconds: float = 0.0


@dataclass
class Seen:
    """What the near end saw."""

    published: list[int] = field(default_factory=list)
    packs: list[tuple[int, int, float]] = field(default_factory=list)
    under_way: list[tuple[int, int]] = field(default_factory=list)
    kernel: list[tuple[int, int]] = field(default_factory=list)  # Of that, in the kernel's hands.
    silent: list[tuple[int, float]] = field(default_factory=list)  # When, seconds of silence.


@dataclass
class Got:
    """What the far end got."""

    events: list[list[tuple[int, int, int]]] = field(default_factory=list)
    digests: list[list[tuple[int, int]]] = field(default_factory=list)  # When, bytes on the wire.
    counted: list[int] = field(default_factory=list)  # What their digests counted.
    received: list[tuple[int, int]] = field(default_factory=list)
    silent: list[tuple[int, float]] = field(default_factory=list)
    asked: int = 0
    answers: list[float] = field(default_factory=list)  # Seconds from a request to its answer.
    stopped: tuple[int, int] = (0, 0)  # When reading stopped, and when it went on.
    inbox: int = 0  # Bytes that lay in its kernel then.


def waiting(sock: socket.socket, request: int) -> int:
    """Return how many bytes a kernel holds: TIOCOUTQ of those sent, FIONREAD of those received."""
    answer = fcntl.ioctl(sock.fileno(), request, b"\0" * 4)
    return int(struct.unpack("i", answer)[0])


async def near(job: NearJob) -> Seen:
    """Run the planet and publish."""
    config = PlanetConfig(
        listen=f"{job.address}:0", lane_bytes=job.lane_bytes, lane_entries=job.lane_entries,
        controller=job.controller,  # type: ignore[arg-type]
    )  # fmt: skip
    seen = Seen()
    async with serve(config) as server:
        say(server.port)
        async with connect(server.address) as client:
            sender = await client.advertise(STREAM, SCHEMA)
            stream = server.planet.multicast.streams[STREAM]
            await _until(lambda: len(stream.receivers) >= job.lanes)
            pad, watch = padding(), PackWatch(seen.packs)
            begin = time.monotonic_ns()
            for turn in range(int(job.seconds * _SECOND) // EVENT_INTERVAL):
                due = begin + turn * EVENT_INTERVAL
                await asyncio.sleep(max(0.0, (due - time.monotonic_ns()) / _SECOND))
                now = time.monotonic_ns()
                sender.publish(values(now, pad))
                seen.published.append(now)
                _look(server, watch, seen, now)
            await sender.flush()
            await asyncio.sleep(job.linger)
    return seen


async def _until(done: Callable[[], bool]) -> None:
    """Look again and again: a planet tells nobody that someone has subscribed."""
    for _ in range(int(WAIT_SECONDS / _SAMPLE_SECONDS)):
        if done():
            return
        await asyncio.sleep(_SAMPLE_SECONDS)
    raise LinkError(f"the receivers did not subscribe within {WAIT_SECONDS:g} seconds")


def _look(server: Server, watch: PackWatch, seen: Seen, now: int) -> None:
    """Take down how the first lane and its link are."""
    stream = server.planet.multicast.streams[STREAM]
    if not stream.lanes:
        return
    lane, _, state = stream.lanes[0]
    watch.look(lane, now)
    seen.under_way.append((now, state.session.window.under_way))
    seen.silent.append((now, (now - state.session.heard) / _SECOND))
    if state.link is not None:
        seen.kernel.append((now, waiting(_socket(server.shell, state.link), termios.TIOCOUTQ)))


def _socket(shell: Any, link: int) -> socket.socket:
    transport = shell._connections[link]._transport  # noqa: SLF001 - nobody else needs the socket
    found: socket.socket = transport.get_extra_info("socket")
    return found


async def far(job: FarJob) -> Got:
    """Receive for so many seconds."""
    got = Got()
    address = f"helio://{job.address}:{job.port}"
    async with asyncio.TaskGroup() as group:
        if job.together:
            group.create_task(_client(job, got, address, job.policies))
        else:
            for policy in job.policies:
                group.create_task(_client(job, got, address, [policy]))
    return got


async def _client(job: FarJob, got: Got, address: str, policies: list[str]) -> None:
    async with connect(address) as client:
        tasks = [asyncio.create_task(_receive(client, policy, got)) for policy in policies]
        tasks.append(asyncio.create_task(_sample(client, got)))
        if job.requests:
            tasks.append(asyncio.create_task(_ask(client, job, got)))
        if job.stop_seconds:
            tasks.append(asyncio.create_task(_stop(client, job, got)))
        await asyncio.sleep(job.seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Departing says goodbye behind everything that waits; closing the link is enough here.
        await client.shell.stop(0.0)


async def _receive(client: AsyncClient, policy: str, got: Got) -> None:
    place = len(got.events)
    got.events.append([])
    got.digests.append([])
    got.counted.append(0)
    async for one in client.subscribe(STREAM, loads(policy)):
        if isinstance(one, Event):
            got.events[place].append((time.monotonic_ns(), one.values["sent"], one.number))
        else:
            got.digests[place].append((time.monotonic_ns(), wire_bytes(one)))
            got.counted[place] += one.count + one.filtered


async def _sample(client: AsyncClient, got: Got) -> None:
    while True:
        session, now = client.core.session, time.monotonic_ns()
        got.received.append((now, session.received_bytes))
        if any(got.events):
            got.silent.append((now, (now - session.heard) / _SECOND))
        await asyncio.sleep(_SAMPLE_SECONDS)


async def _ask(client: AsyncClient, job: FarJob, got: Got) -> None:
    """Want a stream that nobody offers: the answer is short, and must not wait behind data."""
    end = time.monotonic() + job.stop_after - _QUIET_SECONDS if job.stop_after else math.inf
    while time.monotonic() < end:
        await asyncio.sleep(_REQUEST_SECONDS)
        got.asked += 1
        begin = time.monotonic_ns()
        receiver = client.subscribe(f"quiet/{got.asked}")
        await receiver
        got.answers.append((time.monotonic_ns() - begin) / _SECOND)
        receiver.close()


async def _stop(client: AsyncClient, job: FarJob, got: Got) -> None:
    """Block the loop, as a program does that is busy: nothing is read, and the kernel fills."""
    await asyncio.sleep(job.stop_after)
    link = client.core.session.link
    begin = time.monotonic_ns()
    time.sleep(job.stop_seconds)  # noqa: ASYNC251 - it is to block
    if link is not None:
        got.inbox = waiting(_socket(client.shell, link), termios.FIONREAD)
    got.stopped = (begin, time.monotonic_ns())


def say(what: object) -> None:
    """Tell the program that started this one.

    Not by `print`: under PYTHONUNBUFFERED that drops what a full pipe does not take at once.
    """
    with os.fdopen(sys.stdout.fileno(), "wb", closefd=False) as out:
        out.write(json.dumps(what).encode() + b"\n")


def main(words: list[str]) -> None:
    """Be one end."""
    job = json.loads(words[1])
    if words[0] == "near":
        say(asdict(loops.run(near(NearJob(**job)))))
    else:
        say(asdict(loops.run(far(FarJob(**job)))))


if __name__ == "__main__":
    main(sys.argv[1:])
