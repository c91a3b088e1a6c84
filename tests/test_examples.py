"""Every example runs, says nothing on standard error, and ends in what it promises."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
# The last line of each, as a regular expression.
ENDS = {
    "blocks_and_arrow.py": r"the same 1000 events after going there and back: True",
    "change_policy.py": r"2000 of 2000 accounted for",
    "check_settlement.py": r"(\d+) arrived \+ (\d+) dropped \+ (\d+) filtered = 3000",
    "compare_controllers.py": r"every event delivered or counted: True",
    "demo.py": r"written: .*",
    "merge_digests.py": r"200 dropped; in pairs the same: True",
    "pack_a_lane.py": r"the worst case leaves 0 events and 1 digest of 12",
    "publish_and_subscribe.py": r"every event delivered or counted: True",
    "try_a_policy.py": r"written: .*",
    "sync_client.py": r"100 readings, 20\.495 degrees on average",
}
# Faster than for people.
WORDS = {"demo.py": ["150"]}
# It writes the traces that all other tests read; the others are parts of the demo.
NOT_RUN = {"make_traces.py", "demo_report.py", "thin_link.py"}


def test_every_example_is_here_and_in_the_index() -> None:
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert scripts == set(ENDS) | NOT_RUN
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    data = [*(EXAMPLES / "traces").iterdir(), *(EXAMPLES / "policies").iterdir()]
    named = scripts | {f"{path.parent.name}/{path.name}" for path in data}
    assert {name for name in named if f"({name})" not in index} == set()


@pytest.mark.parametrize("name", ENDS)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *WORDS.get(name, [])],
        cwd=tmp_path,  # From anywhere.
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(ENDS[name], done.stdout.splitlines()[-1])
