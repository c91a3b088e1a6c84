"""Turns: everyone has one, the program has its rest, and an idle loop waits for nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import pytest

from heliograph.net.turns import IDLE_NS, REST_NS_MAX, REST_NS_MIN, REST_TURNS, Turns, turns_of

if TYPE_CHECKING:
    from collections.abc import Callable

BUSY = 10 * IDLE_NS


class Loop:
    """An event loop that comes round when it is told to, and a clock that stands still."""

    def __init__(self) -> None:
        self.now = 1_000_000_000
        self.ready: list[Callable[[], None]] = []
        self.turns = Turns(cast("asyncio.AbstractEventLoop", self), clock=lambda: self.now)

    def call_soon(self, callback: Callable[[], None], *_: Any) -> None:
        self.ready.append(callback)

    def round(self, passed: int = 0) -> None:
        self.now += passed
        ready, self.ready = self.ready, []
        for one in ready:
            one()

    def work(self, took: int, done: list[str], name: str) -> Callable[[], None]:
        def turn() -> None:
            self.now += took
            done.append(name)

        return turn


def test_all_who_asked_have_their_turn_in_their_order_when_the_loop_comes_round() -> None:
    loop, done = Loop(), list[str]()
    for name in "abc":
        loop.turns.ask(loop.work(1, done, name))
    assert (done, len(loop.ready)) == ([], 1)
    loop.round()
    assert done == ["a", "b", "c"]
    assert loop.ready == []


@pytest.mark.parametrize("took", [1, REST_NS_MIN, 2 * REST_NS_MIN])
def test_a_busy_program_has_a_rest_longer_than_the_turns_took(took: int) -> None:
    loop, done = Loop(), list[str]()
    loop.turns.ask(loop.work(took, done, "a"))
    loop.round()
    end = loop.now
    loop.turns.ask(loop.work(0, done, "b"))
    while done == ["a"]:
        loop.round(IDLE_NS + 1)
    rest = max(REST_TURNS * took, REST_NS_MIN)
    assert rest <= loop.now - end <= rest + IDLE_NS + 1


def test_a_rest_has_an_end() -> None:
    loop, done = Loop(), list[str]()
    loop.turns.ask(loop.work(10 * REST_NS_MAX, done, "a"))
    loop.round()
    loop.turns.ask(loop.work(0, done, "b"))
    loop.round(BUSY)
    assert done == ["a"]
    loop.round(REST_NS_MAX)
    assert done == ["a", "b"]


def test_a_loop_with_nothing_else_to_do_ends_the_rest() -> None:
    loop, done = Loop(), list[str]()
    loop.turns.ask(loop.work(BUSY, done, "a"))
    loop.round()
    loop.turns.ask(loop.work(0, done, "b"))
    loop.round()
    assert done == ["a"], "what came before the loop came round is not known"
    loop.round(IDLE_NS)
    assert done == ["a", "b"]


def test_after_the_rest_a_turn_comes_at_once() -> None:
    loop, done = Loop(), list[str]()
    loop.turns.ask(loop.work(BUSY, done, "a"))
    loop.round()
    loop.now += REST_NS_MAX
    loop.turns.ask(loop.work(0, done, "b"))
    loop.round()
    assert done == ["a", "b"]


def test_who_asks_during_a_turn_has_one_after_it() -> None:
    loop, done = Loop(), list[str]()
    loop.turns.ask(lambda: loop.turns.ask(loop.work(0, done, "b")))
    loop.round()
    assert done == []
    loop.round(REST_NS_MIN)
    assert done == ["b"]


def test_a_turn_that_fails_costs_no_other_its_own() -> None:
    loop, done = Loop(), list[str]()

    def fail() -> None:
        raise ValueError("a bug")

    loop.turns.ask(loop.work(0, done, "a"))
    loop.turns.ask(fail)
    loop.turns.ask(loop.work(0, done, "b"))
    with pytest.raises(ValueError, match="a bug"):
        loop.round()
    loop.round(REST_NS_MIN)
    assert done == ["a", "b"]


def test_all_shells_of_a_loop_share_their_turns() -> None:
    async def main() -> Turns:
        loop = asyncio.get_running_loop()
        assert turns_of(loop) is turns_of(loop)
        return turns_of(loop)

    assert asyncio.run(main()) is not asyncio.run(main())
