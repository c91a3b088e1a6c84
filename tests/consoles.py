"""The console blocks of the documentation: `python tests/consoles.py` runs them all again.

A block shows commands as `$ heliograph ...` with what they printed. A test runs them and compares;
this rewrites what they print, so that no output in the docs is ever typed. In a block that begins
with "console planet" each command speaks to a planet of its own, which is started for it. All
commands of a "console session" run in one shell, in a folder of their own, from which examples/ is
seen; its planets listen on free ports, and those that they have by themselves are shown.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = (
    "README.md",
    "docs/planet-guide.md",
    "docs/policy-guide.md",
    "docs/reference/cli.md",
    "docs/reference/policy.md",
    "examples/README.md",
)
_BLOCK = re.compile(r"^```console( planet| session)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROMPT = "$ "
# Where a planet listens by itself, which is what a reader sees; and where its metrics are, there.
_PLACE = "127.0.0.1:7440"
_HTTP_PORT = "7441"
_SESSION = " session"
# What stands before the output of each command of a session; and what a shell says of its jobs.
_MARK = "=====command"
_JOBS = re.compile(r".*: line \d+: +\d+ (Killed|Terminated)")


@dataclass(frozen=True)
class Command:
    """One command of a block, and the lines that stand under it."""

    document: str
    words: str
    shown: tuple[str, ...]
    planet: bool = False  # Whether it speaks to one.

    def head(self, line: str) -> str:
        """Return what must be the same in each run: without a planet all of a line.

        With one, what stands before the first number: times and ports are others each time, and
        with them how wide the columns of a table are.
        """
        return " ".join(re.split(r"\d", line)[0].split()) if self.planet else line


def commands(document: str) -> list[Command]:
    """Return the commands of a document that begin with `$ heliograph`, but those of sessions."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = [
        one
        for kind, block in _BLOCK.findall(text)
        if kind != _SESSION
        for one in _split(document, block, planet=bool(kind))
    ]
    return [one for one in found if one.words.startswith("heliograph")]


def sessions(document: str) -> list[list[Command]]:
    """Return the sessions of a document."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [
        _split(document, block, planet=True)
        for kind, block in _BLOCK.findall(text)
        if kind == _SESSION
    ]


def _split(document: str, block: str, *, planet: bool) -> list[Command]:
    """Split a block at its prompts; a command goes on over lines that end in a backslash."""
    result = []
    lines = block.splitlines()
    while lines:
        words = lines.pop(0).removeprefix(_PROMPT)
        while words.endswith("\\") and lines:
            words = words + "\n" + lines.pop(0)
        end = next((n for n, line in enumerate(lines) if line.startswith(_PROMPT)), len(lines))
        result.append(Command(document, words, tuple(lines[:end]), planet))
        lines = lines[end:]
    return result


def run(command: Command) -> subprocess.CompletedProcess[str]:
    """Run a command as a reader would, from the root of the repository."""
    environment = _environment()
    if not command.planet:
        return _run(command, environment)
    with planet() as place:
        done = _run(command, environment | {"HELIOGRAPH_PLANET": place})
    done.stdout = done.stdout.replace(place, _PLACE)
    return done


def run_session(session: list[Command]) -> list[list[str]]:
    """Run the commands of a session in one shell; return what was printed under each.

    What runs in the background has a second before the next command begins, and ends with the
    session.
    """
    port, http = _free_port(), _free_port()
    lines = []
    for one in session:
        lines.append(f"echo {_MARK}")
        lines.append(one.words.replace(_HTTP_PORT, http).replace(_PLACE[-4:], port))
        lines += ["sleep 1"] * one.words.endswith("&")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "examples").symlink_to(ROOT / "examples")
        _write_wrapper(Path(folder) / "bin", port)
        environment = _environment() | {"HELIOGRAPH_PLANET": f"helio://127.0.0.1:{port}"}
        environment["PATH"] = f"{folder}/bin{os.pathsep}{environment['PATH']}"
        printed = _run_shell("\n".join(lines), folder, environment)
    printed = printed.replace(f"export HELIOGRAPH_PLANET=helio://127.0.0.1:{port}; ", "")
    printed = printed.replace(port, _PLACE[-4:]).replace(http, _HTTP_PORT)
    parts = printed.split(f"{_MARK}\n")[1:]
    return [[line for line in part.splitlines() if not _JOBS.match(line)] for part in parts]


def _run_shell(script: str, folder: str, environment: dict[str, str]) -> str:
    # Into a file: what runs in the background would keep a pipe open.
    with Path(folder, "printed").open("w+", encoding="utf-8") as file:
        shell = subprocess.Popen(
            ["bash", "-c", script], cwd=folder, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            shell.wait(60)
        finally:
            os.killpg(shell.pid, signal.SIGKILL)
        file.seek(0)
        return file.read()


def _write_wrapper(folder: Path, port: str) -> None:
    """Let `heliograph planet` listen, by itself, on a port that is free."""
    folder.mkdir()
    real = shlex.join([sys.executable, "-m", "heliograph.cli"])
    wrapper = folder / "heliograph"
    wrapper.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = planet ]; then shift; set -- planet --set listen=127.0.0.1:{port} "$@"; fi\n'
        f'exec {real} "$@"\n',
        encoding="utf-8",
    )
    wrapper.chmod(0o755)


def _free_port() -> str:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return str(sock.getsockname()[1])


def _environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    environment.pop("HELIOGRAPH_PLANET", None)
    return environment


@contextmanager
def planet() -> Iterator[str]:
    """Start a planet for the time of a `with`; yields where it listens."""
    words = [sys.executable, "-m", "heliograph.cli", "planet", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=_environment()) as process:
        assert process.stdout is not None
        found = re.search(r"127\.0\.0\.1:\d+", process.stdout.readline())
        try:
            assert found is not None
            yield found[0]
        finally:
            process.terminate()


def _run(command: Command, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command.words],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )


def _printed(one: Command) -> list[str]:
    ours = one.words.startswith("heliograph")
    return run(one).stdout.splitlines() if ours else list(one.shown)


def _refreshed(document: str, text: str) -> str:
    def again(found: re.Match[str]) -> str:
        lines = []
        split = _split(document, found[2], planet=bool(found[1]))
        printed = run_session(split) if found[1] == _SESSION else map(_printed, split)
        for one, shown in zip(split, printed, strict=True):
            lines += [_PROMPT + one.words, *shown]
        return "\n".join([f"```console{found[1] or ''}", *lines, "```"])

    return _BLOCK.sub(again, text)


def main() -> None:
    """Run every command again, and put what it prints into the documents (or those named)."""
    for document in sys.argv[1:] or DOCUMENTS:
        path = ROOT / document
        before = path.read_text(encoding="utf-8")
        after = _refreshed(document, before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            sys.stdout.write(f"{document} changed\n")


if __name__ == "__main__":
    main()
