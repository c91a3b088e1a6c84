"""Names: what a planet calls a client that gives no name: its program and its host.

A program that is killed and started again has the name that it had, so that the planet gives it its
streams back at once. That is why nothing in it differs from one start to the next.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Final

HOST_LENGTH_MAX: Final = 64
# What stands in the place of a script: a prompt, a command, standard input.
_NO_FILE: Final = ("", "-c", "-")


def host_name() -> str:
    """Return the name of this machine, or as much of it as a status has room for."""
    return socket.gethostname()[:HOST_LENGTH_MAX]


def program_name() -> str:
    """Return what was started: a script without its ending, a module, or python itself."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is not None:  # python -m package.module
        name: str = spec.name
        return name.removesuffix(".__main__")
    script = sys.argv[0] if sys.argv else ""
    return "python" if script in _NO_FILE else Path(script).stem


def default_name() -> str:
    """Return what a client of this program is called, as in `sensor@ward-3`."""
    return f"{program_name()}@{host_name()}"
