"""Who waits for an answer or for something to come true gets it, or hears why not."""

from __future__ import annotations

import asyncio

import pytest

from heliograph.event.errors import EventError, UsageError
from heliograph.net.waiting import Waiting
from heliograph.wire.core import Answered
from net.running import run


def test_an_answer_comes_to_its_request() -> None:
    async def main() -> None:
        waiting = Waiting(asyncio.get_running_loop())
        yes, no = waiting.expect(1), waiting.expect(2)
        waiting.answered(Answered(2, "not here"))
        waiting.answered(Answered(1))
        waiting.answered(Answered(3))
        await yes
        with pytest.raises(EventError, match="not here"):
            await no

    run(main())


def test_what_nobody_waits_for_any_more_is_told_to_who_did() -> None:
    async def main() -> None:
        waiting = Waiting(asyncio.get_running_loop())
        answer = waiting.expect(1)
        waiting.give_up(1, UsageError("closed"))
        waiting.answered(Answered(1))
        with pytest.raises(UsageError, match="closed"):
            await answer

    run(main())


def test_an_answer_that_nobody_looks_at_is_no_complaint() -> None:
    async def main() -> None:
        waiting = Waiting(asyncio.get_running_loop())
        waiting.expect(1)
        waiting.answered(Answered(1, "nobody cares"))
        await asyncio.sleep(0)

    run(main())


def test_what_comes_true_is_seen_when_it_is_looked_at() -> None:
    async def main() -> None:
        waiting = Waiting(asyncio.get_running_loop())
        done: list[str] = []
        await waiting.until(lambda: True)
        task = asyncio.create_task(waiting.until(lambda: bool(done)))
        gone = asyncio.create_task(waiting.until(lambda: False))
        await asyncio.sleep(0)
        gone.cancel()
        waiting.look()
        assert not task.done()
        done.append("so")
        waiting.look()
        await task

    run(main())


def test_at_the_end_nobody_waits() -> None:
    async def main() -> None:
        waiting = Waiting(asyncio.get_running_loop())
        answer = waiting.expect(1)
        task = asyncio.create_task(waiting.until(lambda: False))
        await asyncio.sleep(0)
        waiting.end(UsageError("closed"))
        for one in (answer, task):
            with pytest.raises(UsageError, match="closed"):
                await one

    run(main())
