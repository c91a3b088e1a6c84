"""Home: where a client attaches, and when it tries again (PACK 3).

Tries go round all addresses. The wait between them doubles up to a bound, and is shortened by
chance, so that the clients of a planet that was lost do not all come to the next one at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heliograph.event.errors import UsageError
from heliograph.wire.core import Connect

if TYPE_CHECKING:
    from random import Random

    from heliograph.client.config import ClientConfig

_SECOND: Final = 1_000_000_000
_DOUBLINGS_MAX: Final = 16


class Home:
    """The addresses of a client, and its tries."""

    def __init__(self, config: ClientConfig, rng: Random) -> None:
        """Begin without an address."""
        self.wanted = False  # Whether to be attached.
        self.connecting = False
        self.retry_at: int | None = None
        self._config = config
        self._rng = rng
        self._addresses: list[str] = []
        self._tries = 0

    def move(self, address: str) -> None:
        """Take these addresses, separated by commas.

        Raises:
            UsageError: There is none.
        """
        self._addresses = [one.strip() for one in address.split(",") if one.strip()]
        if not self._addresses:
            raise UsageError("an address is needed to attach to, as in 127.0.0.1:7440")

    def found(self) -> None:
        """Take note that a planet has answered: the next try begins with the first address."""
        self._tries = 0

    def connect(self) -> Connect | None:
        """Return the effect of the next try, unless one is under way or none is wanted."""
        self.retry_at = None
        if self.connecting or not self.wanted:
            return None
        address = self._addresses[self._tries % len(self._addresses)]
        self._tries += 1
        self.connecting = True
        return Connect(address)

    def again(self, now: int) -> None:
        """Try again after a while, which grows from try to try."""
        if not self.wanted or self.connecting or self.retry_at is not None:
            return
        config = self._config
        wait = config.retry_seconds * 2 ** min(self._tries, _DOUBLINGS_MAX)
        wait = min(wait, config.retry_seconds_max) * self._rng.uniform(0.5, 1.0)
        self.retry_at = now + int(wait * _SECOND)
