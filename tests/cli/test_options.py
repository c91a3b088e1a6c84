from __future__ import annotations

import pytest

from cli.running import heliograph
from heliograph.cli.options import located
from heliograph.event.errors import HeliographError, PolicyError


@pytest.mark.parametrize("verb", ["explain", "try"])
@pytest.mark.parametrize("option", ["--json", "--time TAG", "--stream KEY"])
def test_verbs_over_traces_share_their_options(verb: str, option: str) -> None:
    assert option in heliograph("policy", verb, "--help").out


def test_a_mistake_in_a_policy_is_told_with_its_file() -> None:
    with (
        pytest.raises(HeliographError, match=r"^mine\.xml, line 3: DELTA: no$") as caught,
        located("mine.xml"),
    ):
        raise PolicyError("no", line=3, element="DELTA")
    assert not isinstance(caught.value, PolicyError)


def test_a_mistake_without_a_line_stays_as_it_is() -> None:
    with pytest.raises(PolicyError, match=r"^no$"), located("mine.xml"):
        raise PolicyError("no")
