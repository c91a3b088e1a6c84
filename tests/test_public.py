"""What the package offers at its root is there, and nothing is loaded for it before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import heliograph


@pytest.mark.parametrize("name", heliograph.__all__)
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(heliograph, name) is not None
    assert name in dir(heliograph)


def test_a_name_that_is_not_offered_is_none() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'broker'"):
        _ = heliograph.broker


def test_names_of_events_load_no_sockets() -> None:
    program = "import sys, heliograph; heliograph.Event; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert {"asyncio", "heliograph.net"}.isdisjoint(done.stdout.split())
