"""Log lines are structured, and a flood of one name leaves the others readable."""

from __future__ import annotations

import io
import json
import logging
from typing import TYPE_CHECKING

import pytest

from heliograph.net.journal import LOGGER, NAMES_MAX, Journal, JsonFormatter, set_up

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def now() -> list[int]:
    return [0]


@pytest.fixture
def journal(now: list[int]) -> Journal:
    return Journal(lines_max=2, seconds=10, clock=lambda: now[0])


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    handlers, level, propagate = list(LOGGER.handlers), LOGGER.level, LOGGER.propagate
    yield
    LOGGER.handlers[:], LOGGER.propagate = handlers, propagate
    LOGGER.setLevel(level)


def test_a_line_is_a_name_and_its_fields(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    journal.write("warning", "stream_refused", {"stream": "a b", "limit": 3, "why": 'is "x"=1\n'})
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.message == r'stream_refused stream="a b" limit=3 why="is \"x\"=1\n"'


def test_what_exceeds_the_rate_of_a_name_is_counted_in_its_next_line(
    journal: Journal, now: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(7):
        journal.write("error", "flood", {})
    journal.write("error", "other", {})
    now[0] = 10 * 10**9
    journal.write("error", "flood", {})
    journal.write("error", "flood", {})
    assert [record.message for record in caplog.records] == [
        "flood", "flood", "other", "flood left_out=5", "flood",
    ]  # fmt: skip


def test_what_nobody_wants_to_read_is_not_counted(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "heliograph"):
        for _ in range(5):
            journal.write("info", "quiet", {})
        journal.write("error", "quiet", {})
    assert [record.message for record in caplog.records] == ["quiet"]


def test_the_names_are_bounded(journal: Journal) -> None:
    for number in range(2 * NAMES_MAX + 1):
        journal.write("error", f"name_{number}", {})
    assert len(journal._names) <= NAMES_MAX  # noqa: SLF001 - what nobody else sees


def test_json_has_one_object_a_line_with_its_error(journal: Journal) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    LOGGER.addHandler(handler)
    journal.write("error", "core_failed", {"link": 3}, RuntimeError("broken\nin two"))
    LOGGER.error("not %s", "ours")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert (first["level"], first["event"], first["link"]) == ("error", "core_failed", 3)
    assert "RuntimeError: broken" in first["error"]
    assert second["message"] == "not ours"


@pytest.mark.parametrize("json_lines", [False, True])
def test_a_program_sends_its_lines_to_standard_error(
    json_lines: bool,  # noqa: FBT001 - a parameter of the test
    journal: Journal,
    capsys: pytest.CaptureFixture[str],
) -> None:
    set_up(json_lines=json_lines, level="info")
    journal.write("info", "planet_started", {"port": 7440})
    said = capsys.readouterr().err
    assert ('"port": 7440' if json_lines else "INFO planet_started port=7440") in said
