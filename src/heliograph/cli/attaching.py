"""Attaching: what the verbs that speak to a planet share: where it is, and how they attach."""

from __future__ import annotations

import functools
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from heliograph.cli.arguments import ADDRESS, FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heliograph.net.sync import SyncClient
    from heliograph.net.tls import TlsFiles

# A planet that was started just before needs a moment; whoever typed a wrong address needs an
# answer.
REACH_SECONDS: Final = 2.0
DEFAULT: Final = "helio://127.0.0.1:7440"
_OPTIONS: Final = (
    click.option(
        "--planet",
        type=ADDRESS,
        metavar="ADDR",
        envvar="HELIOGRAPH_PLANET",
        default=DEFAULT,
        show_default=True,
        show_envvar=True,
        help="Where the planet is: helio://host:port, or helios:// for TLS.",
    ),
    click.option(
        "--ca", type=FILE, metavar="FILE", default="",
        help="PEM: who vouches for the planet, where your system does not know them (TLS).",
    ),
    click.option(
        "--cert", type=FILE, metavar="FILE", default="",
        help="PEM: the certificate that shows the planet who this client is (TLS).",
    ),
    click.option(
        "--key", type=FILE, metavar="FILE", default="", help="PEM: the key of --cert (TLS)."
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Where a planet is, and what TLS needs to trust it."""

    address: str = DEFAULT
    ca: str = ""
    cert: str = ""
    key: str = ""

    @property
    def tls(self) -> TlsFiles | None:
        """The PEM files, if there are any."""
        from heliograph.net.tls import TlsFiles

        if not (self.ca or self.cert or self.key):
            return None
        return TlsFiles(self.cert, self.key, self.ca)


def of_planet(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb the options that say where the planet is; it gets them as `place`."""

    @functools.wraps(verb)
    def placed(*, planet: str, ca: str, cert: str, key: str, **given: Any) -> Any:
        return verb(place=Place(planet, ca, cert, key), **given)

    result: Callable[..., Any] = placed
    for option in reversed(_OPTIONS):
        result = option(result)
    return result


@contextmanager
def attached(place: Place, verb: str, stream: str = "") -> Iterator[tuple[SyncClient, str]]:
    """Attach to the planet for the time of a `with`; yields the client, and what it is called.

    Who offers a `stream` is called by it, so that it gets it back when it is started again; all
    others are told apart by the number of their process.

    Raises:
        LinkError: The planet cannot be reached.
    """
    from heliograph.net.names import host_name
    from heliograph.net.sync import connect_sync

    show_warnings()
    name = f"{verb}@{host_name()}:{stream or os.getpid()}"
    with connect_sync(place.address, name=name, seconds=REACH_SECONDS, tls=place.tls) as client:
        yield client, name


def show_warnings(level: str = "warning", *, json_lines: bool = False) -> None:
    """Let what the shell logs come to standard error, once."""
    from heliograph.net.journal import LOGGER, set_up

    for handler in list(LOGGER.handlers):
        LOGGER.removeHandler(handler)
    set_up(level=level, json_lines=json_lines)
