from __future__ import annotations

from itertools import islice

import pytest

from heliograph.cli.generators import GENERATORS, generate
from heliograph.cli.pub import _GENERATORS
from heliograph.event.schema import Schema


def test_the_command_offers_those_that_there_are() -> None:
    assert set(_GENERATORS) == set(GENERATORS)


@pytest.mark.parametrize("name", GENERATORS)
def test_a_seed_makes_the_same_readings(name: str) -> None:
    one, same, other = (list(islice(generate(name, seed), 50)) for seed in (1, 1, 2))
    assert one == same
    assert one != other


@pytest.mark.parametrize("name", GENERATORS)
def test_readings_keep_to_one_schema(name: str) -> None:
    first, *rest = islice(generate(name, 3), 200)
    schema, _ = Schema().absorb(first)
    for values in rest:
        assert schema.absorb(values)[0] is schema


def test_a_patient_is_most_often_well_and_now_and_then_not() -> None:
    rates = [values["PulseRate"] for values in islice(generate("pulse", 1), 3_000)]
    well = sum(60 <= rate <= 90 for rate in rates) / len(rates)
    assert 0.6 < well < 0.98
    assert max(rates) > 110
