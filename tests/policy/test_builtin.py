from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from heliograph.event.block import Block
from heliograph.event.errors import PolicyError
from heliograph.event.schema import Schema
from heliograph.policy.binding import bind
from heliograph.policy.builtin import NEWEST, OLDEST, builtin, latest_per, resolve
from heliograph.policy.limits import Limits
from heliograph.policy.pack import Held, pack_to_fit
from policy.runs import events
from policy.strategies_policy import block

if TYPE_CHECKING:
    from heliograph.policy.model import Policy
    from policy.twin import One

SCHEMA = Schema.declare({"a": "int64"})


def left_by(policy: Policy, found: list[One], limit: int) -> list[int]:
    lane = Held([block(found, SCHEMA)])
    packed = pack_to_fit(lane, bind(policy, SCHEMA), 1, Limits(limit))
    blocks = [entry for entry in packed.entries if isinstance(entry, Block)]
    return [number for one in blocks for number in one.numbers().tolist()]


def test_oldest_keeps_what_came_first_as_a_full_queue_does() -> None:
    assert left_by(OLDEST, events(*range(32)), 32) == list(range(1, 30))


def test_newest_keeps_what_came_last_as_a_ring_does() -> None:
    assert left_by(NEWEST, events(*range(32)), 32) == list(range(4, 33))


def test_latest_per_keeps_the_last_event_of_each_value_and_then_the_newest() -> None:
    assert left_by(latest_per("a"), events(1, 2, 1, 3, 2, 1), 6) == [4, 5, 6]
    assert left_by(latest_per("a"), events(*range(32)), 32) == list(range(4, 33))


def test_the_built_in_policies_have_their_names() -> None:
    assert builtin("oldest") is OLDEST
    assert builtin(" newest ") is NEWEST
    assert builtin("latest-per PulseRate") == latest_per("PulseRate")
    assert builtin("latest-per a b") == latest_per("a b")
    assert builtin("latest-per") is None
    assert builtin("worst") is None


def test_a_file_comes_before_a_built_in_policy_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert resolve("newest") == NEWEST
    (tmp_path / "newest").write_text("rest: oldest")
    assert resolve("newest") == OLDEST


def test_what_is_neither_file_nor_built_in_is_told_with_what_there_is() -> None:
    with pytest.raises(PolicyError, match="oldest, newest, latest-per KEY"):
        resolve("latest")


def test_a_name_that_no_file_can_have_is_told_briefly(tmp_path: Path) -> None:
    document = "levels: [{filters: [{name: LATEST, window: 1}]}]\n" * 100
    with pytest.raises(PolicyError, match=r"^cannot read '.{77}\.\.\.': .*; give a file, or"):
        resolve(document.replace("\n", " "))
    (tmp_path / "file").touch()
    with pytest.raises(PolicyError, match=r"^there is no file '.*', nor a built-in"):
        resolve(str(tmp_path / "file" / "policy"))


@pytest.mark.parametrize("tag", ["t" * 257, "_time"])
def test_latest_per_takes_a_tag_that_an_attribute_may_have(tag: str) -> None:
    with pytest.raises(PolicyError, match=r"^(a tag has 1 to 256 characters|the tag _time is)"):
        resolve(f"latest-per {tag}")
    assert resolve(f"latest-per {'t' * 256}") == latest_per("t" * 256)


def test_a_folder_that_is_closed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(_path: object) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", closed)
    with pytest.raises(PolicyError, match=r"^cannot read 'there/policy': Permission denied"):
        resolve("there/policy")
    assert resolve("newest") == NEWEST
