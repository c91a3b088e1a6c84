from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from experiments.queues import ran
from heliograph.experiments.thin_table import Prompt, rows

if TYPE_CHECKING:
    from heliograph.experiments.findings import Row

FINE = Prompt([0.2, 0.3], 0.5, 2_000)


def table(prompt: Prompt = FINE) -> dict[str, Row]:
    runs = {name: [ran(name)] for name in ("DropTail", "aim", "aim, digest a run")}
    return {one.measure: one for one in rows(runs, prompt)}


def test_every_queue_has_its_rows() -> None:
    found = table()
    assert found["DropTail: loss"].paper == "about 30 %"
    assert found["aim: mean latency"].goal == "at most 0.5"
    assert "level 2" in found["aim: packs at each level"].paper
    assert found["aim: goodput of bulk TCP's"].holds
    assert found["aim, digest a run: loss above 1 - goodput/offered"].goal.endswith("its digests")


@pytest.mark.parametrize(
    ("prompt", "measure"),
    [
        (Prompt([0.2, 1.3], 0.5, 2_000), "request to answer, beside the stream"),
        (Prompt([0.2], 0.5, 2_000, unanswered=1), "request to answer, beside the stream"),
        (Prompt([0.2], 2.5, 2_000), "longest silence of either side"),
        (Prompt([0.2], 0.5, 200_000), "stale bytes when a receiver stops reading"),
    ],
)
def test_a_link_that_is_not_prompt_misses_its_goal(prompt: Prompt, measure: str) -> None:
    assert table()[measure].holds
    assert table(prompt)[measure].holds is False


def test_an_event_that_is_neither_delivered_nor_counted_is_told() -> None:
    runs = {name: [replace(ran(name), missing=int(name == "aim"))] for name in ("DropTail", "aim")}
    found = {one.measure: one for one in rows(runs, FINE)}
    assert found["events neither delivered nor counted"].holds is False
    assert table()["events neither delivered nor counted"].holds
