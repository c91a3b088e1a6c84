from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from heliograph.event.columns import NumberColumn
from heliograph.event.types import Type
from heliograph.policy import build
from heliograph.policy.catalogue import FILTERS
from heliograph.policy.kernels import KERNELS, real

if TYPE_CHECKING:
    from heliograph.policy.model import Filter

VALUES = np.array([3, 80, 80, 82, 90, 3], np.int64)


def only(made: Any) -> Filter:
    return build.policy(None, made).levels[0].filters[0]


def dropped(made: Any, groups: list[int] | None = None) -> list[int]:
    """Return the values that the kernel of a filter drops."""
    one = only(made)
    keys = None if groups is None else np.array(groups, np.int64)
    kernel = KERNELS[one.name](one, Type.INT64)
    mask = kernel(NumberColumn(VALUES.copy(), None), len(VALUES), keys)
    found: list[int] = VALUES[mask].tolist()
    return found


def test_every_filter_has_a_kernel_but_random_which_looks_at_numbers() -> None:
    assert set(KERNELS) == set(FILTERS) - {"RANDOM"}


@pytest.mark.parametrize(
    ("made", "gone"),
    [
        (build.gt(80, attribute="v"), [3, 80, 80, 3]),
        (build.gt(80, attribute="v", action="drop"), [82, 90]),
        (build.within(80, 85, attribute="v"), [80, 80, 82]),
        (build.within(80, 85, attribute="v", action="keep"), [3, 90, 3]),
        (build.inset([3], attribute="v"), [3, 3]),
        (build.uniq(attribute="v"), [80]),
        (build.guniq(attribute="v"), [80, 3]),
        (build.delta(5, attribute="v"), [80, 82]),
        (build.first([3], attribute="v"), [3]),
        (build.latest(2, attribute="v"), [3, 80, 80, 82]),
        (build.every(3, attribute="v"), [80, 80, 90, 3]),
        (build.every(3, attribute="v", action="drop"), [3, 82]),
    ],
)
def test_a_kernel_says_what_to_drop(made: Any, gone: list[int]) -> None:
    assert dropped(made) == gone


def test_a_kernel_of_neighbours_runs_in_each_group() -> None:
    assert dropped(build.latest(1, attribute="v"), [0, 0, 0, 1, 1, 1]) == [3, 80, 82, 90]
    assert dropped(build.uniq(attribute="v"), [0, 1, 0, 0, 1, 0]) == []


def test_a_kernel_leaves_the_column_as_it_was() -> None:
    values = VALUES.copy()
    for one in (build.ne(80, attribute="v"), build.delta(5, attribute="v")):
        made = only(one)
        KERNELS[made.name](made, Type.INT64)(NumberColumn(values, None), len(values), None)
    assert np.array_equal(values, VALUES)


def test_a_parameter_that_is_no_number_was_let_through_by_mistake() -> None:
    assert real(2.5) == 2.5
    with pytest.raises(TypeError):
        real("2.5")
