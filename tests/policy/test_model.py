from __future__ import annotations

import pytest

from heliograph.policy.catalogue import Action
from heliograph.policy.document import loads
from heliograph.policy.model import Digester, Each, Filter, Level, Policy, Rest

UNIQ = Filter("UNIQ", (), "a")


def test_the_identity_is_the_same_in_every_version() -> None:
    """Hosts of different versions must agree on which receivers share a lane."""
    latest = Filter("LATEST", (("window", 10),), by="b")
    policy = Policy(
        (Level((UNIQ, latest)),),
        (Digester("MEAN", "a"), Digester("COUNT")),
        Each.RUN,
        (Filter("EQ", (("value", "x"),), "a", action=Action.DROP),),
        Rest.NEWEST,
    )
    assert policy.document() == {
        "levels": [
            {
                "always": True,
                "filters": [{"name": "EQ", "value": "x", "attribute": "a", "action": "drop"}],
            },
            {
                "filters": [
                    {"name": "UNIQ", "attribute": "a"},
                    {"name": "LATEST", "window": 10, "by": "b"},
                ]
            },
        ],
        "summary": {
            "each": "run",
            "digesters": [{"name": "MEAN", "attribute": "a"}, {"name": "COUNT"}],
        },
        "rest": "newest",
    }
    assert policy.identity == "27c68437c65f8bba906ad52cd591a335"
    assert Policy().identity == "2afb9b83f9314e5d029766197f539792"


def test_the_identity_does_not_depend_on_lines_or_on_how_a_default_is_written() -> None:
    short = loads("levels: [{filters: [{name: EVERY, n: 2}]}]")
    long = loads("rest: nothing\nlevels:\n- filters:\n  - {n: 2.0, action: keep, name: EVERY}")
    assert short == long
    assert short.identity == long.identity


def test_the_seed_0_is_the_one_that_is_not_written() -> None:
    text = "levels: [{{filters: [{{name: RANDOM, fraction: 0.5{}}}]}}]"
    assert loads(text.format(", seed: 0")).identity == loads(text.format("")).identity
    assert loads(text.format(", seed: 1")).identity != loads(text.format("")).identity


@pytest.mark.parametrize(
    "other",
    [
        Policy((Level((UNIQ,)), Level((UNIQ,)))),
        Policy((Level((UNIQ, UNIQ)),)),
        Policy(always=(UNIQ,)),
        Policy((Level((UNIQ,)),), rest=Rest.OLDEST),
        Policy((Level((UNIQ,)),), each=Each.RUN),
        Policy((Level((UNIQ,)),), (Digester("COUNT"),)),
        Policy((Level((Filter("UNIQ", (), "b"),)),)),
        Policy((Level((Filter("UNIQ", (), "a", "b"),)),)),
        Policy((Level((Filter("GUNIQ", (), "a"),)),)),
    ],
)
def test_policies_that_differ_have_different_identities(other: Policy) -> None:
    assert other.identity != Policy((Level((UNIQ,)),)).identity


def test_the_order_of_digesters_is_part_of_a_policy_and_of_values_is_not() -> None:
    inset = "levels: [{{filters: [{{name: INSET, attribute: a, values: [{}]}}]}}]"
    assert loads(inset.format("b, a")).identity == loads(inset.format("a, b, a")).identity


def test_a_filter_gives_its_parameters_and_what_it_does_with_what_it_selects() -> None:
    one = Filter("RANDOM", (("fraction", 0.5),))
    assert one["fraction"] == 0.5
    assert one.get("seed", 0) == 0
    assert Filter("EQ").keeps
    assert not Filter("EQ", action=Action.DROP).keeps
    assert not Filter("INSET").keeps
    assert Filter("INSET", action=Action.KEEP).keeps
