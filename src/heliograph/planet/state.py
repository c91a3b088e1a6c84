"""State: what a planet knows of its clients, streams and subscriptions. Few places change it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.lane.account import Account
from heliograph.lane.budget import Budget
from heliograph.lane.outlet import Outlet
from heliograph.wire.forms import entry_frame
from heliograph.wire.frames import to_frame
from heliograph.wire.session import Session

if TYPE_CHECKING:
    from heliograph.lane.lane import Lane
    from heliograph.lane.outlet import Group
    from heliograph.planet.config import PlanetConfig
    from heliograph.planet.frames import Frames
    from heliograph.policy.limits import Limits
    from heliograph.policy.model import Policy


@dataclass(slots=True)
class Totals:
    """What lanes and streams counted that are gone, and what strangers did."""

    events: int = 0
    taken: int = 0
    filtered: int = 0
    packs: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def keep(self, lane: Lane) -> None:
        """Keep what a lane counted that is going."""
        self.taken += lane.taken
        self.filtered += lane.filtered
        self.packs += lane.packs
        self.dropped.update(lane.dropped)


class Name(NamedTuple):
    """What an alias stands for: an epoch of a stream."""

    alias: int
    base: int
    schema: Schema  # That reads this epoch.


class Stream:
    """One stream: who offers it, how far it has come, and the lanes that it flows into."""

    __slots__ = (
        "account", "alias", "base", "demanded", "events", "key", "lanes", "names", "owner",
        "receivers", "schema", "stirred", "touched",
    )  # fmt: skip

    def __init__(self, key: str) -> None:
        """Begin as a stream that someone waits for and nobody offers."""
        self.key = key
        self.owner: ClientState | None = None
        self.alias = 0
        self.base = 0
        self.schema = Schema()
        self.account = Account(key, Position(0, 0))
        self.names: dict[int, Name] = {}  # By epoch.
        self.receivers: dict[tuple[int, int], Subscription] = {}
        self.lanes: list[tuple[Lane, Group, ClientState]] = []
        self.stirred = False  # Whether it has moved since the last beacon.
        self.touched = 0
        self.demanded: int | None = None  # When its owner was last told what is demanded.
        self.events = 0

    @property
    def position(self) -> Position:
        """How far the stream has come."""
        return self.account.position


class Subscription:
    """One receiver's wish for a stream, and the lane that serves it once the stream exists."""

    __slots__ = (
        "bit", "client", "lane", "limits", "policy", "receiver", "retired", "since", "stream",
    )  # fmt: skip

    def __init__(
        self,
        client: ClientState,
        receiver: int,
        stream: Stream,
        policy: Policy,
        limits: Limits,
        since: Position,
    ) -> None:
        """Begin without a lane."""
        self.client = client
        self.receiver = receiver
        self.stream = stream
        self.policy = policy
        self.limits = limits
        self.since = since
        self.lane: Lane | None = None
        self.bit = 0
        # Lanes under former policies, which get nothing more and are not drained yet.
        self.retired: list[tuple[int, Lane]] = []


class ClientState:
    """A client, attached or detached."""

    def __init__(
        self, number: int, token: bytes, name: str, config: PlanetConfig, frames: Frames
    ) -> None:
        """Begin without a connection."""
        self.frames = frames  # Those of all links.
        self.number = number
        self.token = token
        self.name = name
        self.session = Session(config.window_bytes, config.frame_bytes)
        self.outlet = Outlet()
        self.features: list[str] = []  # What it and the planet both understand.
        self.senders: dict[int, Stream] = {}  # By alias.
        # Aliases that are another client's streams now, until this one has said that it knows; and
        # whether anything came under them since.
        self.displaced: dict[int, bool] = {}
        self.receivers: dict[int, Subscription] = {}
        self.streams: dict[str, Stream] = {}  # Those that its outlet has groups of.
        self.budget = Budget(config.pack_steps)
        self.detached_at: int | None = None
        self.ready = False

    @property
    def link(self) -> int | None:
        """The connection that it is attached by, if it is."""
        return self.session.link

    def next_frame(self, size: int) -> bytes | None:
        """Return the next frame of data: fairly among streams, each block once."""
        found = self.outlet.peek()
        if found is None:
            return None
        group, entry, mask = found
        stream = self.streams[group.stream]
        alias, base, schema = stream.names[entry.epoch]
        if mask != group.mask:
            group.mask = mask
            return to_frame(alias, mask)
        if entry.size > size:
            entry = group.cut(entry, mask, size, schema)
        if len(stream.lanes) > 1:
            frame = self.frames.shared(entry, alias, base)
        else:
            frame = entry_frame(entry, alias, base)
        group.pop(mask)
        self.outlet.sent(group, len(frame))
        return frame
