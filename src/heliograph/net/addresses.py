"""Addresses: where a planet is, as people write it: `helio://host:port`, or `helios://` for TLS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from heliograph.event.errors import UsageError

PORT: Final = 7440
ADDRESSES_MAX: Final = 64
_PORT_MAX: Final = 65_535
_SCHEMES: Final = {"helio": False, "helios": True}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a planet is, and whether TLS protects the way there."""

    host: str
    port: int = PORT
    tls: bool = False

    def __str__(self) -> str:
        """Return the address as it is written."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'helios' if self.tls else 'helio'}://{host}:{self.port}"


def read_addresses(text: str) -> tuple[Address, ...]:
    """Return the addresses of a text, in which commas separate them.

    Raises:
        UsageError: One is no address; the message shows a right one.
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > ADDRESSES_MAX:
        raise UsageError(f"at most {ADDRESSES_MAX} addresses are tried in turn, not {len(parts)}")
    return tuple(_read(part) for part in parts)


def _read(text: str) -> Address:
    wrong = f"{text[:80]!r} is no address; write helio://127.0.0.1:{PORT}, or helios:// for TLS"
    try:
        parts = urlsplit(text if "://" in text else f"helio://{text}")
        port = PORT if parts.port is None else parts.port
    except ValueError:
        raise UsageError(wrong) from None
    beside = parts.path.strip("/") or parts.query or parts.fragment or parts.username
    if parts.scheme not in _SCHEMES or not parts.hostname or beside:
        raise UsageError(wrong)
    return Address(parts.hostname, port, _SCHEMES[parts.scheme])


def read_place(text: str) -> tuple[str, int]:
    """Return the host and port to listen on, as in `127.0.0.1:7440`; an empty host is all of them.

    Raises:
        UsageError: The text is no such place.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > _PORT_MAX:
        raise UsageError(f"{text[:80]!r} is no place to listen; write 127.0.0.1:{PORT}")
    return host.strip("[]"), int(port)
