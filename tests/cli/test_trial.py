"""`heliograph policy try`."""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING

import pytest

from cli.running import PULSE, heliograph, ramp, write_policy, write_trace
from heliograph.event.digest import settles
from heliograph.event.jsonl import read_digest

if TYPE_CHECKING:
    from pathlib import Path

    from cli.running import Ran

THIN = ("--capacity", "64", "--rate", "3/s")


def attempt(tmp_path: Path, *words: str | Path) -> Ran:
    return heliograph("policy", "try", write_policy(tmp_path), PULSE, *THIN, *words)


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--rate", "0/s", "a rate is above 0"),
        ("--rate", "soon", "is no rate"),
        ("--capacity", "1", "a lane holds at least 2 entries"),
        ("--capacity", "lots", "is no capacity"),
        ("--against", "newest,middle", "no broker behaviour 'middle': newest or oldest"),
        ("--controller", "lift", "'ladder', 'aim'"),
    ],
)
def test_a_bad_value_is_a_wrong_command_line(
    option: str, value: str, words: str, tmp_path: Path
) -> None:
    ran = attempt(tmp_path, option, value)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


@pytest.mark.parametrize("missing", ["--capacity", "--rate"])
def test_capacity_and_rate_are_required(missing: str) -> None:
    other = "--rate" if missing == "--capacity" else "--capacity"
    ran = heliograph("policy", "try", "newest", PULSE, other, "5")
    assert ran.code == 2
    assert f"Missing option '{missing}'" in ran.err


def test_the_report_accounts_for_every_event(tmp_path: Path) -> None:
    ran = attempt(tmp_path, "--against", "newest, oldest")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["policy.yaml", "broker", "broker"]
    assert [line.split()[1] for line in lines[3:5]] == ["newest", "oldest"]
    assert "packs (level 1: " in ran.out
    assert lines[-1].startswith("every event is accounted for: ")
    assert lines[-1].endswith("+ 0 filtered = 3,000")


def test_json_has_the_policy_first_and_agrees_with_itself(tmp_path: Path) -> None:
    found = attempt(tmp_path, "--json", "--against", "oldest").json
    assert [one["queue"] for one in found] == ["policy.yaml", "broker oldest"]
    for one in found:
        assert one["offered"] == 3_000 == one["delivered"] + one["dropped"] + one["filtered"]
        assert one["loss"] == one["dropped"] / 3_000
        assert 0 < one["latency_s"]["p50"] <= one["latency_s"]["max"]
        assert 0.9 < one["busy"] <= 1
    assert sum(found[0]["levels"].values()) == found[0]["packs"]
    assert (found[1]["packs"], found[1]["digests"]) == (0, 0)


def test_the_controllers_differ(tmp_path: Path) -> None:
    ladder = attempt(tmp_path, "--json").json
    aim = attempt(tmp_path, "--json", "--controller", "aim").json
    assert ladder[0]["levels"] != aim[0]["levels"]


def test_where_nothing_is_packed_it_says_why(tmp_path: Path) -> None:
    ran = attempt(tmp_path, "--rate", "1000/s")
    assert ran.code == 0
    assert "nothing was packed: the queue was never full" in ran.out


def test_nothing_packed_is_null_nowhere_in_json(tmp_path: Path) -> None:
    (found,) = attempt(tmp_path, "--rate", "1000/s", "--json").json
    assert (found["packs"], found["levels"], found["loss"]) == (0, {}, 0)


def check_settled(lines: list[str]) -> int:
    """Check that digests make whole what stands before them; return how many numbers there are."""
    waiting = total = 0
    for line in lines:
        entry = json.loads(line)
        if "_digest" not in entry:
            waiting += 1
            continue
        digest = read_digest(entry["_digest"])
        assert digest.after == total
        assert settles(waiting, digest)
        total, waiting = digest.upto, 0
    return total + waiting


def test_output_is_what_the_receiver_gets(tmp_path: Path) -> None:
    ran = attempt(tmp_path, "--output", tmp_path / "got.jsonl", "--json")
    lines = (tmp_path / "got.jsonl").read_text(encoding="utf-8").splitlines()
    assert check_settled(lines) == 3_000
    assert len(lines) == ran.json[0]["delivered"] + ran.json[0]["digests"]


def test_output_to_standard_output_puts_the_report_aside(tmp_path: Path) -> None:
    ran = attempt(tmp_path, "--output", "-")
    assert ran.code == 0
    assert check_settled(ran.out.splitlines()) == 3_000
    assert "every event is accounted for" in ran.err


