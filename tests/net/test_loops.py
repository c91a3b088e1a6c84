"""The loop is uvloop where that is installed, and asyncio's own where it is not."""

from __future__ import annotations

import asyncio
import sys

import pytest

from heliograph.net.loops import loop_factory, run


def test_a_program_runs_in_uvloop_where_it_is_installed() -> None:
    pytest.importorskip("uvloop")

    async def main() -> str:
        return type(asyncio.get_running_loop()).__module__

    assert run(main()) == "uvloop"


def test_without_uvloop_it_is_the_loop_of_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert loop_factory() is asyncio.new_event_loop
