"""Dialer: opens a client's links. When, and to which address, is decided by the client core."""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING, Final

from heliograph.net.addresses import read_addresses
from heliograph.net.connection import Connection
from heliograph.net.tls import client_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from heliograph.net.addresses import Address
    from heliograph.net.shell import Shell
    from heliograph.net.tls import TlsFiles
    from heliograph.wire.core import Connect

DIAL_SECONDS: Final = 5.0
_START: Final = ". Is a planet running? heliograph planet starts one"


class Dialer:
    """Opens one link at a time."""

    def __init__(self, shell: Shell, tls: TlsFiles | None, refused: Callable[[int], None]) -> None:
        """Begin without a link; `refused` tells the core that there will be none."""
        self.reason = "not tried yet"  # Why there is no link.
        self._shell = shell
        self._tls = tls
        self._refused = refused
        self._context: ssl.SSLContext | None = None
        self._task: asyncio.Task[None] | None = None

    def dial(self, effect: Connect) -> None:
        """Open a link to an address, and tell the core how that went."""
        self._task = self._shell.loop.create_task(
            self._dial(effect.address), name=f"dial {effect.address}"
        )

    async def _dial(self, text: str) -> None:
        shell = self._shell
        (address,) = read_addresses(text)
        try:
            if address.tls and self._context is None:
                # Once: reading the authorities that a system trusts takes a tenth of a second.
                self._context = client_context(self._tls)
            async with asyncio.timeout(DIAL_SECONDS):
                await shell.loop.create_connection(
                    lambda: Connection(shell),
                    address.host,
                    address.port,
                    ssl=self._context if address.tls else None,
                )
        except (OSError, UnicodeError) as error:  # A timeout and an ssl.SSLError are OSErrors.
            self.reason = f"{address}: {_words(error)}{_hint(error)}"
            with shell.lock:
                self._refused(shell.clock())
            shell.schedule()
        else:
            silent = "what listens there has not answered as a planet does"
            self.reason = f"{address}: {silent}{_tls(address)}"

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
        return "nothing listens there"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted here ({error.verify_message})"
    return (getattr(error, "strerror", None) or str(error))[:200]


def _hint(error: Exception) -> str:
    """Say what to do about it."""
    if isinstance(error, ssl.SSLCertVerificationError):
        if "mismatch" in error.verify_message:
            return ". Use the address that its certificate is for"
        return ". Name the authority that vouches for it: --ca FILE, TlsFiles in Python"
    if isinstance(error, ssl.SSLError):
        return ". Does it speak TLS? A planet without is at helio://"
    return _START


def _tls(address: Address) -> str:
    """Say what may be wrong where a link was opened, and nothing came of it."""
    if address.tls:
        return ". Where it asks for certificates, show one: --cert FILE, TlsFiles in Python"
    return ". A planet that speaks TLS is at helios://"
