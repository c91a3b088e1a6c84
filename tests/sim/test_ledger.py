"""The ledger speaks: each test breaks the books of a whole stream in one way."""

from __future__ import annotations

import msgspec
import pytest

from heliograph.event.event import Position
from heliograph.sim.ledger import BreachError, Ledger
from heliograph.sim.samples import SCHEMA
from sim.books import STREAM, Entries, digest, enter, events, published, some

# 1-4 came, 5-9 were packed to 6 and 9, 10-12 came.
WHOLE: Entries = [events(1, 4), some([6, 9]), digest(0, 9, 3), events(10, 12)]


def test_a_whole_stream_is_whole() -> None:
    ledger = enter(WHOLE, published(12))
    ledger.check_all_came()
    assert (ledger.events, ledger.dropped, ledger.position) == (9, 3, Position(1, 12))


def test_a_subscription_may_begin_late() -> None:
    ledger = enter([events(8, 12)], published(12))
    ledger.check_all_came()
    assert ledger.begin == Position(1, 7)


def test_events_before_a_digest_need_no_digest_of_their_own() -> None:
    ledger = enter([events(1, 4), digest(4, 9, 5), events(10, 12)], published(12))
    ledger.check_all_came()


def test_epochs_follow_each_other() -> None:
    truth = published(5, epochs=2)
    truth.streams[STREAM][1].owed = 5
    enter([events(1, 5), events(1, 5, 2)], truth).check_all_came()
    enter([events(1, 3), digest(0, 5, 2), events(1, 5, 2)], truth).check_all_came()


BREACHES: dict[str, tuple[Entries, str]] = {
    "an event is missing": ([events(1, 4), events(6, 12)], "conservation.*5"),
    "an event comes twice": ([events(1, 4), events(4, 12)], "order.*got 4"),
    "events change places": ([events(5, 8), events(1, 4)], "order.*got 1"),
    "the tail is missing": ([events(1, 11)], "stands at 11"),
    "a digest counts too few": ([some([6, 9]), digest(5, 9, 1)], "conservation.*counts 1"),
    "a digest counts too many": ([events(1, 8), digest(0, 9, 2)], "conservation.*counts 2"),
    "a digest settles again": (
        [events(1, 8), digest(8, 9, 1), digest(8, 10, 2)],
        "conservation.*settles what was settled",
    ),
    "a digest comes too early": ([events(1, 9), digest(0, 8, 0)], "order.*behind the event 9"),
    "a digest comes too late": (
        [events(1, 9), digest(8, 8, 0), events(10, 12), digest(8, 9, 0)],
        "order",
    ),
    "a digest leaves a hole": ([events(1, 3), digest(4, 9, 5)], "conservation.*4"),
    "more comes than was published": ([events(1, 13)], "never published"),
    "more is counted than was published": ([digest(0, 13, 13)], "never published"),
    "an epoch comes that never was": ([events(1, 12, 2)], "never published"),
    "a gap without a crash": ([digest(0, 12, 12, gap=1)], "gap, and nothing crashed"),
}


@pytest.mark.parametrize("name", list(BREACHES))
def test_a_breach_is_told(name: str) -> None:
    entries, words = BREACHES[name]
    truth = published(12)
    with pytest.raises(BreachError, match=words):
        enter(entries, truth).check_all_came()


def test_a_gap_after_a_crash_is_no_breach() -> None:
    truth = published(12)
    truth.losses += 1
    ledger = enter([events(1, 4), digest(4, 12, 8, gap=8)], truth)
    ledger.check_all_came()
    assert ledger.gaps == 8


def test_other_values_and_other_times_are_told() -> None:
    block = events(1, 3)
    forged = msgspec.structs.replace(block, body=events(2, 4).body)
    with pytest.raises(BreachError, match="other values"):
        enter([forged], published(12))
    late = msgspec.structs.replace(block, time=block.time + 1)
    with pytest.raises(BreachError, match="another time"):
        enter([late], published(12))


def test_an_entry_of_another_stream_is_told() -> None:
    ledger = Ledger("nurse", "warmth", published(3))
    with pytest.raises(BreachError, match=r"order.*got an entry of pulse"):
        ledger.take(events(1, 3), SCHEMA, 0)


def test_the_tail_of_an_old_epoch_is_owed_where_others_had_it() -> None:
    truth = published(5, epochs=2)
    truth.streams[STREAM][1].owed = 5
    with pytest.raises(BreachError, match="goes on to epoch 2 after 4"):
        enter([events(1, 4), events(1, 5, 2)], truth)
    truth.streams[STREAM][1].owed = 0
    enter([events(1, 4), events(1, 5, 2)], truth).check_all_came()


def test_an_old_epoch_does_not_come_back() -> None:
    with pytest.raises(BreachError, match=r"order.*back to epoch 1"):
        enter([events(1, 5, 2), events(1, 5)], published(5, epochs=2))


def test_a_subscription_begins_no_later_than_it_was_answered() -> None:
    truth = published(6)
    ledger = Ledger("nurse", STREAM, truth)
    ledger.expect()
    truth.streams[STREAM][1].times += [t + 6_000 for t in truth.streams[STREAM][1].times]
    ledger.take(events(8, 12), SCHEMA, 0)
    with pytest.raises(BreachError, match=r"conservation.*owed from"):
        ledger.check_all_came()
    ledger.take(digest(6, 12, 1), SCHEMA, 0)
    ledger.check_all_came()


def test_a_subscription_to_which_nothing_came_owes_what_came_behind_its_answer() -> None:
    truth = published(6)
    ledger = Ledger("nurse", STREAM, truth)
    ledger.expect()
    ledger.check_all_came()
    truth.streams[STREAM][1].times.append(0)
    with pytest.raises(BreachError, match="of which 7 are owed"):
        ledger.check_all_came()
