"""`heliograph policy check`, `explain` and `schema`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cli.running import PULSE, SYSLOG, heliograph, ramp, write_policy, write_trace
from heliograph.policy.builtin import latest_per
from heliograph.policy.document import loads
from heliograph.policy.json_schema import json_schema

if TYPE_CHECKING:
    from pathlib import Path

WRONG = '<policy attribute="x">\n <level>\n  <filter name="DETLA"/>\n </level>\n</policy>\n'


def test_check_says_in_words_what_a_policy_does(tmp_path: Path) -> None:
    ran = heliograph("policy", "check", write_policy(tmp_path))
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[1] == "  level 1 drops events whose PulseRate is between 72 and 80."
    assert lines[3] == "  level 3 keeps one event out of every 2."


def test_check_as_json_has_identity_document_and_reading(tmp_path: Path) -> None:
    ran = heliograph("policy", "check", write_policy(tmp_path), "--json")
    assert ran.json["ok"] is True
    assert len(ran.json["identity"]) == 32
    assert loads(json.dumps(ran.json["policy"])).identity == ran.json["identity"]
    assert (
        ran.json["reading"]
        == heliograph("policy", "check", tmp_path / "policy.yaml").out.split("\n")[:-1]
    )


@pytest.mark.parametrize("name", ["oldest", "newest"])
def test_check_knows_the_built_in_policies(name: str) -> None:
    assert f"the {name} events are kept" in heliograph("policy", "check", name).out


def test_a_built_in_policy_with_a_key_is_one_word_of_the_shell() -> None:
    ran = heliograph("policy", "check", "latest-per patient", "--json")
    assert ran.json["identity"] == latest_per("patient").identity


def test_a_mistake_is_shown_with_file_line_element_and_a_hint(tmp_path: Path) -> None:
    path = write_policy(tmp_path, WRONG, "wrong.xml")
    ran = heliograph("policy", "check", path)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"error: {path}, line 3: filter: there is no filter 'DETLA' ")
    assert "(did you mean DELTA?)" in ran.err


def test_a_mistake_as_json_has_its_place(tmp_path: Path) -> None:
    ran = heliograph("policy", "check", "--json", write_policy(tmp_path, WRONG, "wrong.xml"))
    assert (ran.code, ran.err) == (1, "")
    assert ran.json["ok"] is False
    assert ran.json["error"]["line"] == 3
    assert ran.json["error"]["element"] == "filter"


def test_an_unreadable_policy_says_why(tmp_path: Path) -> None:
    ran = heliograph("policy", "check", tmp_path)
    assert ran.code == 1
    assert ran.err == f"error: cannot read {tmp_path}: Is a directory\n"


def test_schema_prints_the_json_schema() -> None:
    ran = heliograph("policy", "schema")
    assert (ran.code, ran.json) == (0, json_schema())


def test_explain_shows_each_filter_alone_and_in_its_place(tmp_path: Path) -> None:
    ran = heliograph("policy", "explain", write_policy(tmp_path), PULSE, "--lane", "64")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "3,000 events, as 47 lanes of up to 64"
    assert lines[2].split() == [
        "level", "filter", "alone", "drops", "here", "share", "ns/event", "note",
    ]  # fmt: skip
    assert [line.split()[1] for line in lines[4:7]] == ["WITHIN", "DELTA", "EVERY"]
    assert "level 3  keeps one event out of every 2" in lines
    assert any(line.startswith("after level 3 ") for line in lines)


def test_explain_as_json_has_counts_that_agree(tmp_path: Path) -> None:
    found = heliograph("policy", "explain", write_policy(tmp_path), PULSE, "--json").json
    assert (found["events"], found["lanes"], found["missing"]) == (3_000, 3, [])
    left = found["events"]
    for one, kept in zip(found["filters"], found["kept_after_level"], strict=True):
        assert one["met"] == left
        left -= one["dropped"]
        assert kept == left
    assert found["filters"][1]["filter"] == {"name": "DELTA", "change": 5, "attribute": "PulseRate"}


def test_explain_notes_what_never_acts_and_what_is_shadowed(tmp_path: Path) -> None:
    text = """\
