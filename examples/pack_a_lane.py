"""Write a policy in Python, and pack a full lane with it, level by level."""

from __future__ import annotations

from heliograph.event.block import Block
from heliograph.event.convert import blocks_of, events_of
from heliograph.event.event import Event
from heliograph.event.schema import Schema
from heliograph.policy import build
from heliograph.policy.binding import bind
from heliograph.policy.digesters import result
from heliograph.policy.pack import Held, pack
from heliograph.policy.reading import read

RATES = [71, 72, 72, 75, 148, 152, 77, 74, 73, 72, 36, 71]
SCHEMA = Schema.declare({"PulseRate": "int64"})
POLICY = build.policy(
    "PulseRate",
    build.uniq(),
    build.within(50, 100),
    build.latest(1),
    summary=[build.digester("MEAN"), build.digester("MAX")],
)


def main() -> None:
    """Pack one lane at each level; the level above the highest is the worst case."""
    print(*read(POLICY), sep="\n")
    events = [
        Event("ward-3", 1, number, number * 1_000_000, {"PulseRate": rate})
        for number, rate in enumerate(RATES, 1)
    ]
    lane = Held(list(blocks_of(events, SCHEMA)))
    bound = bind(POLICY, SCHEMA)
    for level in range(1, bound.top + 2):
        packed = pack(lane, bound, level)
        print(f"\nlevel {level}")
        for entry in packed.entries:
            if isinstance(entry, Block):
                rates = [event.values["PulseRate"] for event in events_of(entry, SCHEMA)]
                print(f"  events {entry.first} to {entry.last}: {rates}")
            else:
                says = {part.digester: result(part) for part in entry.parts}
                print(f"  digest of ({entry.after}, {entry.upto}]: {entry.count} dropped, {says}")
    print("\nthe worst case leaves 0 events and 1 digest of 12")


if __name__ == "__main__":
    main()
