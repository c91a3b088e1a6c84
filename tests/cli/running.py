"""Run the command in this process, as a shell would: words in, exit code and both outputs out."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from heliograph.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parent.parent.parent
PULSE = ROOT / "examples" / "traces" / "pulse.csv"
SYSLOG = ROOT / "examples" / "traces" / "syslog.jsonl"

POLICY = """\
attribute: PulseRate
summary: {digesters: [MEAN, MAX]}
levels:
  - filters: [{name: WITHIN, low: 72, high: 80}]
  - filters: [{name: DELTA, change: 5}]
  - filters: [{name: EVERY, n: 2}]
"""


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def heliograph(*words: str | Path, stdin: bytes = b"") -> Ran:
    """Run a command and return what it did."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    code = 0
    with mock.patch.multiple(sys, stdout=out, stderr=err, stdin=given):
        try:
            main([str(word) for word in words])
        except SystemExit as exit_:
            code = exit_.code if isinstance(exit_.code, int) else 1
    return Ran(code, _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()


def write_policy(folder: Path, text: str = POLICY, name: str = "policy.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def write_trace(folder: Path, lines: Iterable[str], name: str = "trace.csv") -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def ramp(count: int) -> list[str]:
    """Return a CSV of readings a second apart, of which each is 10 above the one before."""
    return ["time,PulseRate"] + [f"{1_700_000_000 + n},{n * 10}" for n in range(count)]
