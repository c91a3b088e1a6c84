"""State: what a planet knows of its clients, streams and subscriptions. Few places change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from heliograph.policy.limits import Limits
    from heliograph.policy.model import Policy


class Stream:
    """One stream: who offers it, how far it has come, and the lanes that it flows into."""

    __slots__ = (
        "account", "alias", "base", "events", "key", "lanes", "names", "owner", "receivers",
        "schema", "stirred", "touched",
    )  # fmt: skip

    def __init__(self, key: str) -> None:
        """Begin as a stream that someone waits for and nobody offers."""
        self.key = key
        self.owner: ClientState | None = None
        self.alias = 0
        self.base = 0
        self.schema = Schema()
        self.account = Account(key, Position(0, 0))
        self.names: dict[int, tuple[int, int]] = {}  # Epoch to alias and base.
        self.receivers: dict[tuple[int, int], Subscription] = {}
        self.lanes: list[tuple[Lane, Group, ClientState]] = []
        self.stirred = False  # Whether it has moved since the last beacon.
        self.touched = 0
        self.events = 0

    @property
    def position(self) -> Position:
        """How far the stream has come."""
        return self.account.position


class Subscription:
    """One receiver's wish for a stream, and the lane that serves it once the stream exists."""

    __slots__ = ("bit", "client", "lane", "limits", "policy", "receiver", "since", "stream")

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


class ClientState:
    """A client, attached or detached."""

    def __init__(self, number: int, token: bytes, name: str, config: PlanetConfig) -> None:
        """Begin without a connection."""
        self.number = number
        self.token = token
        self.name = name
        self.session = Session(config.window_bytes, config.frame_bytes)
        self.outlet = Outlet()
        self.senders: dict[int, Stream] = {}  # By alias.
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
        alias, base = stream.names[entry.epoch]
        if mask != group.mask:
            group.mask = mask
            return to_frame(alias, mask)
        if entry.size > size:
            entry = group.cut(entry, mask, size, stream.schema)
        frame = entry.frame or entry_frame(entry, alias, base)
        group.pop(mask)
        self.outlet.sent(group, len(frame))
        return frame
