"""Lines: the lines of a file or pipe, each within a limit, and where they stand."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from heliograph.event.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heliograph.event.digest import Digest

LINE_BYTES_MAX: Final = 2**20
_BOM: Final = b"\xef\xbb\xbf"


class Record(NamedTuple):
    """What one line of a trace says: an event, or a digest."""

    line: int
    values: dict[str, Any]
    digest: Digest | None = None


class Lines:
    """The lines of a file, read one by one, without ever holding more than one of them."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        """Read from the present place of a file; `name` is what errors call it."""
        self.name = name
        self.done = 0
        self.size = _size(file)
        self._file = file
        self._number = 0
        self._peeked: tuple[int, bytes] | None = None

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Return this: lines are read once."""
        return self

    def __next__(self) -> tuple[int, bytes]:
        """Return the number of the next line and its bytes, without the line feed.

        Raises:
            TraceError: The line is too long, or the file cannot be read.
        """
        if self._peeked is not None:
            line, self._peeked = self._peeked, None
            return line
        self._number += 1
        try:
            # One byte for the line feed, one to see that there is more.
            raw = self._file.readline(LINE_BYTES_MAX + 2)
        except OSError as error:
            reason = error.strerror or str(error)
            raise self.trouble(self._number, f"cannot be read: {reason}") from None
        if not raw:
            raise StopIteration
        self.done += len(raw)
        if self._number == 1:
            raw = raw.removeprefix(_BOM)
        raw = raw.removesuffix(b"\n")
        if len(raw) > LINE_BYTES_MAX:
            raise self.trouble(self._number, too_long())
        return self._number, raw

    def peek(self) -> bytes:
        """Return the first line that is not blank, which stays to be read; b"" if there is none."""
        for number, raw in self:
            if raw.strip():
                self._peeked = number, raw
                return raw
        return b""

    def trouble(self, line: int, what: str) -> TraceError:
        """Return an error that names the file and a line."""
        return TraceError(f"{self.name}, line {line}: {what}")

    def text(self, line: int, raw: bytes) -> str:
        """Return a line as text.

        Raises:
            TraceError: It is not UTF-8.
        """
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise self.trouble(line, not_utf8(error)) from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def too_long() -> str:
    """Say that a line exceeds the limit, and what to do."""
    return (
        f"longer than the limit of {LINE_BYTES_MAX:,} bytes for one event: is this a recorded "
        "stream, with one event to a line?"
    )


def not_utf8(error: UnicodeDecodeError) -> str:
    """Say that a line is no text, and what to do."""
    byte = error.object[error.start]
    return (
        f"byte 0x{byte:02x} at place {error.start + 1} is not UTF-8: convert the file with iconv, "
        "or record it again if it is damaged"
    )


def _size(file: BinaryIO) -> int | None:
    """Return how large a file is; a pipe does not say."""
    try:
        status = os.fstat(file.fileno())
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
