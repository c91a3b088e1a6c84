"""Server: a planet on real sockets: `async with serve(config) as server:`, or `run(config)`."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from heliograph.net import loops
from heliograph.net.addresses import Address, read_place
from heliograph.net.connection import Connection
from heliograph.net.http import HttpConnection, Page
from heliograph.net.journal import Journal
from heliograph.net.listener import Listener
from heliograph.net.metrics import CONTENT_TYPE, render
from heliograph.net.shell import CLOSE_SECONDS, Shell
from heliograph.net.sockets import SocketLimits, listening
from heliograph.net.tls import TlsFiles, server_context
from heliograph.planet.planet import Planet

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Callable

    from heliograph.planet.config import PlanetConfig

BACKLOG: Final = 1_024
# So many more than the limit are let in, only to be told why they must go; a flood is not told.
POLITE: Final = 64
# A status costs time with many lanes: whoever watches gets one that is no older than that.
STATUS_NS: Final = 1_000_000_000


class Server:
    """A running planet; `serve` makes one."""

    def __init__(
        self,
        config: PlanetConfig,
        *,
        rng: random.Random | None = None,
        limits: SocketLimits | None = None,
        alone: bool = False,
    ) -> None:
        """Begin to listen, in the running event loop, which may be the planet's alone.

        Raises:
            UsageError: An address cannot be listened on, or a PEM file is not one.
        """
        self.config = config
        self.journal = Journal()
        limits = limits or SocketLimits()
        now = time.monotonic_ns()
        self.planet = Planet(config, rng=rng or random.SystemRandom(), now=now)
        rest = time.sleep if alone else None
        self.shell = Shell(self.planet, limits=limits, journal=self.journal, rest=rest)
        self.shell.after_flush = self._look
        self._gone = asyncio.Event()
        self._closing = False
        self._shown: tuple[int, dict[str, Any]] | None = None
        self._http_open: set[HttpConnection] = set()
        host, port = read_place(config.listen)
        self.host = host or "127.0.0.1"
        self._listener = Listener(
            listening(host, port, limits, BACKLOG),
            lambda: Connection(self.shell),
            room=self._room,
            journal=self.journal,
            context=_context(config),
        )
        self.port = self._listener.port
        self._http = self._listen_http(config.http, limits) if config.http else None
        self.shell.schedule()
        fields = {"name": config.name, "address": self.address, "http": self.http_port}
        self.journal.write("info", "planet_started", fields)

    def _listen_http(self, place: str, limits: SocketLimits) -> Listener:
        pages = {"/metrics": self._metrics, "/health": self._health}
        return Listener(
            listening(*read_place(place), limits, POLITE),
            lambda: HttpConnection(pages, self._http_open),
            room=lambda: True,  # It has its own limit, and says so.
            journal=self.journal,
        )

    @property
    def address(self) -> str:
        """The address to give to `connect`."""
        return str(Address(self.host, self.port, tls=bool(self.config.tls_cert)))

    @property
    def http_port(self) -> int | None:
        """Where metrics and health are, if anywhere."""
        return None if self._http is None else self._http.port

    def status(self) -> dict[str, Any]:
        """Return how the planet is, not older than a second."""
        now = self.shell.clock()
        if self._shown is None or now - self._shown[0] >= STATUS_NS:
            links = {"accepted": self._listener.accepted, "refused": self._listener.refused}
            self._shown = now, self.planet.status(now) | {"links": links}
        return self._shown[1]

    async def close(self) -> None:
        """Shut down in order: lanes drain for a while, what remains is told in digests."""
        if self._closing:
            return
        self._closing = True
        await self._listener.close()
        self.planet.close(self.shell.clock())
        self.shell.flush()
        seconds = 0.0  # Where we are not left the time to drain.
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.config.drain_seconds + CLOSE_SECONDS):
                    await self._gone.wait()
            seconds = CLOSE_SECONDS
        finally:
            await self._end(seconds)

    async def abort(self) -> None:
        """End at once and tell nobody, as if the process were killed."""
        if not self._closing:
            self._closing = True
            await self._listener.close()
            await self._end(0.0)

    async def _end(self, seconds: float) -> None:
        await self.shell.stop(seconds)
        if self._http is not None:
            await self._http.close()
        for connection in list(self._http_open):
            connection.abort()
        self.journal.write("info", "planet_closed", {"name": self.config.name})

    def _room(self) -> bool:
        opened = self.shell.connections + self._listener.opening
        return opened < self.config.connections_max + POLITE

    def _look(self) -> None:
        if self._closing and self.planet.closed:
            self._gone.set()

    def _metrics(self) -> Page:
        return 200, CONTENT_TYPE, render(self.status()).encode()

    def _health(self) -> Page:
        said = {
            "status": "closing" if self.planet.closing else "ok",
            "name": self.config.name,
            "connections": self.shell.connections,
        }
        code = 503 if self.planet.closing else 200
        return code, "application/json", json.dumps(said).encode() + b"\n"


def _context(config: PlanetConfig) -> ssl.SSLContext | None:
    if not config.tls_cert:
        return None
    return server_context(TlsFiles(config.tls_cert, config.tls_key, config.tls_client_ca))


@asynccontextmanager
async def serve(
    config: PlanetConfig,
    *,
    rng: random.Random | None = None,
    limits: SocketLimits | None = None,
    alone: bool = False,
) -> AsyncIterator[Server]:
    """Run a planet for the time of an `async with`; at its end, it shuts down in order.

    Args:
        config: Its settings; a port of 0 takes any, and `server.port` says which.
        rng: Where its tokens come from; the system's own source, but for tests.
        limits: How much of a link may lie outside the lanes.
        alone: Whether the event loop has nothing else to do: the planet may then stop it for a
            millisecond, so that what many links send one by one is read together.

    Raises:
        UsageError: An address cannot be listened on, or a PEM file is not one.
    """
    server = Server(config, rng=rng, limits=limits, alone=alone)
    try:
        yield server
    finally:
        await server.close()


def run(config: PlanetConfig, *, started: Callable[[Server], None] | None = None) -> None:
    """Run a planet until a signal ends it: the first lets it drain, the second ends it at once.

    Args:
        config: Its settings.
        started: Called when it listens.

    Raises:
        UsageError: An address cannot be listened on, or a PEM file is not one.
    """
    _raise_descriptors(config.connections_max)
    loops.run(_run(config, started))


async def _run(config: PlanetConfig, started: Callable[[Server], None] | None) -> None:
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()
    running = asyncio.current_task()

    def ask() -> None:
        if asked.is_set() and running is not None:
            running.cancel()
        asked.set()

    for one in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows has none in its loops.
            loop.add_signal_handler(one, ask)
    with suppress(asyncio.CancelledError):
        async with serve(config, alone=True) as server:
            if started is not None:
                started(server)
            await asked.wait()


def _raise_descriptors(connections: int) -> None:
    """Let the process have as many descriptors as its limit of connections needs, if it may."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - Windows has none

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = connections + POLITE + 256
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
