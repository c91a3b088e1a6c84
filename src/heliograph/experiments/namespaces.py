"""Two network namespaces joined by a thin link: a third one between them, with token buckets.

PACK 6 measured over a real 50 Kbit/s line. Here the kernel's own TCP runs over a link that lets
through as many bits a second, holds a short queue, and loses what does not fit, as a modem does.

    with joined(ThinLink(rate=50_000)) as (near, far):
        receiver = far.start([sys.executable, "receiver.py"])
        near.run([sys.executable, "sender.py", far.address])

Nothing of it is seen outside: all ends of the veth pairs stand in namespaces of their own, whose
names carry the id of this process. Leaving the block ends what still runs in them and deletes them;
what a killed process left behind goes when the next one makes its own.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heliograph.event.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PREFIX = "helio"
ENDING_SECONDS = 2.0  # How long a program may take to end when it is asked to.
SETUP_SECONDS = 10.0  # How long `ip` or `tc` may take: they answer in milliseconds.
_FRAME_HEAD = 14  # Bytes of Ethernet before each packet: the token bucket counts them.
_SYSTEM_FOLDERS = "/usr/sbin:/sbin"  # Where `ip` and `tc` are, and often not in PATH.
# The congestion control that every kernel has, and that loses least on a short queue: runs on two
# machines compare.
_RENO = "echo reno > /proc/sys/net/ipv4/tcp_congestion_control"
_turn = itertools.count()
_standing: dict[str, Namespace] = {}  # Those of this process.


@dataclass(frozen=True)
class ThinLink:
    """What the link lets through, the same in both directions."""

    rate: int = 50_000  # Bits a second, counted with all headers.
    latency: float = 1.0  # Seconds of queue before the token bucket; what comes then is lost.
    mtu: int = 1_500
    burst: int = 0  # Bytes that may go at once after a pause; 0 is one frame, the least there is.

    def bucket(self) -> list[str]:
        """Return the token bucket in the words of `tc`."""
        burst = self.burst or self.mtu + _FRAME_HEAD
        if self.rate <= 0 or self.latency <= 0 or burst < self.mtu + _FRAME_HEAD:
            raise UsageError(
                f"{self}: rate and latency are above 0, and a burst is at least one frame of "
                f"{self.mtu + _FRAME_HEAD} bytes"
            )
        latency = f"{round(self.latency * 1e6)}us"
        return ["tbf", "rate", f"{self.rate}bit", "burst", f"{burst}b", "latency", latency]


@dataclass
class Namespace:
    """One end: a name, an address, and what was started in it."""

    name: str
    address: str
    _started: list[subprocess.Popen[Any]] = field(default_factory=list)

    def command(self, words: Sequence[str]) -> list[str]:
        """Return the command that runs these words in here."""
        return [_tool("ip"), "netns", "exec", self.name, *words]

    def run(self, words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command in here to its end, with the options of `subprocess.run`."""
        options = {"check": True, "text": True, "capture_output": True, **options}
        return subprocess.run(self.command(words), **options)  # noqa: S603, PLW1510 - the caller's own command; `check` is among the options

    def start(self, words: Sequence[str], **options: Any) -> subprocess.Popen[str]:
        """Start a command in here; it is ended, if need be, when the namespace goes."""
        options = {"text": True, "stdout": subprocess.PIPE, **options}
        process = subprocess.Popen(self.command(words), **options)  # noqa: S603 - the caller's own
        self._started.append(process)
        return process

    def end(self) -> None:
        """End what was started in here, and what that has started, and delete the namespace."""
        for process in self._started:
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + ENDING_SECONDS
        for process in self._started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.01, deadline - time.monotonic()))
        self.kill()
        for process in self._started:
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
        self._started.clear()
        _ip("netns", "del", self.name, check=False)

    def kill(self) -> None:
        """Kill whatever runs in here."""
        for pid in _ip("netns", "pids", self.name, check=False).split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def kill_all() -> None:
    """Kill what runs in any namespace of this process: whoever waits for it goes on at once."""
    for one in list(_standing.values()):
        one.kill()


