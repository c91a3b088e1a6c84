from __future__ import annotations

from typing import TYPE_CHECKING

from cli.running import PULSE, SYSLOG, heliograph, ramp, write_policy, write_trace
from heliograph.cli.missing import attributes_missing
from heliograph.event.schema import Schema
from heliograph.event.types import Type
from heliograph.policy import build

if TYPE_CHECKING:
    from pathlib import Path

POLICY = build.policy("pulse", build.uniq(by="ward"), summary=[build.digester("MAX", "SpO2")])


def test_every_attribute_that_a_policy_waits_for_is_missing() -> None:
    assert attributes_missing(POLICY, Schema()) == ["pulse", "ward", "SpO2"]


def test_nothing_is_missing_of_what_came_later() -> None:
    late = Schema().evolve({"pulse": Type.INT64}).evolve({"ward": Type.STRING, "SpO2": Type.INT64})
    assert attributes_missing(POLICY, late) == []


def test_explain_and_try_name_what_the_trace_does_not_have(tmp_path: Path) -> None:
    policy = write_policy(tmp_path)
    for words in (["explain"], ["try", "--capacity", "64", "--rate", "1/s"]):
        ran = heliograph("policy", words[0], policy, SYSLOG, *words[1:])
        assert ran.code == 0
        assert ran.err.startswith(f"note: {SYSLOG} has no attribute PulseRate; it has message_type")


def test_where_nothing_is_missing_nothing_is_said(tmp_path: Path) -> None:
    assert heliograph("policy", "explain", write_policy(tmp_path), PULSE).err == ""


def test_an_attribute_that_comes_late_is_not_missing(tmp_path: Path) -> None:
    lines = ['{"time": 1, "x": 1}', *['{"time": 2, "x": 1}'] * 2_000, '{"time": 3, "PulseRate": 7}']
    trace = write_trace(tmp_path, lines, "late.jsonl")
    assert heliograph("policy", "explain", write_policy(tmp_path), trace).err == ""


def test_json_stays_json(tmp_path: Path) -> None:
    ran = heliograph("policy", "explain", write_policy(tmp_path), SYSLOG, "--json")
    assert ran.json["missing"] == ["PulseRate"]
    assert ran.err == ""


def test_the_time_of_events_is_no_attribute(tmp_path: Path) -> None:
    text = "attribute: time\nlevels:\n  - filters: [{name: DELTA, change: 1}]\n"
    trace = write_trace(tmp_path, ramp(20))
    ran = heliograph("policy", "explain", write_policy(tmp_path, text), trace)
    assert ran.err == f"note: {trace} has no attribute time; it has PulseRate\n"
