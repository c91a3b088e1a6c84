from __future__ import annotations

from heliograph.event.types import Type
from heliograph.policy.catalogue import DIGESTERS, FILTERS, SETS, Action

# The table of DESIGN.md, once more by hand.
PARAMETERS = {
    **dict.fromkeys(("GT", "GE", "LT", "LE", "EQ", "NE", "CONTAIN"), "value"),
    "WITHIN": "low high",
    **dict.fromkeys(("INSET", "SUBSET", "SUPSET", "FIRST", "LAST"), "values"),
    "MATCH": "pattern",
    "UNIQ": "",
    "GUNIQ": "",
    "DELTA": "change",
    "LATEST": "window",
    "EVERY": "n",
    "RANDOM": "fraction seed",
}
KEEP = {"GT", "GE", "LT", "LE", "EQ", "NE", "EVERY"}
DROP = {"WITHIN", "INSET", "MATCH", "CONTAIN", "SUBSET", "SUPSET"}
BY = {"FIRST", "LAST", "UNIQ", "GUNIQ", "DELTA", "LATEST", "EVERY"}


def test_the_filters_and_their_parameters_are_those_of_the_design() -> None:
    found = {name: " ".join(p.name for p in kind.parameters) for name, kind in FILTERS.items()}
    assert found == PARAMETERS


def test_the_defaults_are_those_of_the_design() -> None:
    assert {name for name, kind in FILTERS.items() if kind.action is Action.KEEP} == KEEP
    assert {name for name, kind in FILTERS.items() if kind.action is Action.DROP} == DROP


def test_by_stands_on_the_filters_that_look_at_the_order() -> None:
    assert {name for name, kind in FILTERS.items() if kind.by} == BY
    assert {name for name, kind in FILTERS.items() if not kind.alone} == BY


def test_only_three_filters_judge_all_events() -> None:
    free = {name for name, kind in FILTERS.items() if not kind.needs_attribute}
    assert free == {"LATEST", "EVERY", "RANDOM"}


def test_the_digesters_are_those_of_the_design() -> None:
    assert set(DIGESTERS) == {"MAX", "MIN", "COUNT", "SUM", "MEAN", "DISTINCT", "QUANTILES"}
    assert {name for name, kind in DIGESTERS.items() if not kind.needs_attribute} == {"COUNT"}


def test_set_filters_take_lists_and_the_others_do_not_compare_them() -> None:
    for name in ("CONTAIN", "SUBSET", "SUPSET"):
        assert FILTERS[name].types == SETS
    for name in ("GT", "EQ", "WITHIN", "INSET", "MATCH", "FIRST", "DELTA"):
        assert not any(one.is_list for one in FILTERS[name].types)
    assert Type.STRING not in FILTERS["DELTA"].types
