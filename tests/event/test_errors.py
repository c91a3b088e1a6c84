"""The tree of errors."""

from __future__ import annotations

import inspect

import pytest

from heliograph.event import errors
from heliograph.event.errors import HeliographError, PolicyError


def test_every_error_is_a_heliograph_error_and_stands_in_the_drawn_tree() -> None:
    found = [one for _, one in inspect.getmembers(errors, inspect.isclass)]

    assert len(found) > 4
    for one in found:
        assert issubclass(one, HeliographError)
        assert one.__name__ in (errors.__doc__ or "")
        assert one.__doc__


@pytest.mark.parametrize(
    ("line", "element", "words"),
    [
        (3, "filter", "line 3: filter: it is wrong"),
        (None, "filter", "filter: it is wrong"),
        (3, "", "line 3: it is wrong"),
        (None, "", "it is wrong"),
    ],
)
def test_an_error_in_a_policy_names_the_place_that_is_known(
    line: int | None, element: str, words: str
) -> None:
    error = PolicyError("it is wrong", line=line, element=element)

    assert str(error) == words
    assert (error.reason, error.line, error.element) == ("it is wrong", line, element)
