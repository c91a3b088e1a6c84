"""Positions of a recorded stream."""

from __future__ import annotations

from typing import Any

import pytest

from heliograph.event.errors import EventError
from heliograph.event.positions import Positions


def steps(*events: dict[str, Any]) -> list[tuple[int, int]]:
    positions = Positions("file", None)
    return [positions.step(values) for values in events]


def test_a_trace_without_positions_is_of_epoch_1_and_counts_from_1() -> None:
    assert steps({}, {}, {}) == [(1, 1), (1, 2), (1, 3)]


def test_numbers_begin_again_in_a_new_epoch() -> None:
    assert steps({"_epoch": 1}, {"_epoch": 1}, {"_epoch": 4}) == [(1, 1), (1, 2), (4, 1)]


def test_positions_that_are_given_are_kept_and_taken_out() -> None:
    values = {"_epoch": 0, "_number": 7, "a": 1}

    assert steps(values, {"_number": 3}) == [(0, 7), (1, 3)]
    assert values == {"a": 1}


@pytest.mark.parametrize("second", [{"_number": 5}, {"_number": 4}, {"_epoch": 0, "_number": 6}])
def test_positions_that_do_not_rise_are_refused(second: dict[str, Any]) -> None:
    with pytest.raises(EventError, match="stands behind number 5 of epoch 1: numbers rise"):
        steps({"_number": 5}, second)


def test_a_number_that_is_missing_among_others_is_refused() -> None:
    with pytest.raises(EventError, match="no _number, although the events before it have one"):
        steps({"_number": 1}, {})


@pytest.mark.parametrize("value", [0, -1, 2**63, "1", 1.0, True])
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(EventError, match="_number is an integer from 1 to"):
        steps({"_number": value})


def test_events_that_name_no_stream_are_of_the_default_one() -> None:
    positions = Positions("file", None)

    assert positions.stream_of({"_stream": None}) == "file"
    assert positions.stream_of({"_stream": "s"}) == "s"


@pytest.mark.parametrize("value", ["", "x" * 257, 5, ["s"]])
def test_what_is_no_stream_key_is_refused(value: Any) -> None:
    with pytest.raises(EventError, match="_stream is a text of 1 to 256"):
        Positions("file", None).stream_of({"_stream": value})


def test_a_second_stream_is_refused_unless_one_was_chosen() -> None:
    positions = Positions("file", None)
    assert positions.chosen("a")

    with pytest.raises(EventError, match="several streams, a and b: choose one, as in --stream a"):
        positions.chosen("b")


def test_of_several_streams_the_chosen_one_is_read() -> None:
    positions = Positions("file", "b")

    assert [positions.chosen(one) for one in "abc"] == [False, True, False]
    assert positions.stream == "b"
    assert positions.other == "c"