def test_the_output_is_a_trace_again(tmp_path: Path) -> None:
    attempt(tmp_path, "--output", tmp_path / "got.jsonl")
    again = heliograph(
        "policy", "try", "newest", tmp_path / "got.jsonl", "--capacity", "9999", "--rate", "9/s",
        "--json",
    )  # fmt: skip
    assert again.code == 0


def test_the_digests_of_a_trace_are_left_out_and_that_is_said(tmp_path: Path) -> None:
    attempt(tmp_path, "--output", tmp_path / "got.jsonl")
    again = heliograph(
        "policy", "try", "newest", tmp_path / "got.jsonl", "--capacity", "16", "--rate", "1/s"
    )
    assert again.code == 0
    assert "try offers no digest that settles those, not even of the trace" in again.err


@pytest.mark.parametrize("option", ["--output", "--plot"])
def test_what_is_read_is_not_written_over(option: str, tmp_path: Path) -> None:
    trace = write_trace(tmp_path, ramp(50))
    policy = write_policy(tmp_path)
    before = trace.read_bytes(), policy.read_bytes()
    for target in (trace, policy):
        ran = heliograph("policy", "try", policy, trace, *THIN, option, target)
        assert ran.code == 2
        assert ran.err == f"error: {target} is what is read: write to another file\n"
    assert (trace.read_bytes(), policy.read_bytes()) == before


@pytest.mark.parametrize("option", ["--output", "--plot"])
def test_a_file_that_cannot_be_written_is_told_before_the_trial(
    option: str, tmp_path: Path
) -> None:
    target = tmp_path / "nowhere" / "file"
    ran = attempt(tmp_path, option, target)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: cannot write {target}: ")


def test_a_plot_that_is_a_folder_or_no_name_is_told_before_the_trial(tmp_path: Path) -> None:
    for target, reason in ((tmp_path, "it is a folder"), (tmp_path / ("x" * 300), "File name too")):
        ran = attempt(tmp_path, "--plot", target)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith(f"error: cannot write {target}: {reason}")


def test_a_policy_that_can_be_no_file_is_told(tmp_path: Path) -> None:
    target = tmp_path / "got.jsonl"
    target.touch()
    ran = heliograph("policy", "try", "x" * 300, PULSE, *THIN, "--output", target)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: cannot read 'xxx")


def test_a_plot_is_a_png(tmp_path: Path) -> None:
    ran = attempt(tmp_path, "--plot", tmp_path / "trial.png", "--against", "oldest")
    assert ran.code == 0
    assert (tmp_path / "trial.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_a_plot_without_matplotlib_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    ran = attempt(tmp_path, "--plot", tmp_path / "trial.png")
    assert ran.code == 2
    assert ran.err == "error: --plot needs matplotlib: pip install 'heliograph[plot]'\n"


def test_a_trace_without_times_names_the_option_and_the_attributes(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, ["when,x", "1700000000,1", "1700000001,2"])
    ran = heliograph("policy", "try", "newest", trace, *THIN)
    assert (ran.code, ran.out) == (2, "")
    assert "name the attribute that does with --time; it has when, x" in ran.err
    assert heliograph("policy", "try", "newest", trace, *THIN, "--time", "when").code == 0


def test_a_time_that_no_event_has_is_refused(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, ramp(5))
    ran = heliograph("policy", "try", "newest", trace, *THIN, "--time", "moment")
    assert ran.code == 1
    assert "no event has the attribute moment" in ran.err


def test_standard_input_is_a_trace(tmp_path: Path) -> None:
    policy = write_policy(tmp_path)
    ran = heliograph("policy", "try", policy, "-", *THIN, "--json", stdin=PULSE.read_bytes())
    assert ran.json == attempt(tmp_path, "--json").json or ran.json[0]["offered"] == 3_000


def test_what_an_always_level_filters_is_not_lost(tmp_path: Path) -> None:
    text = "levels:\n  - always: true\n    filters: [{name: GE, attribute: PulseRate, value: 50}]\n"
    trace = write_trace(tmp_path, ramp(100))
    policy = write_policy(tmp_path, text)
    words: list[str | Path] = ["policy", "try", policy, trace, "--capacity", "8", "--rate", "0.5/s"]
    (found,) = heliograph(*words, "--json").json
    assert found["filtered"] == 5
    assert found["loss"] == found["dropped"] / 95
    assert "5 events were filtered by the always level" in heliograph(*words).out
