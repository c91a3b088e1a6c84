from __future__ import annotations

from heliograph.sim.story import LINES_MAX, MILLISECOND, SECOND, Story, show_time


def test_a_line_says_when_and_who() -> None:
    heard: list[str] = []
    Story(heard.append).tell(1_500 * MILLISECOND, "nurse", "attaches")
    assert heard == ["    1.500 nurse     attaches"]


def test_only_the_last_lines_are_kept() -> None:
    story = Story()
    for number in range(LINES_MAX + 5):
        story.tell(number * SECOND, "a", f"line {number}")
    assert len(story.lines) == LINES_MAX
    assert story.lines[-1].endswith(f"line {LINES_MAX + 4}")


def test_the_hash_covers_lines_and_bytes() -> None:
    def told(what: str, data: bytes) -> str:
        story = Story()
        story.tell(1, "a", what)
        story.note(2, "a", "is fed", data)
        return story.hash

    assert told("x", b"1") == told("x", b"1")
    assert len({told("x", b"1"), told("y", b"1"), told("x", b"2")}) == 3


def test_time_is_shown_to_the_millisecond() -> None:
    assert show_time(0) == "0.000"
    assert show_time(61 * SECOND + 1_999_999) == "61.001"
