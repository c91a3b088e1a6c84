"""What every core offers, and what it may ask of its shell."""

from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError, fields
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from heliograph.client.client import Client
from heliograph.client.config import ClientConfig
from heliograph.planet.config import PlanetConfig
from heliograph.planet.planet import Planet
from heliograph.wire.core import Answered, Arrived, Close, Connect, Core, Effect, Log

if TYPE_CHECKING:
    from collections.abc import Callable

EFFECTS: list[Effect] = [
    Close(1, "why"), Connect("p"), Log("info", "event"), Answered(1), Arrived(1),
]  # fmt: skip


def client() -> Client:
    return Client(ClientConfig(), rng=Random(1), now=0)


def planet() -> Planet:
    return Planet(PlanetConfig(), rng=Random(1), now=0)


@pytest.mark.parametrize("make", [client, planet])
def test_clients_and_planets_offer_the_whole_surface(make: Callable[[], Core]) -> None:
    core = make()
    calls = [name for name, one in vars(Core).items() if inspect.isfunction(one) and name[0] != "_"]
    assert len(calls) == 8
    for name in calls:
        wanted = inspect.signature(getattr(Core, name)).parameters
        assert [*wanted][1:] == [*inspect.signature(getattr(core, name)).parameters]


@pytest.mark.parametrize("make", [client, planet])
def test_a_core_that_was_told_nothing_asks_for_nothing_of_a_link(make: Callable[[], Core]) -> None:
    core = make()
    assert core.take_ready() == []
    assert core.pull(1, 1_000, 0) == b""
    core.feed(1, b"\xff" * 9, 0)  # Of a link of which it does not know.
    core.disconnected(1, 0)
    assert not any(isinstance(one, Close | Connect) for one in core.take_effects())


@pytest.mark.parametrize("make", [client, planet])
def test_effects_and_ready_links_are_taken_once(make: Callable[[], Core]) -> None:
    core = make()
    if isinstance(core, Client):
        core.start("p", 0)
        assert core.take_effects() == [Connect("p")]
    core.connected(1, 0)
    core.feed(1, b"\xff" * 9, 0)
    assert any(isinstance(one, Close) for one in core.take_effects())
    assert core.take_effects() == []
    assert len(core.take_ready()) <= 1
    assert core.take_ready() == []


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda one: type(one).__name__)
def test_an_effect_is_a_value(effect: Any) -> None:
    name = fields(effect)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(effect, name, None)
    assert effect == type(effect)(*(getattr(effect, one.name) for one in fields(effect)))


def test_an_answer_without_an_error_is_a_yes_and_a_line_may_stand_without_fields() -> None:
    assert Answered(1).error is None
    assert Log("info", "event").fields == {}
