"""The brokers that we measure ourselves beside, started on loopback with settings that suit them.

Each is a child process that ends with the block that started it, and with this program. What is
missing is told with the package that brings it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HOST = "127.0.0.1"
START_SECONDS = 10.0  # How long a broker may take until it answers.
END_SECONDS = 3.0
SYSTEM_FOLDERS = "/usr/sbin:/sbin"  # Where Debian puts brokers, and often not in PATH.
TICKS = os.sysconf("SC_CLK_TCK")
ROUTER = Path(__file__).with_name("zenoh_router.py")


@dataclass(frozen=True)
class Peer:
    """A running broker."""

    name: str
    port: int
    pid: int
    version: str = ""

    def cpu(self) -> float:
        """Return the CPU-seconds that it has used in all its threads."""
        text = Path("/proc", str(self.pid), "stat").read_text(encoding="utf-8")
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


@contextlib.contextmanager
def mosquitto(queue_messages: int = 0, queue_bytes: int = 0) -> Iterator[Peer]:
    """Start Mosquitto; 0 is a queue without a limit."""
    program = find("mosquitto", "mosquitto")
    port = free_port()
    lines = [
        f"listener {port} {HOST}",
        "allow_anonymous true",
        "set_tcp_nodelay true",
        "persistence false",
        "log_dest none",
        "max_connections -1",
        f"max_queued_messages {queue_messages}",
        f"max_queued_bytes {queue_bytes}",
    ]
    with tempfile.TemporaryDirectory() as folder:
        # Started by root, it reads this as root and goes on as its own user.
        config = Path(folder, "mosquitto.conf")
        config.write_text("\n".join(lines) + "\n", encoding="utf-8")
        version = said([program, "-h"]).split("\n")[0].rpartition(" ")[2]
        with started("Mosquitto", [program, "-c", str(config)], port, version) as peer:
            yield peer


@contextlib.contextmanager
def nats(max_pending: int = 0, write_deadline: str = "") -> Iterator[Peer]:
    """Start nats-server with its defaults, or with a limit to what waits for one connection."""
    program = find("nats-server", "nats-server")
    port = free_port()
    lines = [f"listen: {HOST}:{port}"]
    if max_pending:
        # A message must fit into what may wait.
        lines += [f"max_pending: {max_pending}", f"max_payload: {min(max_pending, 2**20)}"]
    lines += [f'write_deadline: "{write_deadline}"'] if write_deadline else []
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "nats.conf")
        config.write_text("\n".join(lines) + "\n", encoding="utf-8")
        version = said([program, "-v"]).strip().rpartition(" ")[2].lstrip("v")
        with started("nats-server", [program, "-c", str(config)], port, version) as peer:
            yield peer


@contextlib.contextmanager
def zenoh(settings: dict[str, object] | None = None) -> Iterator[Peer]:
    """Start a Zenoh router: the one of the Python package, in a process of its own."""
    port = free_port()
    words = [sys.executable, str(ROUTER), str(port), json.dumps(settings or {})]
    with started("Zenoh", words, port, metadata.version("eclipse-zenoh")) as peer:
        yield peer


@contextlib.contextmanager
def started(name: str, words: Sequence[str], port: int, version: str = "") -> Iterator[Peer]:
    """Start a server, wait until it answers, and end it after the block."""
    process = subprocess.Popen(
        [*with_parent(), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        answered(name, process, port)
        yield Peer(name, port, process.pid, version)
    finally:
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stderr:
            process.stderr.close()


def with_parent() -> list[str]:
    """Return the words that end a child when this program is killed, where there are any."""
    program = shutil.which("setpriv")
    return [program, "--pdeathsig", "KILL", "--"] if program else []


def answered(name: str, process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until a server takes connections."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), 1.0):
            return
        time.sleep(0.02)
    ended = process.poll() is not None
    process.kill()
    errors = process.stderr.read().decode(errors="replace") if process.stderr else ""
    what = "ended" if ended else f"did not answer on port {port} within {START_SECONDS:g} s"
    raise SystemExit(f"{name} {what}: {errors.strip() or 'it said nothing'}")


def find(program: str, package: str) -> str:
    """Return where a program is."""
    found = shutil.which(program) or shutil.which(program, path=SYSTEM_FOLDERS)
    if found is None:
        raise SystemExit(
            f"no `{program}` here, which this benchmark runs beside the planet; on Debian: "
            f"apt-get update && apt-get install {package}"
        )
    return found


def said(words: Sequence[str]) -> str:
    """Return what a program prints."""
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def free_port() -> int:
    """Return a port of loopback that nobody has."""
    with socket.socket() as one:
        one.bind((HOST, 0))
        port: int = one.getsockname()[1]
        return port
