"""Lines: within a limit, with their numbers."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

import pytest

from heliograph.event.errors import TraceError
from heliograph.event.lines import LINE_BYTES_MAX, Lines

if TYPE_CHECKING:
    from pathlib import Path


class Endless(io.RawIOBase):
    """A file of one line without an end, which counts what was read of it."""

    def __init__(self) -> None:
        self.read_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        buffer[:] = b"x" * len(buffer)
        self.read_bytes += len(buffer)
        return len(buffer)


class Broken(io.BytesIO):
    """A file on a disk that fails."""

    def readline(self, _: int | None = -1, /) -> bytes:
        raise OSError(5, "Input/output error")


def lines_of(data: bytes) -> Lines:
    return Lines(io.BytesIO(data), "some.csv")


def test_lines_come_with_their_numbers_and_without_the_line_feed() -> None:
    assert list(lines_of(b"a\n\nb\r\nc")) == [(1, b"a"), (2, b""), (3, b"b\r"), (4, b"c")]


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert list(lines_of(b"\xef\xbb\xbfa\n\xef\xbb\xbfb")) == [(1, b"a"), (2, b"\xef\xbb\xbfb")]


def test_a_peek_skips_blank_lines_and_takes_nothing_away() -> None:
    lines = lines_of(b"\n \nfirst\nsecond\n")

    assert lines.peek() == b"first"
    assert list(lines) == [(3, b"first"), (4, b"second")]
    assert lines.peek() == b""


def test_a_line_of_exactly_the_limit_is_read_and_one_byte_more_is_not() -> None:
    longest = b"x" * LINE_BYTES_MAX

    assert list(lines_of(longest)) == [(1, longest)]
    assert list(lines_of(longest + b"\n")) == [(1, longest)]
    for more in (b"x", b"x\n"):
        with pytest.raises(TraceError, match=r"some.csv, line 1: longer than .* 1,048,576 bytes"):
            list(lines_of(longest + more))


def test_a_line_without_an_end_is_not_read_into_memory() -> None:
    endless = Endless()

    with pytest.raises(TraceError, match="longer than the limit"):
        next(Lines(io.BufferedReader(endless), "endless"))
    assert endless.read_bytes < LINE_BYTES_MAX + 100_000


def test_how_much_was_read_and_how_much_there_is_are_known(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_bytes(b"abc\ndef\n")

    lines = Lines(path.open("rb"), "some.csv")
    next(lines)
    assert (lines.done, lines.size) == (4, 8)
    lines.close()


def test_a_pipe_does_not_say_how_much_there_is() -> None:
    read, write = os.pipe()
    os.close(write)

    lines = Lines(os.fdopen(read, "rb"), "pipe")
    assert lines.size is None
    lines.close()
    assert lines_of(b"").size is None


def test_bytes_that_are_no_utf_8_are_refused_with_their_place() -> None:
    with pytest.raises(TraceError, match=r"some.csv, line 7: byte 0xff at place 3 is not UTF-8"):
        lines_of(b"").text(7, b"ab\xff")


def test_a_disk_that_fails_is_an_error_with_the_line() -> None:
    with pytest.raises(TraceError, match=r"some.csv, line 1: cannot be read: Input/output error"):
        next(Lines(Broken(), "some.csv"))
