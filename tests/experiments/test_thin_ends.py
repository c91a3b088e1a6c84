"""The two programs of a thin link, here in one process over loopback; and their outcome as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import select
import socket
import subprocess
import sys
import termios
import time
from dataclasses import asdict

import pytest

from heliograph.event.errors import LinkError
from heliograph.experiments import thin_ends
from heliograph.experiments.load import capacity, levels
from heliograph.experiments.thin_ends import FarJob, Got, NearJob, Seen, far, near, waiting
from heliograph.net import loops

POLICY = json.dumps(levels().document())


def play(near_job: NearJob, **options: object) -> tuple[Seen, Got]:
    """Run both ends; the far one begins when the near one says its port."""

    async def both() -> tuple[Seen, Got]:
        loop = asyncio.get_running_loop()
        port: asyncio.Future[int] = loop.create_future()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(thin_ends, "say", port.set_result)
            one = asyncio.create_task(near(near_job))
            job = FarJob("127.0.0.1", await port, [POLICY], 1.5, **options)  # type: ignore[arg-type]
            got = await far(job)
            return await one, got

    return loops.run(both())


def test_all_that_is_published_arrives_over_a_link_that_is_not_thin() -> None:
    seen, got = play(NearJob("127.0.0.1", 0.6, capacity(64), linger=1.0), requests=True)
    assert len(seen.published) == 20
    assert [number for _, _, number in got.events[0]] == list(range(1, 21))
    assert [sent for _, sent, _ in got.events[0]] == seen.published
    assert (seen.packs, got.counted) == ([], [0])
    assert got.answers
    assert got.received[-1][1] > 20 * 250


def test_receivers_that_are_not_together_have_clients_of_their_own() -> None:
    seen, got = play(NearJob("127.0.0.1", 0.3, capacity(64)), together=False)
    assert len(got.events[0]) == len(seen.published) == 10


def test_a_receiver_that_stops_finds_in_its_kernel_what_came_meanwhile() -> None:
    _, got = play(NearJob("127.0.0.1", 0.9, capacity(64)), stop_after=0.2, stop_seconds=0.3)
    assert got.stopped[1] > got.stopped[0] > 0


def test_an_outcome_survives_json() -> None:
    seen = Seen([1], [(2, 1, 0.5)], [(3, 4)])
    again = Seen(**json.loads(json.dumps(asdict(seen))))
    assert again.published == [1]


def test_a_kernel_says_how_much_it_holds() -> None:
    one, other = socket.socketpair()
    with one, other:
        one.send(b"12345")
        assert waiting(other, termios.FIONREAD) == 5


def test_receivers_that_do_not_come_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thin_ends, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(thin_ends, "say", lambda _: None)
    with pytest.raises(LinkError, match="did not subscribe"):
        loops.run(near(NearJob("127.0.0.1", 0.1, capacity(64))))


def test_what_is_told_is_told_whole_however_little_a_pipe_takes_at_once() -> None:
    """A signal interrupts what waits for room in a pipe: the system takes a part of it then."""
    program = (
        "import signal; from heliograph.experiments.thin_ends import say;"
        "signal.signal(signal.SIGALRM, lambda *_: None);"
        "signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01); say('x' * 300_000);"
        "signal.setitimer(signal.ITIMER_REAL, 0)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        select.select([process.stdout], [], [], 20)  # It has begun, and the pipe is full soon.
        time.sleep(0.1)
        assert json.loads(process.stdout.read()) == "x" * 300_000
    assert process.returncode == 0