attribute: PulseRate
levels:
  - filters: [{name: LE, value: 20}]
  - filters: [{name: WITHIN, low: 50, high: 60}]
  - filters: [{name: WITHIN, low: 5000, high: 6000}]
"""
    trace = write_trace(tmp_path, ramp(100))
    found = heliograph("policy", "explain", write_policy(tmp_path, text), trace, "--json").json
    assert [one["note"] for one in found["filters"]] == ["", "shadowed by level 1 LE", "never acts"]
    assert [line.split(":")[0] for line in found["advice"]] == [
        "level 2 WITHIN is shadowed by level 1 LE",
        "level 3 WITHIN never acts on this trace",
        "no filters of one level could change places, and the order of the levels is yours",
    ]
    shown = heliograph("policy", "explain", tmp_path / "policy.yaml", trace).out
    assert "advice: level 3 WITHIN never acts on this trace: check its values" in shown


def test_explain_shows_an_always_level(tmp_path: Path) -> None:
    text = """\
levels:
  - always: true
    filters: [{name: EQ, attribute: message_type, value: Debug, action: drop}]
  - filters: [{name: GUNIQ, attribute: ap_name}]
"""
    ran = heliograph("policy", "explain", write_policy(tmp_path, text), SYSLOG)
    assert "always   drops events whose message_type is 'Debug'" in ran.out
    assert "after the always level " in ran.out


@pytest.mark.parametrize("source", [PULSE, SYSLOG])
def test_explain_reads_standard_input(source: Path) -> None:
    piped = heliograph("policy", "explain", "latest-per ap_name", "-", stdin=source.read_bytes())
    assert piped.code == 0
    assert piped.out.startswith("3,000 events")


def test_explain_refuses_a_policy_without_filters() -> None:
    ran = heliograph("policy", "explain", "oldest", PULSE)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: oldest has no filters to explain: heliograph policy try")


def test_explain_refuses_a_filter_that_cannot_judge_the_attribute(tmp_path: Path) -> None:
    text = "attribute: patient\nlevels:\n  - filters: [{name: DELTA, change: 1}]\n"
    path = write_policy(tmp_path, text)
    ran = heliograph("policy", "explain", path, PULSE)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        f"error: {path}, line 3: DELTA: attribute patient is string; "
        "this filter applies to int64, float64\n"
    )


@pytest.mark.parametrize("verb", [["explain"], ["try", "--capacity", "4", "--rate", "1/s"]])
def test_an_unreadable_trace_says_why(verb: list[str], tmp_path: Path) -> None:
    ran = heliograph("policy", *verb, "latest-per x", tmp_path / "none.csv")
    assert ran.code == 1
    assert "none.csv cannot be read: No such file" in ran.err
    broken = write_trace(tmp_path, ["time,x", "2026-01-01T00:00:00Z,1", "too,many,cells"])
    ran = heliograph("policy", *verb, "latest-per x", broken)
    assert ran.code == 1
    assert f"{broken}, line 3: " in ran.err


@pytest.mark.parametrize("verb", [["explain"], ["try", "--capacity", "4", "--rate", "1/s"]])
def test_a_trace_without_events_is_told(verb: list[str], tmp_path: Path) -> None:
    trace = write_trace(tmp_path, ["time,x"])
    ran = heliograph("policy", *verb, "latest-per x", trace)
    assert ran.code == 1
    assert ran.err == f"error: {trace} holds no events\n"


def test_a_trace_of_several_streams_is_read_one_at_a_time(tmp_path: Path) -> None:
    lines = [f'{{"_stream": "{"ab"[n % 2]}", "x": {n}}}' for n in range(20)]
    trace = write_trace(tmp_path, lines, "two.jsonl")
    assert "--stream a" in heliograph("policy", "explain", "latest-per x", trace).err
    ran = heliograph("policy", "explain", "latest-per x", trace, "--stream", "b", "--json")
    assert ran.json["events"] == 10


@pytest.mark.parametrize("lane", ["1", "70000", "many"])
def test_a_lane_that_cannot_be_is_a_wrong_command_line(lane: str) -> None:
    assert heliograph("policy", "explain", "newest", PULSE, "--lane", lane).code == 2
