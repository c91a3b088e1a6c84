"""A policy without a network: a patient's recorded pulse, over a link that is too thin for it.

Five readings a second arrive, three can leave. Beside a policy run the two things that brokers do
with a full queue. Then: who got the alarms?
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from heliograph.event.block import Block
from heliograph.event.columns import Columns, NumberColumn
from heliograph.event.digest import Digest
from heliograph.event.trace import open_trace
from heliograph.lane.queue import Rate
from heliograph.lane.trial import Trial
from heliograph.policy.digesters import result
from heliograph.policy.document import load
from heliograph.policy.limits import Limits

ROOT = Path(__file__).resolve().parent.parent
POLICY = ROOT / "examples/policies/pulse.yaml"
TRACE = ROOT / "examples/traces/pulse.csv"
OUT = ROOT / "out"
CAPACITY, RATE = 64, 3
LOW, HIGH = 50, 110


def heliograph(*arguments: object) -> None:
    """Run the command as a user would, and show how."""
    words = [str(argument) for argument in arguments]
    shown = " ".join(word.replace(f"{ROOT}/", "") for word in words)
    print(f"\n$ heliograph {shown}", flush=True)
    subprocess.run([sys.executable, "-m", "heliograph.cli", *words], check=True)  # noqa: S603 - ours


def alarms() -> None:
    """Count the readings outside the normal that each queue let through, and show a digest."""
    got: dict[str, list[Block]] = {"policy": [], "newest": [], "oldest": []}
    told: list[Digest] = []

    def policy_sink(entry: Block | Digest) -> None:
        if isinstance(entry, Digest):
            told.append(entry)
        else:
            got["policy"].append(entry)

    def broker_sink(name: str, entry: Block | Digest) -> None:
        if isinstance(entry, Block):
            got[name].append(entry)

    trial = Trial(Limits(entries=CAPACITY), Rate(RATE))
    trial.add_policy("policy", load(POLICY), "aim", sink=policy_sink)
    for name in ("newest", "oldest"):
        trial.add_broker(name, lambda entry, name=name: broker_sink(name, entry))  # type: ignore[misc]
    whole = []
    with open_trace(str(TRACE)) as trace:
        for block in trace:
            whole.append(block)
            trial.offer(block, trace.schema)
        schema = trace.schema
    trial.finish()

    def count(blocks: list[Block]) -> int:
        column = Columns(blocks, schema).column("PulseRate")
        if not isinstance(column, NumberColumn):
            raise TypeError("a pulse is a number")
        return int(((column.values < LOW) | (column.values > HIGH)).sum())

    everything = count(whole)
    print(f"\nOf {everything} readings below {LOW} or above {HIGH}, the receiver got")
    for name, title in (
        ("policy", "with the policy"),
        ("newest", "from a queue that keeps the newest"),
        ("oldest", "from a queue that keeps the oldest"),
    ):
        found = count(got[name])
        print(f"  {found:4} ({found / everything:4.0%})  {title}")
    digest = max(told, key=lambda one: one.count)
    plain = {part.digester: result(part) for part in digest.parts}
    says = f"mean {plain['MEAN']:.1f}, from {plain['MIN']} to {plain['MAX']}"
    print(
        f"\nand with the policy it was told of all {sum(one.count for one in told)} that were "
        f"dropped, such as\n  readings {digest.after + 1} to {digest.upto}: "
        f"{digest.count} dropped; {says}"
    )


def main() -> None:
    """Check, explain and try the policy, then count the alarms."""
    OUT.mkdir(exist_ok=True)
    heliograph("policy", "check", POLICY)
    heliograph("policy", "explain", POLICY, TRACE, "--lane", CAPACITY)
    heliograph(
        "policy", "try", POLICY, TRACE, "--capacity", CAPACITY, "--rate", f"{RATE}/s",
        "--controller", "aim", "--against", "newest,oldest",
        "--output", OUT / "received.jsonl", "--plot", OUT / "pulse.png",
    )  # fmt: skip
    alarms()
    print("\nwritten: out/received.jsonl (what the receiver gets), out/pulse.png (PACK's Figure 8)")


if __name__ == "__main__":
    main()
