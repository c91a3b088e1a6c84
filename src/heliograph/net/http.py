"""HTTP: the pages for those who watch a planet, `/metrics` and `/health`, and no more than that.

GET only, one request for each connection, a request of bounded size in bounded time: this port is
for a monitoring system, and must never cost the planet anything.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

REQUEST_BYTES_MAX: Final = 8 * 1_024
REQUEST_SECONDS: Final = 5.0
CONNECTIONS_MAX: Final = 16
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
TEXT: Final = "text/plain; charset=utf-8"
_WORDS: Final = 3  # Of a request line: GET /health HTTP/1.1

# What a page returns: a status, the type of the content, the content.
Page = tuple[int, str, bytes]


class HttpConnection(asyncio.Protocol):
    """One request and its answer."""

    def __init__(
        self, pages: Mapping[str, Callable[[], Page]], open_now: set[HttpConnection]
    ) -> None:
        """Wait for the request; `open_now` is shared by all connections of a server."""
        self._pages = pages
        self._open_now = open_now
        self._transport: asyncio.Transport = cast("asyncio.Transport", None)
        self._timer: asyncio.TimerHandle | None = None
        self._request = b""
        self._answered = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Give the request its time."""
        self._transport = cast("asyncio.Transport", transport)
        self._open_now.add(self)
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(REQUEST_SECONDS, self._expire)
        if len(self._open_now) > CONNECTIONS_MAX:
            self._answer(503, TEXT, b"too many connections at once\n")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - it is over either way
        """Forget the connection."""
        self._open_now.discard(self)
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Gather the head of the request, and answer it."""
        if self._answered:
            return
        self._request += data
        if b"\r\n\r\n" in self._request or b"\n\n" in self._request:
            self._answer(*self._page())
        elif len(self._request) > REQUEST_BYTES_MAX:
            self._answer(431, TEXT, f"a request has at most {REQUEST_BYTES_MAX} bytes\n".encode())

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()

    def _page(self) -> Page:
        words = self._request.partition(b"\n")[0].split()
        if len(words) != _WORDS or not words[2].startswith(b"HTTP/1."):
            return 400, TEXT, b"this is no HTTP request\n"
        if words[0] not in (b"GET", b"HEAD"):
            return 405, TEXT, b"only GET is answered here\n"
        path = words[1].decode("ascii", "replace").partition("?")[0]
        page = self._pages.get(path)
        if page is None:
            return 404, TEXT, f"there are: {', '.join(self._pages)}\n".encode()
        try:
            return page()
        except Exception as error:  # noqa: BLE001 - a page that fails says so to who asked for it
            return 500, TEXT, f"{type(error).__name__}: {error}\n".encode()

    def _answer(self, status: int, kind: str, content: bytes) -> None:
        self._answered = True
        head = [
            f"HTTP/1.1 {status} {_REASONS[status]}",
            f"Content-Type: {kind}",
            f"Content-Length: {len(content)}",
            "Connection: close",
            *(["Allow: GET"] if status == 405 else []),  # noqa: PLR2004 - as in `_REASONS`
            "\r\n",
        ]
        shown = b"" if self._request.startswith(b"HEAD ") else content
        self._transport.write("\r\n".join(head).encode() + shown)
        self._transport.close()

    def _expire(self) -> None:
        """End what takes too long, be it the request or the reading of the answer."""
        self._transport.abort()
