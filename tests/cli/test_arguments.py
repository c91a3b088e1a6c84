from __future__ import annotations

from typing import Any

import click
import pytest

from cli.running import PULSE, heliograph
from heliograph.cli import command
from heliograph.cli.arguments import BROKERS, FILE, POLICY
from heliograph.lane import trial
from heliograph.policy.builtin import resolve


def completed(kind: click.ParamType[Any], typed: str) -> list[tuple[str, str]]:
    """Return what a shell is told of a word that has been begun: each proposal and its kind."""
    argument = click.Argument(["word"], type=kind)
    items = kind.shell_complete(click.Context(command), argument, typed)
    return [(item.type, str(item.value)) for item in items]


def test_a_file_is_left_to_the_shell() -> None:
    assert completed(FILE, "exam") == [("file", "exam")]


def test_a_policy_is_a_file_or_a_built_in_that_fits() -> None:
    assert completed(POLICY, "") == [
        ("file", ""), ("plain", "oldest"), ("plain", "newest"), ("plain", "latest-per"),
    ]  # fmt: skip
    assert completed(POLICY, "ne") == [("file", "ne"), ("plain", "newest")]


def test_every_proposal_is_a_built_in_policy() -> None:
    for _, name in completed(POLICY, "")[1:]:
        assert resolve(name if name != "latest-per" else "latest-per patient").identity


def test_the_proposed_brokers_are_those_of_the_trial() -> None:
    assert [name for _, name in completed(BROKERS, "")] == list(trial.BROKERS)


@pytest.mark.parametrize(
    ("typed", "proposed"),
    [
        ("o", ["oldest"]),
        ("newest,", ["newest,oldest"]),
        ("newest,o", ["newest,oldest"]),
        ("newest,n", []),
        ("x", []),
    ],
)
def test_the_last_broker_is_completed_with_what_is_not_there_yet(
    typed: str, proposed: list[str]
) -> None:
    assert [name for _, name in completed(BROKERS, typed)] == proposed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("newest", ("newest",)),
        (" newest , oldest ", ("newest", "oldest")),
        ("oldest,newest,oldest", ("oldest", "newest")),
        (",newest,,", ("newest",)),
        ("", ()),
    ],
)
def test_a_list_of_brokers_has_each_once_in_its_order(text: str, words: tuple[str, ...]) -> None:
    assert BROKERS.convert(text, None, None) == words
    assert BROKERS.convert(words, None, None) == words


def test_a_policy_and_a_trace_stay_the_words_that_they_are() -> None:
    ran = heliograph("policy", "explain", "latest-per patient", PULSE)
    assert (ran.code, ran.err) == (0, "")
