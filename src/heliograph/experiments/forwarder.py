"""Forwarder: plain forwarding, beside which the cost of buffers is seen (PACK 6, there Scribe).

It speaks as much of the protocol as clients need to attach, advertise and subscribe, so that both
ends are the same as with a planet. In between, each frame of data that comes from the sender is
handed to all receivers as it is: no lanes, no policies, no accounts, no fair draining.

There are two kinds. With sessions, frames are counted, acknowledged and kept until they are, as on
any link of ours: whatever a planet takes longer is what its buffers cost. Bare, even that is left
out: bytes come in and go out.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from heliograph.experiments.bare import Bare
from heliograph.wire.core import Close
from heliograph.wire.frames import EVENT, EVENT_HEAD, to_frame, word
from heliograph.wire.messages import (
    FEATURES,
    VERSION,
    Advertise,
    Advertised,
    Attach,
    Attached,
    Depart,
    Opened,
    Subscribe,
    Subscribed,
)
from heliograph.wire.reader import Cursor, Run
from heliograph.wire.session import Session

if TYPE_CHECKING:
    from heliograph.wire.core import Effect

_ALIAS: Final = 1
# Nobody is to be missed: there are no heartbeats here.
_HEARTBEAT_MS: Final = 3_600_000
_BYTES_MAX: Final = 2**20


class Plain(Session):
    """A session whose data waits in a plain queue."""

    def __init__(self) -> None:
        """Begin without a connection."""
        super().__init__(_BYTES_MAX, _BYTES_MAX)
        self.queue: deque[bytes] = deque()

    def hear(self, data: bytes, now: int) -> tuple[list[bytes], list[Any]]:
        """Return the frames of data in what came, and the messages."""
        frames: list[bytes] = []
        messages = []
        for item in self.feed(data, now):
            if isinstance(item, Run):
                for number, row in enumerate(item.rows, item.first):
                    length = EVENT_HEAD.size + len(row)
                    frames.append(EVENT_HEAD.pack(word(EVENT, length), _ALIAS, number) + row)
            elif isinstance(item, Cursor):
                self.passed(item.frames, now)
            else:
                messages.append(item)
        return frames, messages

    def draw(self, max_bytes: int, now: int) -> bytes:
        """Return what is to be written."""
        return self.pull(max_bytes, now, self._next)

    def _next(self, size: int) -> bytes | None:
        del size
        return self.queue.popleft() if self.queue else None


class Forwarder:
    """A core that forwards one stream from its sender to everyone who subscribes."""

    def __init__(self, *, bare: bool = False) -> None:
        """Begin with nobody."""
        self._bare = bare
        self._peers: dict[int, Plain | Bare] = {}
        self._wanting: dict[int, int] = {}  # The receiver behind a link.
        self._outs: list[tuple[int, Plain | Bare]] = []  # Those who have the stream.
        self._offer: Advertise | None = None
        self._last = 0  # The number of the last event.
        self._ready: dict[int, None] = {}
        self._effects: list[Effect] = []

    # The surface of a core.

    def connected(self, link: int, now: int) -> None:
        """Wait for what a client says."""
        peer = self._peers[link] = Bare() if self._bare else Plain()
        peer.connect(link, now)

    def disconnected(self, link: int, now: int) -> None:
        """Forget a client."""
        del now, self._peers[link]
        self._outs = [one for one in self._outs if one[0] != link]
        self._wanting.pop(link, None)

    def feed(self, link: int, data: bytes, now: int) -> None:
        """Hand data on, and answer the rest."""
        peer = self._peers[link]
        frames, messages = peer.hear(data, now)
        if frames:
            self._last += len(frames)
            for other, one in self._outs:
                one.queue += frames
                self._ready[other] = None
        for message in messages:
            self._hear(link, peer, message)
        if messages or peer.cursor_urgent or peer.queue:
            self._ready[link] = None

    def pull(self, link: int, max_bytes: int, now: int) -> bytes:
        """Return what is to be written."""
        return self._peers[link].draw(max_bytes, now)

    def tick(self, now: int) -> None:
        """Send the cursors that are due."""
        for link, peer in self._peers.items():
            if peer.cursor_at is not None and peer.cursor_at <= now:
                self._ready[link] = None

    def deadline(self) -> int | None:
        """Return when the next cursor is due."""
        due = [one.cursor_at for one in self._peers.values() if one.cursor_at is not None]
        return min(due, default=None)

    def take_effects(self) -> list[Effect]:
        """Return the links to close."""
        effects, self._effects = self._effects, []
        return effects

    def take_ready(self) -> list[int]:
        """Return the links that have something to pull."""
        ready = list(self._ready)
        self._ready.clear()
        return ready

    # What it does.

    def _hear(self, link: int, peer: Plain | Bare, message: Any) -> None:
        match message:
            case Attach():
                peer.greet(
                    Attached(
                        VERSION, list(FEATURES), bytes(16), resumed=False, frames=0,
                        heartbeat_ms=_HEARTBEAT_MS, frame_bytes_max=_BYTES_MAX,
                    )
                )  # fmt: skip
                peer.resume(0)
            case Advertise():
                self._offer, self._last = message, message.next - 1
                peer.say(Advertised(message.request, _ALIAS))
                for other in self._wanting:
                    self._open(other)
            case Subscribe():
                self._wanting[link] = message.receiver
                peer.say(Subscribed(message.receiver))
                self._open(link)
            case Depart():
                self._effects.append(Close(link, "departed"))

    def _open(self, link: int) -> None:
        """Let a receiver have what comes from now on."""
        offer = self._offer
        if offer is None:
            return
        peer = self._peers[link]
        peer.say(
            Opened(
                self._wanting[link], _ALIAS, offer.stream, offer.epoch, offer.base, offer.schema,
                0, self._last,
            )
        )  # fmt: skip
        peer.queue.append(to_frame(_ALIAS, 1))
        self._outs.append((link, peer))
        self._ready[link] = None
