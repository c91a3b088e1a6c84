"""Tries go round the addresses, and wait longer and longer, up to a bound."""

from __future__ import annotations

from random import Random

import pytest

from heliograph.client.config import ClientConfig
from heliograph.client.home import Home
from heliograph.event.errors import UsageError
from heliograph.wire.core import Connect

SECOND = 1_000_000_000


def home(address: str = "p", seed: int = 1, **settings: float) -> Home:
    config = ClientConfig(**settings)  # type: ignore[arg-type]
    one = Home(config, Random(seed))
    one.move(address)
    one.wanted = True
    return one


def tries(one: Home, count: int) -> list[str]:
    """Try so many times in vain, and return the addresses."""
    found = []
    for _ in range(count):
        effect = one.connect()
        assert effect is not None
        found.append(effect.address)
        one.connecting = False
    return found


def waits(one: Home, count: int) -> list[float]:
    """Return how long one waits after each of so many tries in vain, in seconds."""
    found = []
    for _ in range(count):
        tries(one, 1)
        one.again(0)
        assert one.retry_at is not None
        found.append(one.retry_at / SECOND)
    return found


def test_tries_go_round_all_addresses() -> None:
    assert tries(home(" p:1, q:2 ,,r:3 "), 7) == ["p:1", "q:2", "r:3", "p:1", "q:2", "r:3", "p:1"]


def test_behind_a_planet_that_answered_the_first_address_is_tried_first() -> None:
    one = home("p,q,r")
    tries(one, 2)
    one.found()
    assert tries(one, 2) == ["p", "q"]


@pytest.mark.parametrize("address", ["", " ", ",", " , ,"])
def test_without_an_address_nothing_can_be_tried(address: str) -> None:
    with pytest.raises(UsageError, match="an address is needed"):
        home(address)


def test_one_try_is_under_way_at_a_time() -> None:
    one = home()
    assert one.connect() == Connect("p")
    assert one.connect() is None
    one.again(0)
    assert one.retry_at is None
    one.connecting = False
    assert one.connect() == Connect("p")


def test_who_does_not_want_to_be_attached_tries_nothing() -> None:
    one = home()
    one.wanted = False
    one.again(0)
    assert one.retry_at is None
    assert one.connect() is None
    assert not one.connecting


def test_the_wait_doubles_up_to_its_bound_and_is_shortened_by_half_at_most() -> None:
    one = home(retry_seconds=0.1, retry_seconds_max=5.0)
    for place, wait in enumerate(waits(one, 40), 1):
        longest = min(0.1 * 2**place, 5.0)
        assert longest / 2 <= wait <= longest
    late = [wait for wait in waits(one, 40) if wait < 3.0]
    assert late  # By half at most, and not by less than a fifth always.


def test_the_first_wait_behind_a_planet_that_answered_is_the_shortest() -> None:
    one = home(retry_seconds=0.1)
    waits(one, 9)
    one.connect()
    one.found()
    one.connecting = False
    one.again(0)
    assert one.retry_at is not None
    assert 0.05 * SECOND <= one.retry_at <= 0.1 * SECOND


def test_clients_of_one_planet_do_not_come_back_at_once() -> None:
    found = {waits(home(seed=seed), 1)[0] for seed in range(20)}
    assert len(found) == 20


def test_a_wait_that_runs_is_not_begun_again() -> None:
    one = home()
    one.again(0)
    due = one.retry_at
    one.again(SECOND)
    assert one.retry_at == due
    one.connect()
    assert one.retry_at is None
