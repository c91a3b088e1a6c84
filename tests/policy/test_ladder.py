"""The ladder against a slow twin, and against the sentences of PACK 5."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from heliograph.policy.ladder import Ladder, direction, smoothed

SECOND = 1_000_000_000


def twin(top: int, moments: list[tuple[int, int]]) -> list[int]:
    """The ladder as DESIGN.md says it, over the whole history at every step.

    Each moment is a time and how many levels more the pack then needed.
    """
    level, chosen = 1, []
    history: list[tuple[int, int]] = []  # (level, time) of each pack.
    turnaround: dict[int, float] = {}
    for now, more in moments:
        earlier = [time for at, time in history if at == level]
        if earlier:
            observed = max(1, now - earlier[-1])
            if level not in turnaround:
                turnaround[level] = observed
            else:
                before = turnaround[level]
                delta = (observed - before) / before
                turnaround[level] = 0.9 * observed + 0.1 * before
                if delta > 0.1 and level > 1:
                    level -= 1
                elif delta < -0.1 and level < top:
                    level += 1
        chosen.append(level)
        level = min(level + more, top)
        history.append((level, now))
    return chosen


@settings(deadline=None)
@given(
    st.integers(1, 6),
    st.lists(st.tuples(st.integers(0, 10 * SECOND), st.integers(0, 2)), max_size=40),
)
def test_the_ladder_is_its_twin(top: int, steps: list[tuple[int, int]]) -> None:
    now, moments, ladder, ours = 0, [], Ladder(top), []
    for wait, more in steps:
        now += wait
        moments.append((now, more))
        level = ladder.choose(now)
        ours.append(level)
        ladder.packed(min(level + more, top), now)

    assert ours == twin(top, moments)


def test_the_newest_observation_weighs_nine_tenths() -> None:
    # PACK 5: t = (1 - alpha) * observed + alpha * t, alpha = 0.1.
    assert smoothed(100, None) == 100
    assert smoothed(100, 200) == 110


def test_a_longer_turnaround_goes_down_and_a_shorter_one_up() -> None:
    assert direction(111, 100) == -1
    assert direction(110, 100) == 0
    assert direction(90, 100) == 0
    assert direction(89, 100) == 1


def test_the_first_observation_only_sets_the_turnaround() -> None:
    ladder = Ladder(3)
    for now in (0, SECOND):
        assert ladder.choose(now) == 1
        ladder.packed(1, now)

    assert ladder.choose(SECOND + SECOND // 2) == 2


def test_two_packs_at_one_moment_are_a_nanosecond_apart() -> None:
    ladder = Ladder(2)
    for _ in range(3):
        ladder.packed(ladder.choose(7), 7)

    assert ladder.level == 1


def test_the_level_that_a_pack_needed_becomes_the_lanes() -> None:
    ladder = Ladder(5)
    ladder.choose(0)
    ladder.packed(4, 0)

    assert ladder.choose(1) == 4


def test_the_worst_case_leaves_the_ladder_at_its_top() -> None:
    ladder = Ladder(2)
    ladder.packed(3, 0)

    assert ladder.level == 2


def test_a_policy_without_levels_still_has_a_ladder() -> None:
    ladder = Ladder(0)
    ladder.packed(ladder.choose(0), 0)

    assert ladder.choose(1) == 1
