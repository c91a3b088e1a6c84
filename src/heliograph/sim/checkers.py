"""Checkers: one for each thing that is always true (DESIGN.md, What is always true).

Conservation and order are checked by ledgers as entries come in (`ledger`); here is what is left of
them when all is quiet, and the others. Each raises a `BreachError` that names its invariant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heliograph.event.block import Block
from heliograph.event.convert import events_of
from heliograph.event.event import Position
from heliograph.lane.entry import MARKER_BYTES
from heliograph.policy.binding import bind
from heliograph.policy.ladder import Ladder
from heliograph.policy.pack import Held, load_of, pack_to_fit
from heliograph.sim.ledger import BreachError
from heliograph.sim.story import show_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from heliograph.event.digest import Digest
    from heliograph.event.event import Event
    from heliograph.event.schema import Schema
    from heliograph.policy.limits import Limits
    from heliograph.policy.model import Policy
    from heliograph.sim.ledger import Ledger
    from heliograph.sim.topology import Topology

# A lane may be over its limit by the markers that stand in it, which no pack can take out.
MARKERS_MAX: Final = 16
# What is under way may be over its window by one frame, and by a lane's digest.
FRAME_SLACK_BYTES: Final = 8_192


def check_quiet(topology: Topology) -> None:
    """Check, once all is healed and quiet, that nothing is missing anywhere.

    Raises:
        BreachError: A subscription does not stand, or a number neither came nor is counted.
    """
    for host, receiver in topology.receivers():
        if not receiver.accepted or receiver.ledger is None:
            raise BreachError("conservation", f"{host.name} never got {receiver.stream}")
        receiver.ledger.check_all_came()


def is_quiet(topology: Topology) -> bool:
    """Say whether everything has been published, acknowledged and taken."""
    for client in topology.clients.values():
        for sender in client.application.senders:
            idle = client.core is not None and sender.id is not None and client.core.idle(sender.id)
            if sender.left or not sender.accepted or not idle:
                return False
    try:
        check_quiet(topology)
    except BreachError:
        return False
    return True


def check_bounds(topology: Topology) -> None:
    """Check that every lane and table of every planet is within its limits.

    Raises:
        BreachError: One is not.
    """
    for planet in topology.planets.values():
        if planet.core is not None:
            check_status(planet.core.status(topology.world.now), planet.config)


def check_status(status: dict[str, Any], config: Any) -> None:
    """Check what a planet says of itself against its configuration.

    Raises:
        BreachError: Something is larger than it may be.
    """
    for lane in status["lanes"]:
        name = f"the lane of {lane['stream']} to {lane['name']}"
        _within(f"{name}: entries", lane["entries"], lane["capacity_entries"] + MARKERS_MAX)
        _within(
            f"{name}: bytes", lane["bytes"], lane["capacity_bytes"] + MARKERS_MAX * MARKER_BYTES
        )
    _within("the buffer", status["buffer"]["bytes"], status["buffer"]["capacity"])
    _within("connections", status["connections"], config.connections_max + 1)
    _within("clients", len(status["clients"]), config.clients_max)
    _within("streams", len(status["streams"]), config.streams_max)
    for client in status["clients"]:
        name = f"of {client['name']}"
        _within(f"senders {name}", client["senders"], config.senders_per_client_max)
        _within(f"receivers {name}", client["receivers"], config.receivers_per_client_max)
        _within(
            f"bytes under way {name}", client["under_way"], config.window_bytes + FRAME_SLACK_BYTES
        )


def _within(what: str, value: int, limit: int) -> None:
    if value > limit:
        raise BreachError("bounds", f"{what}: {value}, of at most {limit}")


def check_isolation(ledgers: Iterable[Ledger], age_max: int) -> None:
    """Check that healthy receivers lost nothing and waited little, whatever befell the others.

    Raises:
        BreachError: One did, although nothing stood between its senders and itself.
    """
    for ledger in ledgers:
        oldest = max(ledger.ages, default=0)
        if ledger.dropped:
            raise BreachError(
                "isolation", f"healthy {ledger.who} had {ledger.dropped} of {ledger.stream} dropped"
            )
        if oldest > age_max // 1_000:
            raise BreachError(
                "isolation",
                f"healthy {ledger.who} got an event of {ledger.stream} that was "
                f"{show_time(oldest * 1_000)} s old",
            )


def check_determinism(run: Callable[[], str]) -> str:
    """Run something twice, and check that it says the same; return what it says.

    Raises:
        BreachError: It says something else.
    """
    first, second = run(), run()
    if first != second:
        raise BreachError("determinism", f"the hash of a run was {first}, then {second}")
    return first


def check_one_meaning(
    got: Sequence[Block | Digest],
    arrivals: Sequence[tuple[int, Block]],
    policy: Policy,
    schema: Schema,
    limits: Limits,
) -> None:
    """Check that a lane that nobody drained holds what `pack` makes of what arrived.

    Raises:
        BreachError: The planet's lane and the plain function disagree.
    """
    want = _flat(replay(arrivals, policy, schema, limits), schema)
    have = _flat(got, schema)
    for place, (one, other) in enumerate(zip(have, want, strict=False)):
        if one != other:
            raise BreachError("one meaning", f"entry {place} is {one}, and pack gives {other}")
    if len(have) != len(want):
        raise BreachError("one meaning", f"{len(have)} entries came, and pack gives {len(want)}")


def replay(
    arrivals: Sequence[tuple[int, Block]], policy: Policy, schema: Schema, limits: Limits
) -> list[Block | Digest]:
    """Return what a lane holds after so many arrivals, in the plain and obvious way."""
    bound = bind(policy, schema)
    ladder = Ladder(bound.top)
    entries: list[Block | Digest] = []
    pending: tuple[Digest, ...] = ()
    begin = Position(arrivals[0][1].epoch, arrivals[0][1].first - 1) if arrivals else Position(0, 0)
    packs = 0
    for now, block in arrivals:
        for event in block.singles(schema):
            if limits.full(load_of(entries), event.size):
                level = ladder.choose(now)
                packed = pack_to_fit(
                    Held(entries, begin, pending, begin),
                    bound,
                    level,
                    limits,
                    ordinal=packs,
                    coming=event.size,
                )
                ladder.packed(packed.level, now)
                entries, pending = list(packed.entries), packed.pending
                packs += 1
            entries.append(event)
    return entries


def _flat(entries: Sequence[Block | Digest], schema: Schema) -> list[Event | Digest]:
    """Return events and digests: how a link cut or joined blocks says nothing."""
    flat: list[Event | Digest] = []
    for entry in entries:
        if isinstance(entry, Block):
            flat += events_of(entry, schema)
        else:
            flat.append(entry)
    return flat
