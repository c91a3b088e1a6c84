"""Dialer: opens a client's link, trying its planets' addresses in turn.

When to try is decided by the client core, which backs off; here is only how. The address that was
good last time is tried first, unless the link did not last: then it is the next one's turn.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from heliograph.net.connection import Connection
from heliograph.net.tls import client_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.net.addresses import Address
    from heliograph.net.shell import Shell
    from heliograph.net.tls import TlsFiles
    from heliograph.wire.core import Connect

DIAL_SECONDS: Final = 5.0
# A link that was shorter was no use: the planet is full, or is not one.
LASTED: Final = 1_000_000_000


class Dialer:
    """Opens links to one of several addresses."""

    def __init__(
        self,
        shell: Shell,
        addresses: tuple[Address, ...],
        tls: TlsFiles | None,
        refused: Callable[[int], None],
    ) -> None:
        """Begin with the first address; `refused` tells the core that there is no link."""
        self.addresses = addresses
        self.reason = "not tried yet"  # Why there is no link.
        self._shell = shell
        self._refused = refused
        self._at = 0
        self._dialed = -LASTED
        # Made once: reading the certificates that a system trusts takes a tenth of a second.
        self._context = client_context(tls) if any(one.tls for one in addresses) else None
        self._task: asyncio.Task[None] | None = None

    def dial(self, effect: Connect) -> None:  # noqa: ARG002 - the core gives back what it was given
        """Open a link, and tell the core; or tell it that none of the addresses answers."""
        if self._task is None or self._task.done():
            self._task = self._shell.loop.create_task(self._dial(), name="dial a planet")

    async def _dial(self) -> None:
        shell = self._shell
        if shell.clock() - self._dialed < LASTED:
            self._at += 1
        for _ in self.addresses:
            address = self.addresses[self._at % len(self.addresses)]
            try:
                async with asyncio.timeout(DIAL_SECONDS):
                    await shell.loop.create_connection(
                        lambda: Connection(shell, opened_by_us=True),
                        address.host,
                        address.port,
                        ssl=self._context if address.tls else None,
                    )
            except (OSError, UnicodeError) as error:  # A timeout and an ssl.SSLError are OSErrors.
                self.reason = f"{address}: {_words(error)}"
                self._at += 1
                continue
            self._dialed = shell.clock()
            self.reason = f"{address}: the planet has not answered"
            return
        with shell.lock:
            self._refused(shell.clock())
        shell.schedule()

    async def stop(self) -> None:
        """Open no more links."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])


def _words(error: Exception) -> str:
    """Say why there is no link."""
    if isinstance(error, TimeoutError):
        return f"no answer within {DIAL_SECONDS:g} s"
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there; is the planet running?"
    return (getattr(error, "strerror", None) or str(error))[:200]
