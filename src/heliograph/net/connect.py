"""Connect: the door to a planet, as in `async with heliograph.connect("helio://127.0.0.1:7440")`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heliograph.client.config import ClientConfig
from heliograph.net.addresses import read_addresses
from heliograph.net.client import AsyncClient
from heliograph.net.names import default_name
from heliograph.net.tls import client_context

if TYPE_CHECKING:
    from collections.abc import Generator

    from heliograph.net.tls import TlsFiles

CONNECT_SECONDS: Final = 10.0
ADDRESS: Final = "helio://127.0.0.1:7440"


class Connecting:
    """A client on its way to a planet: enter it with `async with`, or await it and close it."""

    def __init__(
        self, address: str, config: ClientConfig, tls: TlsFiles | None, seconds: float
    ) -> None:
        """Begin; nothing is tried before somebody waits for it."""
        self._addresses = read_addresses(address)
        self._config = config
        self._tls = tls
        self._seconds = seconds
        self._client: AsyncClient | None = None

    def __await__(self) -> Generator[Any, None, AsyncClient]:
        """Attach, and return the client, whose `close()` is its user's to call."""
        return self._open().__await__()

    async def _open(self) -> AsyncClient:
        if self._tls is not None:
            client_context(self._tls)  # A wrong file is the caller's mistake: not one to retry.
        client = AsyncClient(self._addresses, config=self._config, tls=self._tls)
        try:
            await client.open(self._seconds)
        except BaseException:
            await client.close()
            raise
        return client

    async def __aenter__(self) -> AsyncClient:
        """Attach, and return the client."""
        self._client = await self._open()
        return self._client

    async def __aexit__(self, *_: object) -> None:
        """Send what was published, and depart."""
        if self._client is not None:
            await self._client.close()


def connect(
    address: str = ADDRESS,
    *,
    name: str | None = None,
    seconds: float = CONNECT_SECONDS,
    tls: TlsFiles | None = None,
    config: ClientConfig | None = None,
) -> Connecting:
    """Attach to a planet, for the time of an `async with`, or until the client is closed.

    `async with connect(...) as client` sends what waits and departs at its end. In a notebook,
    `client = await connect(...)` lives on, and `await client.close()` does the same.

    Args:
        address: Where it is, `helio://host:port`, or `helios://` for TLS; several, separated by
            commas, are tried in turn.
        name: What the planet calls this client in its status and logs, and by what it knows it when
            it is started again without its state. None is the program and its host, as in
            sensor@ward-3, unless `config` says it; a client of the name "" is known by nothing.
        seconds: How long to wait for the first link. Later ones are waited for without end.
        tls: PEM files, where not the authorities that the system trusts are to be trusted.
        config: Settings of the client's core.

    Raises:
        UsageError: An address is none, or, when it is awaited, a PEM file is not one.
        LinkError: When it is awaited, and no planet answered in time.
    """
    config = config or ClientConfig()
    if name is not None or not config.name:
        config = config.called(default_name() if name is None else name)
    return Connecting(address, config, tls, seconds)
