"""Heliograph: streams of sensor events that fit; what does not is dropped as asked, and counted.

What people use most is offered here. Each is loaded when it is first asked for, so that a program
that only packs a lane loads no sockets, and `import heliograph` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heliograph.client.config import ClientConfig
    from heliograph.event.digest import Digest
    from heliograph.event.errors import HeliographError
    from heliograph.event.event import Event
    from heliograph.event.schema import Schema
    from heliograph.net.client import AsyncClient
    from heliograph.net.connect import connect
    from heliograph.net.receiver import AsyncReceiver
    from heliograph.net.sender import AsyncSender
    from heliograph.net.server import serve
    from heliograph.net.sync import connect_sync
    from heliograph.planet.config import PlanetConfig
    from heliograph.policy.model import Policy

__version__ = "0.1.0"
__all__ = [
    "AsyncClient",
    "AsyncReceiver",
    "AsyncSender",
    "ClientConfig",
    "Digest",
    "Event",
    "HeliographError",
    "PlanetConfig",
    "Policy",
    "Schema",
    "__version__",
    "connect",
    "connect_sync",
    "serve",
]
_PLACES = {
    "AsyncClient": "heliograph.net.client",
    "AsyncReceiver": "heliograph.net.receiver",
    "AsyncSender": "heliograph.net.sender",
    "ClientConfig": "heliograph.client.config",
    "Digest": "heliograph.event.digest",
    "Event": "heliograph.event.event",
    "HeliographError": "heliograph.event.errors",
    "PlanetConfig": "heliograph.planet.config",
    "Policy": "heliograph.policy.model",
    "Schema": "heliograph.event.schema",
    "connect": "heliograph.net.connect",
    "connect_sync": "heliograph.net.sync",
    "serve": "heliograph.net.server",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for."""
    if name not in _PLACES:
        raise AttributeError(f"module 'heliograph' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
