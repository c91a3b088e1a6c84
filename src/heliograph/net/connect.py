"""Connect: the door to a planet, as in `async with heliograph.connect("helio://127.0.0.1:7440")`."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from heliograph.client.config import ClientConfig
from heliograph.net.addresses import read_addresses
from heliograph.net.client import AsyncClient
from heliograph.net.tls import client_context

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from heliograph.net.tls import TlsFiles

CONNECT_SECONDS: Final = 10.0
ADDRESS: Final = "helio://127.0.0.1:7440"


@asynccontextmanager
async def connect(
    address: str = ADDRESS,
    *,
    name: str = "",
    seconds: float = CONNECT_SECONDS,
    tls: TlsFiles | None = None,
    config: ClientConfig | None = None,
) -> AsyncIterator[AsyncClient]:
    """Attach to a planet for the time of an `async with`; at its end, send what waits and depart.

    Args:
        address: Where it is, `helio://host:port`, or `helios://` for TLS; several, separated by
            commas, are tried in turn.
        name: What the planet calls this client in its status and logs; unless `config` says it.
        seconds: How long to wait for the first link. Later ones are waited for without end.
        tls: PEM files, where not the authorities that the system trusts are to be trusted.
        config: Settings of the client's core.

    Raises:
        LinkError: No planet answered in time.
        UsageError: An address is none, or a PEM file is not one.
    """
    if tls is not None:
        client_context(tls)  # A wrong file is the caller's mistake, and not for a task to meet.
    config = config or ClientConfig(name=name)
    client = AsyncClient(read_addresses(address), config=config, tls=tls)
    try:
        await client.open(seconds)
        yield client
    finally:
        await client.close()
