"""Each request gets its one answer, and nobody waits in vain."""

from __future__ import annotations

import pytest

from heliograph.client.requests import LOST, Requests
from heliograph.event.errors import WireError
from heliograph.wire.core import Answered, Effect


def some() -> tuple[list[Effect], Requests]:
    effects: list[Effect] = []
    return effects, Requests(effects)


def test_no_number_is_given_twice() -> None:
    _, requests = some()
    assert [requests.number() for _ in range(3)] == [1, 2, 3]
    requests.answer(3)
    assert requests.number() == 4


def test_a_request_is_answered_once() -> None:
    effects, requests = some()
    one, two = requests.number(), requests.number()
    requests.answer(two, "why not")
    requests.answer(one)
    requests.answer(two)
    requests.answer(one, "late")
    assert effects == [Answered(two, "why not"), Answered(one)]


def test_what_nobody_asked_for_is_no_answer() -> None:
    effects, requests = some()
    requests.answer(7, body=b"1")
    assert effects == []
    assert requests.fetch(7) is None


def test_the_body_of_an_answer_is_fetched_once() -> None:
    _, requests = some()
    one = requests.number()
    assert requests.fetch(one) is None
    requests.answer(one, body=b'{"a": [1]}')
    assert requests.fetch(one) == {"a": [1]}
    assert requests.fetch(one) is None


def test_a_body_that_is_no_json_is_the_fault_of_its_planet() -> None:
    effects, requests = some()
    one = requests.number()
    for body in (b"{", b"", b"\xff", b"[" * 100_000):
        with pytest.raises(WireError, match="no JSON"):
            requests.answer(one, body=body)
    assert effects == []
    requests.answer(one, body=b"1")  # It still waits.
    assert effects == [Answered(one)]


def test_those_that_nobody_asks_anew_are_told() -> None:
    effects, requests = some()
    kept, done, lost = requests.number(), requests.number(), requests.number()
    requests.answer(done)
    requests.lose({kept: None})
    requests.lose({kept: None})
    assert effects == [Answered(done), Answered(lost, LOST)]
    requests.lose({}, "the end")
    assert effects[2:] == [Answered(kept, "the end")]
