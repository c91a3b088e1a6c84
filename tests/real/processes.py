"""Planets and clients as processes of their own, that can be killed, stopped and starved."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from heliograph.event.event import Position
from heliograph.lane.account import Account

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable

FOLDER = Path(__file__).resolve().parent
PLANET = (
    "import sys\nfrom heliograph.net.server import run\n"
    "from heliograph.planet.config import read_config\nrun(read_config(sys.argv[1]))"
)
PATIENCE = 60.0


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def until(true: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    """Wait for something that will come; the time is a limit for a hung test, not a measure."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise AssertionError(f"it never came: {what}")
        time.sleep(0.02)


class Process:
    """A child, which does not outlive its test."""

    def __init__(self, *words: str) -> None:
        self.child = subprocess.Popen(
            [sys.executable, *words], stdout=subprocess.PIPE, stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def send(self, sign: signal.Signals) -> None:
        os.kill(self.child.pid, sign)

    def kill(self) -> None:
        """Kill -9: nothing is said, nothing is kept."""
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe is not None:
                pipe.close()

    def memory(self) -> int:
        """Return the resident bytes of the process."""
        text = Path(f"/proc/{self.child.pid}/status").read_text(encoding="utf-8")
        line = next(one for one in text.splitlines() if one.startswith("VmRSS"))
        return int(line.split()[1]) * 1_024


class PlanetProcess(Process):
    """A planet on a port of its own."""

    def __init__(self, folder: Path, *, port: int = 0, **settings: Any) -> None:
        self.port = port or free_port()
        settings = {"listen": f"127.0.0.1:{self.port}", **settings}
        config = folder / f"planet-{self.port}.toml"
        lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        config.write_text("\n".join(lines), encoding="utf-8")
        super().__init__("-c", PLANET, str(config))
        until(self._listens, "a planet that listens")

    def _listens(self) -> bool:
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def address(self) -> str:
        return f"helio://127.0.0.1:{self.port}"


class ReceiverProcess(Process):
    """A receiver that prints what it gets; the books are kept here."""

    def __init__(self, address: str, stream: str, policy: str = "", *words: str) -> None:
        super().__init__(str(FOLDER / "receive.py"), address, stream, policy, *words)
        self.lines: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        if self.child.stdout is not None:
            for line in self.child.stdout:
                self.lines.append(json.loads(line))

    def ready(self) -> None:
        until(lambda: bool(self.lines), "a subscription that stands")

    def entries(self) -> list[dict[str, Any]]:
        return [one for one in self.lines if "ready" not in one]

    def position(self) -> int:
        """Return the last number that is received or settled."""
        entries = self.entries()
        return max((one.get("upto", one.get("number", 0)) for one in entries), default=0)


def settled(entries: list[dict[str, Any]], begin: int = 0) -> dict[str, int]:
    """Check order and conservation of what one receiver got of one epoch, and count it."""
    account = Account("s", Position(1, begin))
    last = begin
    counts = {"events": 0, "dropped": 0, "filtered": 0, "gap": 0}
    for one in entries:
        if "number" in one:
            assert one["number"] > last, "an event out of order, or twice"
            last = account.last = one["number"]
            account.events += 1
            counts["events"] += 1
        else:
            open_ = one["upto"] - account.base - account.events
            assert open_ == one["count"] + one["filtered"], (one, account.base, account.events)
            assert one["upto"] >= last, "a digest before an event that it covers"
            last = account.base = account.last = one["upto"]
            account.events = 0
            counts["dropped"] += one["count"] - one["gap"]
            counts["filtered"] += one["filtered"]
            counts["gap"] += one["gap"]
    assert account.missing == 0, f"{account.missing} numbers up to {account.last} are not told"
    return counts
