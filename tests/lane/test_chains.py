"""Chains: sender, planet, client and application, with packs, joins, hand-offs and crashes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from heliograph.event.block import Block
from heliograph.event.errors import EventError
from heliograph.lane.account import Account
from heliograph.lane.lane import Lane
from heliograph.lane.outlet import Group
from heliograph.lane.owed import Owed
from lane.chains import Chain, run_chain

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.event.schema import Schema
    from heliograph.lane.entry import Entry

STEPS = 300
KINDS = {"events", "dropped", "filtered", "digests", "gap"}


def campaign(seeds: range, steps: int) -> Counter[str]:
    """Run a chain of each seed; one that fails says which."""
    counted: Counter[str] = Counter()
    for seed in seeds:
        try:
            counted += run_chain(seed, steps)
        except Exception as error:
            error.add_note(f"run_chain({seed}, {steps})")
            raise
    return counted


def test_every_number_comes_once_or_is_counted_whatever_happens_on_its_way() -> None:
    counted = campaign(range(80), STEPS)
    assert set(counted) == KINDS
    assert min(counted.values()) > 1_000


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000, 9_000, 500))
def test_many_seeds_and_longer_chains(first: int) -> None:
    assert set(campaign(range(first, first + 500), 2 * STEPS)) == KINDS


MAY = (
    "publish",
    "send_up",
    "send_down",
    "pack_early",
    "settle_owed",
    "join",
    "repolicy",
    "leave",
    "demand",
    "restart_sender",
    "crash",
)


def count(seen: Counter[str], name: str, does: Callable[..., None]) -> Callable[..., None]:
    def counted(*given: int) -> None:
        seen[name] += 1
        does(*given)

    return counted


def test_everything_that_may_happen_to_a_chain_happens() -> None:
    seen: Counter[str] = Counter()
    for seed in range(10):
        chain = Chain(seed)
        for name in MAY:
            setattr(chain, name, count(seen, name, getattr(chain, name)))
        for _ in range(STEPS):
            chain.step()
        chain.finish()
    assert set(seen) == set(MAY)
    assert min(seen.values()) > 3


def test_the_same_seed_is_the_same_chain() -> None:
    assert run_chain(7, STEPS) == run_chain(7, STEPS) != run_chain(8, STEPS)


def unlimited(lane: Lane, entry: Entry, now: int) -> None:
    """Let everything in."""
    del now
    lane.append(entry)


def silent(lane: Lane, entries: list[Entry], level: int, reason: str) -> None:
    """Tell nothing of what a pack dropped."""
    PACKED(lane, [one for one in entries if isinstance(one.item, Block)], level, reason)


def lavish(owed: Owed, block: Block, gone: int, lane: Lane) -> None:
    """Forget every fourth event that was removed."""
    ADD(owed, block, gone - (block.last % 4 == 0 and gone > 0), lane)


def greedy(group: Group, mask: int) -> None:
    """Take what was sent to all lanes out of one of them."""
    POP(group, mask & -mask)


def trusting(account: Account, block: Block, schema: Schema) -> Block:
    """Hand on what has come before."""
    return TAKE(account, block, schema) or block


PACKED, ADD, POP, TAKE = Lane.packed, Owed.add, Group.pop, Account.take
BROKEN = [
    (Lane, "offer", unlimited),
    (Lane, "packed", silent),
    (Owed, "add", lavish),
    (Group, "pop", greedy),
    (Account, "take", trusting),
]


@pytest.mark.parametrize(("owner", "name", "broken"), BROKEN)
def test_what_is_broken_is_found(
    owner: type, name: str, broken: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, broken)
    with pytest.raises((AssertionError, EventError)):
        campaign(range(60), STEPS)
