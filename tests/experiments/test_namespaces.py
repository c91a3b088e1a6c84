"""Namespaces and thin links are made, limit what passes, and go again whatever happens."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heliograph.event.errors import UsageError
from heliograph.experiments import namespaces
from heliograph.experiments.bulk import goodput
from heliograph.experiments.namespaces import ThinLink, alone, joined

REASON = namespaces.unavailable()
needs_namespaces = pytest.mark.skipif(bool(REASON), reason=REASON or "namespaces work here")


def ours() -> set[str]:
    """Return the names of the namespaces that this process made."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
    names = {line.split()[0] for line in listed.stdout.splitlines() if line}
    return {name for name in names if name.startswith(f"helio-{os.getpid()}-")}


@needs_namespaces
def test_two_ends_see_each_other_and_nobody_else() -> None:
    with joined() as (near, far):
        assert len(ours()) == 3, "two ends, and what lies between them"
        assert "veth0" in near.run(["ip", "-brief", "link"]).stdout
        assert "veth0" not in subprocess.run(["ip", "link"], capture_output=True, text=True,
                                             check=True).stdout  # fmt: skip
        program = "import socket,sys; socket.create_connection((sys.argv[1], 9), 1)"
        refused = near.run([sys.executable, "-c", program, far.address], check=False)
        assert "ConnectionRefusedError" in refused.stderr
        beyond = near.run([sys.executable, "-c", program, "192.0.2.1"], check=False)
        assert "unreachable" in beyond.stderr
    assert ours() == set()


@needs_namespaces
def test_a_thin_link_carries_what_its_token_bucket_lets_through() -> None:
    with joined(ThinLink(rate=400_000, latency=0.3)) as (near, far):
        found = goodput(near, far, 2.0)
    share = 1_448 / 1_514  # Of a frame, what is left after its headers.
    assert 0.9 * share * 400_000 < found.bits_per_second < 1.02 * share * 400_000


@needs_namespaces
def test_two_runs_do_not_collide() -> None:
    with joined() as (one, _), joined() as (other, _), alone() as third:
        assert len({one.name, other.name, third.name}) == 3
        assert one.address == other.address
    assert ours() == set()


@needs_namespaces
def test_an_error_inside_cleans_up() -> None:
    with pytest.raises(ZeroDivisionError), joined(ThinLink()):
        _ = 1 // 0
    assert ours() == set()


@needs_namespaces
def test_a_program_left_running_is_ended_with_all_that_it_started() -> None:
    stubborn = "trap '' TERM; sleep 60 & echo $!; wait; wait"
    with alone() as one:
        process = one.start(["sh", "-c", stubborn])
        assert process.stdout is not None
        child = int(process.stdout.readline())
    assert process.returncode == -signal.SIGKILL
    # It was killed, but a busy machine may still have it on its way out: nobody waited for it.
    until = time.monotonic() + 20
    while _runs(child) and time.monotonic() < until:
        time.sleep(0.01)
    assert not _runs(child)


@needs_namespaces
def test_what_runs_in_any_of_them_is_killed_at_once_where_a_run_is_given_up() -> None:
    with alone() as one:
        process = one.start(["sleep", "60"])
        while _arguments(process.pid) != "sleep":  # `ip` becomes it once it is in the namespace.
            time.sleep(0.01)
        namespaces.kill_all()
        assert process.wait(30) == -signal.SIGKILL


def _runs(pid: int) -> bool:
    try:
        return " Z " not in Path("/proc", str(pid), "stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False


def _arguments(pid: int) -> str:
    return Path("/proc", str(pid), "cmdline").read_text(encoding="utf-8").split("\0")[0]


@needs_namespaces
def test_what_a_killed_maker_left_behind_is_swept() -> None:
    program = (
        "import os, signal\nfrom heliograph.experiments.namespaces import alone\n"
        "with alone() as one:\n    print(one.name, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    left = Path("/run/netns", done.stdout.strip())
    assert left.exists()
    namespaces.sweep()
    assert not left.exists()


@needs_namespaces
def test_a_limit_of_the_kernel_is_set_for_one_namespace_alone() -> None:
    limit = Path("/proc/sys/net/ipv4/tcp_wmem")
    before = limit.read_text(encoding="utf-8")
    with alone() as one:
        one.run(["sh", "-c", f"echo 4096 8192 8192 > {limit}"])
        assert one.run(["cat", str(limit)]).stdout.split() == ["4096", "8192", "8192"]
        assert limit.read_text(encoding="utf-8") == before


def test_a_missing_tool_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    assert "apt-get install iproute2" in namespaces.unavailable()


def test_missing_privileges_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "ip"
    fake.write_text(
        '#!/bin/sh\n[ "$2" = add ] || exit 0\necho "mkdir failed: Permission denied" >&2\nexit 1\n',
        encoding="utf-8",
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert "run as root" in namespaces.unavailable()


@pytest.mark.parametrize("thin", [ThinLink(rate=0), ThinLink(latency=0), ThinLink(burst=100)])
def test_a_link_that_cannot_be_is_refused(thin: ThinLink) -> None:
    with pytest.raises(UsageError, match="at least one frame"):
        thin.bucket()
