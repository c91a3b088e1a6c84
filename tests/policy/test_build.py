"""Policies built in Python are those of the documents."""

from __future__ import annotations

import inspect
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from heliograph.event.errors import PolicyError
from heliograph.policy import build
from heliograph.policy.catalogue import FILTERS
from heliograph.policy.document import loads

PULSE = """
<policy attribute="PulseRate">
  <summary each="run"><digester name="MEAN"/><digester name="COUNT"/></summary>
  <level always="true">
    <filter name="NE" attribute="patient"><para name="value" value="nobody"/></filter>
  </level>
  <level><filter name="DELTA" by="patient"><para name="change" value="5"/></filter></level>
  <level>
    <filter name="WITHIN"><para name="low" value="50"/><para name="high" value="100"/></filter>
    <filter name="EVERY" action="drop"><para name="n" value="3"/></filter>
  </level>
  <level><filter name="LATEST"><para name="window" value="10"/></filter></level>
</policy>
"""


def test_what_is_built_equals_what_is_written() -> None:
    built = build.policy(
        "PulseRate",
        build.delta(5, by="patient"),
        [build.within(50, 100), build.every(3, action="drop")],
        build.latest(10),
        always=build.ne("nobody", attribute="patient"),
        summary=[build.digester("MEAN"), build.digester("COUNT")],
        each="run",
    )

    assert built == loads(PULSE)
    assert built.identity == loads(PULSE).identity


def test_every_filter_can_be_built_under_its_own_name() -> None:
    given = {
        "value": 1, "low": 1, "high": 2, "values": [1], "pattern": "a", "change": 1, "window": 1,
        "n": 2, "fraction": 0.5,
    }  # fmt: skip
    for name, kind in FILTERS.items():
        make = getattr(build, name.lower())
        wanted = {one.name: given[one.name] for one in kind.parameters if one.required}
        made = build.policy("x", make(**wanted)).levels[0].filters[0]

        assert made.name == name
        assert ("by" in inspect.signature(make).parameters) == kind.by
        assert ("action" in inspect.signature(make).parameters) == (kind.action is not None)


def test_a_wrong_setting_is_refused_as_in_a_document() -> None:
    with pytest.raises(PolicyError, match=r"^DELTA: change is a number above 0, not -1$"):
        build.policy("x", build.delta(-1))


def test_a_filter_without_an_attribute_is_refused() -> None:
    with pytest.raises(PolicyError, match="it needs an attribute"):
        build.policy(None, build.uniq())


def test_by_takes_one_tag() -> None:
    several: Any = ["a", "b"]
    with pytest.raises(PolicyError, match=r"^filter: by takes one tag, not a list of 2$"):
        build.policy("x", build.latest(1, by=several))
    several = 5
    with pytest.raises(PolicyError, match=r"^filter: by takes one tag, not 5$"):
        build.policy("x", build.latest(1, by=several))


@pytest.mark.parametrize("make", [build.inset, build.subset, build.supset, build.first, build.last])
def test_a_text_is_not_the_set_of_its_characters(make: Any) -> None:
    with pytest.raises(PolicyError, match=r"values is a list .*, not 'abc': write \['abc'\]$"):
        build.policy("x", make("abc"))
    with pytest.raises(PolicyError, match=r"values is a list of values, not 5: write \[5\]$"):
        build.policy("x", make(5))
    for several in (["b", "a"], ("a", "b"), {"a", "b"}, (one for one in "ab")):
        assert build.policy("x", make(several)).levels[0].filters[0]["values"] == ("a", "b")


def test_a_time_is_that_of_a_document() -> None:
    time = datetime(2026, 1, 31, 13, tzinfo=timezone(timedelta(hours=1)))
    text = "2026-01-31T12:00:00Z"

    assert build.policy("x", build.gt(time)) == build.policy("x", build.gt(text))
    assert build.policy("x", build.inset([time])) == build.policy("x", build.inset([text]))
    with pytest.raises(PolicyError, match=r"has no time zone: give it one, such as datetime.UTC$"):
        build.policy("x", build.gt(time.replace(tzinfo=None)))


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(PolicyError, match="a value has at most 1024 characters"):
        build.policy("x", build.gt(10**5_000))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (5, r"got 5$"),
        (build.gt, r"got <function gt at 0x.*>: call it$"),
        ([build.gt(5), build.lt], r"got <function lt at 0x.*>: call it$"),
        ("UNIQ", r"got 'UNIQ'$"),
    ],
)
def test_what_is_no_filter_is_refused_with_what_is_one(wrong: Any, words: str) -> None:
    with pytest.raises(PolicyError, match=f"^expected a filter made by .* of this module, {words}"):
        build.policy("x", build.gt(5), wrong)


def test_built_in_rests_can_be_built() -> None:
    assert build.policy(rest="newest").rest == "newest"
