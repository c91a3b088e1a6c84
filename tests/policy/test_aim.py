"""Aim: what it asks of a pack, and when it lets a lane fill."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heliograph.policy.aim import FILL_MIN, HORIZON_LANES, PACKS_PER_EVENT, STANDING_LANES, Aim
from heliograph.policy.ladder import Flow

LANE = 100


def flow(arrived: int, departed: int, *, emptied: bool = False) -> Flow:
    return Flow(arrived, departed, LANE, emptied)


def test_the_goal_becomes_the_fraction_that_must_be_dropped() -> None:
    aim = Aim(3)
    for now in range(200):
        aim.choose(now, flow(40, 30))

    assert abs(aim.needed - 0.25) < 1e-6
    assert aim.goal == aim.needed / PACKS_PER_EVENT


def test_a_burst_moves_the_goal_by_its_share_of_the_horizon() -> None:
    aim = Aim(3)
    aim.choose(0, flow(LANE, 0))

    assert aim.needed == 1 / HORIZON_LANES


def test_the_pack_itself_finds_the_level() -> None:
    aim = Aim(3)
    aim.packed(3, 0)

    assert aim.level == 3
    assert aim.choose(1, flow(40, 30)) == 1


def test_a_standing_lane_is_packed_before_it_is_full() -> None:
    aim = Aim(3)
    fills = []
    for now in range(40):
        aim.choose(now, flow(40, 30))
        fills.append(aim.fill)

    patient = STANDING_LANES * LANE // 30
    assert fills[:patient] == [1.0] * patient
    assert fills == sorted(fills, reverse=True)
    assert fills[-1] == FILL_MIN


def test_a_lane_that_stood_empty_may_fill_again() -> None:
    aim = Aim(3)
    for now in range(40):
        aim.choose(now, flow(40, 30))
    aim.choose(41, flow(40, 30, emptied=True))

    assert aim.fill == 1.0


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500), st.booleans()), max_size=60))
def test_goal_and_fill_stay_in_their_bounds(seen: list[tuple[int, int, bool]]) -> None:
    aim = Aim(2)
    for now, (arrived, departed, emptied) in enumerate(seen):
        aim.choose(now, flow(arrived, departed, emptied=emptied))

        assert 0 <= aim.goal <= 1 / PACKS_PER_EVENT
        assert FILL_MIN <= aim.fill <= 1
