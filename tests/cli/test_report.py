"""The report of a trial, from outcomes that are made up: a real trial never reaches its worst."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from heliograph.cli.report import A_BUG, level_name, report
from heliograph.lane.trial import Outcome
from heliograph.policy import build
from heliograph.policy.model import Rest

if TYPE_CHECKING:
    from heliograph.policy.model import Policy

POLICY = build.policy("v", build.within(1, 2), build.uniq())
BOUND = build.policy("v", build.within(1, 2), rest=Rest.NEWEST)


def outcome(name: str = "mine", **counts: Any) -> Outcome:
    """Return what a queue did with ten events in ten seconds, of which it dropped four."""
    given = {"offered": 10, "delivered": 6, "dropped": 4, "told": 4, "digests": 2} | counts
    one = Outcome(name, start=0, end=10_000_000_000, busy=5_000_000_000, **given)
    for _ in range(one.delivered):
        one.latencies.add(1_500_000_000)
    return one


def shown(
    capsys: pytest.CaptureFixture[str], *outcomes: Outcome, policy: Policy = POLICY, **how: Any
) -> tuple[str, str]:
    report(outcomes, policy, **{"gaps": 0, "as_json": False, "err": False} | how)
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_a_sum_that_is_whole_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = shown(capsys, outcome())
    assert err == ""
    assert out.splitlines()[-1] == (
        "every event is accounted for: 6 delivered + 4 told in digests + 0 filtered = 10"
    )


def test_each_queue_is_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    brokers = outcome("broker newest", told=0, digests=0)
    out, _ = shown(capsys, outcome(), brokers)
    head, _, mine, theirs, *_ = out.splitlines()
    assert head.split("  ")[0] == "queue"
    assert mine.split() == [
        "mine", "10", "6", "4", "40.0", "%", "2", "50.0", "%", *["1.5", "s"] * 4,
    ]  # fmt: skip
    assert theirs.startswith("broker newest       10")


def test_an_event_that_is_nowhere_is_a_bug_with_its_own_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught:
        report([outcome(delivered=5)], POLICY, gaps=0, as_json=False, err=False)
    assert caught.value.code == A_BUG == 3
    captured = capsys.readouterr()
    assert captured.err.startswith("error: 5 delivered + 4 told in digests + 0 filtered = 9, but")
    assert "10 were offered: this is a bug of Heliograph" in captured.err
    assert "accounted for" not in captured.out


def test_an_event_that_is_counted_twice_is_a_bug_too() -> None:
    with pytest.raises(SystemExit, match="3"):
        report([outcome(told=5)], POLICY, gaps=3, as_json=True, err=False)


def test_what_is_dropped_behind_a_gap_of_the_trace_waits_and_is_no_bug(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, err = shown(capsys, outcome(told=1), gaps=7)
    assert err.startswith("note: 3 dropped events wait to be told: the trace lacks 7 numbers")


def test_a_gap_excuses_nothing_but_what_was_dropped() -> None:
    with pytest.raises(SystemExit):
        report([outcome(delivered=5, told=1)], POLICY, gaps=7, as_json=False, err=False)


def test_only_the_first_queue_is_asked_for_its_sum(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = shown(capsys, outcome(), outcome("broker oldest", told=0))
    assert "every event is accounted for" in out
    assert err == ""


@pytest.mark.parametrize(
    ("policy", "level", "name"),
    [(POLICY, 1, "1"), (POLICY, 2, "2"), (POLICY, 3, "worst case"), (BOUND, 2, "rest")],
)
def test_above_the_levels_is_the_worst_case_or_the_rest(
    policy: Policy, level: int, name: str
) -> None:
    assert level_name(level, policy) == name


@pytest.mark.parametrize(
    ("policy", "levels", "words"),
    [
        (POLICY, {2: 1, 1: 2}, "3 packs (level 1: 2, level 2: 1)"),
        (POLICY, {3: 1}, "1 pack (worst case: 1)"),
        (BOUND, {1: 1, 2: 1}, "2 packs (level 1: 1, rest newest: 1)"),
        (POLICY, {}, "nothing was packed: the queue was never full"),
    ],
)
def test_the_packs_are_counted_by_level(
    policy: Policy, levels: dict[int, int], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = outcome(packs=sum(levels.values()))
    one.levels.update(levels)
    out, _ = shown(capsys, one, policy=policy)
    assert words in out.splitlines()


@pytest.mark.parametrize(("count", "words"), [(1, "1 event was"), (1_000, "1,000 events were")])
def test_what_an_always_level_removed_is_told(
    count: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = shown(capsys, outcome(offered=10 + count, filtered=count))
    assert f"{words} filtered by the always level" in out


def test_a_report_may_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = shown(capsys, outcome(), err=True)
    assert out == ""
    assert "every event is accounted for" in err


def test_json_has_times_in_seconds_and_nothing_else_beside_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = outcome(packs=1)
    one.levels[3] = 1
    out, err = shown(capsys, one, as_json=True)
    (found,) = json.loads(out)
    assert err == ""
    assert found["levels"] == {"worst case": 1}
    assert found["latency_s"]["max"] == found["latency_s"]["mean"] == 1.5
    assert found["latency_s"]["p50"] == pytest.approx(1.5, rel=0.01)
    assert (found["told"], found["loss"], found["busy"]) == (4, 0.4, 0.5)


def test_what_delivered_nothing_has_no_latency(capsys: pytest.CaptureFixture[str]) -> None:
    one = outcome(delivered=0, dropped=10, told=10)
    (found,) = json.loads(shown(capsys, one, as_json=True)[0])
    assert set(found["latency_s"].values()) == {None}
    row = shown(capsys, one)[0].splitlines()[2]
    assert row.split()[-4:] == ["-"] * 4
