"""Budget: a bucket of steps, compared with one that is filled step by step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.lane.budget import Budget
from strategies import PROPERTY

SECOND = 1_000_000_000


class Bucket:
    """The slow twin: at each whole period since it was first asked, one step is put in."""

    def __init__(self, steps: int) -> None:
        self.period = SECOND // steps
        self.steps = self.left = steps
        self.next: int | None = None

    def spend(self, cost: int, now: int) -> bool:
        if self.next is None:
            self.next = now + self.period
        while self.next <= now:
            self.left = min(self.steps, self.left + 1)
            self.next += self.period
        if self.left <= 0:
            return False
        self.left -= cost
        return True


@PROPERTY
@given(
    st.sampled_from([1, 2, 4, 5, 10]),
    st.integers(0, 10 * SECOND),
    st.lists(st.tuples(st.integers(0, 2 * SECOND), st.sampled_from([0, 1, 1, 2, 9])), max_size=40),
)
def test_a_budget_is_a_bucket_that_is_filled_step_by_step(
    steps: int, start: int, asked: list[tuple[int, int]]
) -> None:
    budget, bucket, now = Budget(steps), Bucket(steps), start
    for wait, cost in asked:
        now += wait
        assert budget.spend(cost, now) == bucket.spend(cost, now)


def test_a_budget_begins_with_the_steps_of_a_second() -> None:
    budget = Budget(3)
    assert [budget.spend(1, 7) for _ in range(4)] == [True, True, True, False]


def test_a_single_pack_may_overdraw_a_budget_which_is_paid_back_first() -> None:
    budget = Budget(10)
    assert budget.spend(35, 0)
    assert budget.spent(int(2.5 * SECOND))
    assert not budget.spend(1, int(2.5 * SECOND))
    assert budget.spend(1, int(2.6 * SECOND))


def test_what_is_refused_costs_nothing() -> None:
    budget = Budget(10)
    budget.spend(10, 0)
    assert not any(budget.spend(1_000, 0) for _ in range(5))
    assert budget.spend(1, SECOND // 10)


def test_at_most_a_second_is_saved_up() -> None:
    budget = Budget(2)
    assert not budget.spent(0)
    assert [budget.spend(1, 100 * SECOND) for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize("steps", [3, 7, 1_000, 999_999])
@pytest.mark.parametrize("wait", [1_000_003, 17_000_000])
def test_time_that_is_too_short_for_a_step_is_not_forgotten(steps: int, wait: int) -> None:
    budget, spent, now = Budget(steps), 0, 0
    while now < 5 * SECOND:
        while budget.spend(1, now):
            spent += 1
        now += wait
    assert steps + 5 * steps * 0.99 - 1 < spent <= steps + 5 * steps


def test_what_is_left_of_a_period_counts_for_the_next_step() -> None:
    budget = Budget(1)
    asked = [0, 1.5, 2.0, 3.9, 4.0, 4.1]
    found = [budget.spend(1, int(second * SECOND)) for second in asked]
    assert found == [True, True, True, True, True, False]


def test_to_ask_whether_a_budget_is_spent_spends_nothing() -> None:
    budget = Budget(1)
    assert not any(budget.spent(0) for _ in range(5))
    assert budget.spend(1, 0)
    assert budget.spent(0)