@contextlib.contextmanager
def alone() -> Iterator[Namespace]:
    """Make one namespace with nothing but its loopback, whose limits are nobody else's."""
    sweep()
    one = Namespace(f"{PREFIX}-{os.getpid()}-{next(_turn)}", "127.0.0.1")
    with _ended([one]):
        _ip("netns", "add", one.name)
        _ip("-n", one.name, "link", "set", "lo", "up")
        yield one


@contextlib.contextmanager
def joined(thin: ThinLink | None = None) -> Iterator[tuple[Namespace, Namespace]]:
    """Make two namespaces and a link between them; a link that is `None` is as fast as it comes.

    A third one stands between them and does what a modem does.
    """
    bucket = thin.bucket() if thin else []
    mtu = thin.mtu if thin else 1_500
    sweep()
    name = f"{PREFIX}-{os.getpid()}-{next(_turn)}"
    near, far = Namespace(f"{name}-a", "10.77.0.1"), Namespace(f"{name}-b", "10.77.1.2")
    # The link is thin between the ends, not at them: a sender's kernel that knows how full its own
    # device is behaves otherwise than one that has a modem before it.
    between = Namespace(f"{name}-m", "10.77.0.2")
    with _ended([near, far, between]):
        for one in (near, far, between):
            _ip("netns", "add", one.name)
            _ip("-n", one.name, "link", "set", "lo", "up")
        between.run(["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"])
        for end, device, gateway in ((near, "veth0", between.address), (far, "veth1", "10.77.1.1")):
            end.run(["sh", "-c", _RENO])
            _cable(end, between, device, gateway, mtu)
        for device in ("veth0", "veth1") if bucket else ():
            _call("tc", "-n", between.name, "qdisc", "add", "dev", device, "root", *bucket)
        yield near, far


def _cable(end: Namespace, between: Namespace, device: str, gateway: str, mtu: int) -> None:
    """Lay a veth pair from an end to the namespace between both, in a network of their own."""
    here, there = (["mtu", str(mtu), "netns", one.name] for one in (end, between))
    _ip("link", "add", "veth0", *here, "type", "veth", "peer", "name", device, *there)
    for one, name, address in ((end, "veth0", end.address), (between, device, gateway)):
        _ip("-n", one.name, "address", "add", f"{address}/30", "dev", name)
        _ip("-n", one.name, "link", "set", name, "up")
    _ip("-n", end.name, "route", "add", "default", "via", gateway)


@contextlib.contextmanager
def _ended(namespaces: list[Namespace]) -> Iterator[None]:
    """End the namespaces after the block, after an error, and when the program leaves early."""

    def end() -> None:
        for one in namespaces:
            one.end()

    names = [one.name for one in namespaces]
    _standing.update(zip(names, namespaces, strict=True))
    atexit.register(end)
    try:
        yield
    finally:
        atexit.unregister(end)
        for name in names:
            _standing.pop(name)
        end()


def sweep() -> None:
    """Delete namespaces of ours whose maker is gone: it was killed before it could."""
    for name in re.findall(rf"^{PREFIX}-\d+-\S+", _ip("netns", "list"), re.MULTILINE):
        maker = name.split("-")[1]
        if not Path("/proc", maker).exists():
            Namespace(name, "").end()


def unavailable() -> str:
    """Return why namespaces cannot be made here, in words that say what to do; or nothing."""
    try:
        with joined(ThinLink()):
            return ""
    except UsageError as error:
        return str(error)


def _tool(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path=_SYSTEM_FOLDERS)
    if found is None:
        raise UsageError(
            f"no `{name}` here, which makes thin links; on Debian: apt-get install iproute2"
        )
    return found


def _ip(*words: str, check: bool = True) -> str:
    return _call("ip", *words, check=check)


def _call(tool: str, *words: str, check: bool = True) -> str:
    done = subprocess.run(  # noqa: S603 - words of this file
        [_tool(tool), *words], capture_output=True, text=True, check=False, timeout=SETUP_SECONDS
    )
    if check and done.returncode:
        said = done.stderr.strip() or f"status {done.returncode}"
        hint = ""
        if re.search("not permitted|denied", said, re.IGNORECASE):
            hint = "; a thin link needs the privileges to make network namespaces: run as root"
        raise UsageError(f"`{tool} {' '.join(words)}` failed: {said}{hint}")
    return done.stdout
