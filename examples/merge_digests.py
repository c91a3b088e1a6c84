"""Merge the digests of several packs: in any grouping they say the same of what was dropped."""

from __future__ import annotations

from functools import reduce

from heliograph.event.block import block_of
from heliograph.event.digest import Digest
from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.policy import build
from heliograph.policy.binding import bind
from heliograph.policy.digesters import result
from heliograph.policy.merge import merge
from heliograph.policy.pack import Held, pack

SCHEMA = Schema.declare({"level": "int64"})
NAMES = ("COUNT", "MIN", "MAX", "MEAN")
POLICY = build.policy("level", summary=[build.digester(name) for name in NAMES])
LANE_EVENTS = 50


def digest_of(lane: int) -> Digest:
    """Return the digest that the worst case makes of a lane: it drops everything."""
    numbers = range(lane * LANE_EVENTS + 1, (lane + 1) * LANE_EVENTS + 1)
    times = [number * 1_000_000 for number in numbers]
    rows = [[number * number % 97] for number in numbers]
    block = block_of("river", 1, numbers, times, rows, SCHEMA)
    before = Position(1, lane * LANE_EVENTS)  # What earlier digests have settled.
    packed = pack(Held([block], settled=before, reached=before), bind(POLICY, SCHEMA), level=1)
    (digest,) = packed.entries
    if not isinstance(digest, Digest):
        raise TypeError("the worst case leaves one digest")
    return digest


def main() -> None:
    """Merge four digests from the left, and in pairs."""
    digests = [digest_of(lane) for lane in range(4)]
    for digest in digests:
        print({part.digester: result(part) for part in digest.parts})
    left = reduce(merge, digests)
    pairs = merge(merge(digests[0], digests[1]), merge(digests[2], digests[3]))
    print("together:", {part.digester: result(part) for part in left.parts})
    print(f"{left.count} dropped; in pairs the same: {left.parts == pairs.parts}")


if __name__ == "__main__":
    main()
