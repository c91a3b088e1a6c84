"""Link: one reliable, ordered byte stream over a cable, with the small buffers of two kernels.

    host --write--> waiting --rate--> flight --latency--> inbox --read--> host
                    (room)            (window)

A lost segment delays everything behind it, until it has been sent again. A receiver that does not
read fills its inbox, then the window, then `waiting`; from then on there is no room, `pull` is not
called, and what comes next stays in lanes, where policies reach it.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from heliograph.sim.cable import DOWN, UP
from heliograph.sim.quality import SEGMENT_BYTES
from heliograph.sim.story import SECOND

if TYPE_CHECKING:
    from heliograph.sim.cable import Cable

# A kernel gives a link up when nothing that it sends has been answered for so long.
GIVE_UP: Final = 40 * SECOND


class Owner(Protocol):
    """The host at one end of a link, as the link sees it."""

    name: str
    up: bool

    def readable(self, end: End) -> None:
        """Tell that bytes have arrived, or that the link has ended."""

    def writable(self, end: End) -> None:
        """Tell that there may be room again."""


class Segment:
    """Some bytes on their way; `last` says that nothing follows."""

    __slots__ = ("arrived", "attempts", "data", "last", "since")

    def __init__(self, data: bytes, since: int, *, last: bool) -> None:
        """Put bytes on their way."""
        self.data = data
        self.since = since
        self.last = last
        self.attempts = 0
        self.arrived = False


class End:
    """One end of a link: what its host writes to and reads from."""

    def __init__(self, link: Link, owner: Owner, direction: int) -> None:
        """Open one end; its host writes in a direction."""
        self.link = link
        self.owner = owner
        self.direction = direction
        self.number = 0  # By which the host's core knows this link.
        self.waiting = bytearray()
        self.inbox = bytearray()
        self.flight: deque[Segment] = deque()
        self.open = True  # Its host has neither closed it nor been told that it ended.
        self.ended = ""  # Why nothing more comes; the host is told once it has read the inbox.
        self._closing = False
        self._leaving = False
        self._flying = 0

    @property
    def peer(self) -> End:
        """The other end."""
        return self.link.ends[1 - self.direction]

    def room(self) -> int:
        """Return how many bytes the kernel would take now."""
        if not self.open or self._closing:
            return 0
        return max(0, self.link.cable.quality.buffer - len(self.waiting))

    def write(self, data: bytes) -> None:
        """Take bytes from the host; more than there is room for only in one piece."""
        self.waiting += data
        self._send()

    def read(self, size: int) -> bytes:
        """Give the host up to so many bytes that have arrived, in their order."""
        data = bytes(self.inbox[:size])
        del self.inbox[:size]
        self.peer.write(b"")  # The window has opened.
        return data

    def close(self) -> None:
        """End the link in order: what was written arrives, then its end."""
        self.open = False
        self._closing = True
        self._send()

    def reset(self) -> None:
        """End the link at once: what has not arrived never does; the peer hears of it if it can."""
        self.vanish()
        self._send_reset()

    def vanish(self) -> None:
        """End this end at once, and tell nobody: the link is half-open."""
        self.open = self._closing = False
        self.waiting.clear()
        self.flight.clear()
        self.inbox.clear()

    def finish(self, why: str) -> None:
        """Tell this end's host that the link has ended, when it has read what arrived."""
        if self.open and not self.ended:
            self.ended = why
            self.waiting.clear()
            self.flight.clear()
            self.owner.readable(self)

    def _send(self) -> None:
        """Let the next segment leave, if the cable is free and the window open."""
        if self._leaving or self.ended or not (self.waiting or self._closing):
            return
        window = self.link.cable.quality.window(self.direction)
        space = window - self._flying - len(self.peer.inbox)
        if self.waiting and space < min(SEGMENT_BYTES, len(self.waiting)):
            return
        data = bytes(self.waiting[:SEGMENT_BYTES])
        del self.waiting[:SEGMENT_BYTES]
        last = self._closing and not self.waiting
        self._closing = self._closing and not last
        segment = Segment(data, self.link.cable.world.now, last=last)
        self.flight.append(segment)
        self._flying += len(data)
        self._leaving = True
        self._leave(segment)

    def _leave(self, segment: Segment) -> None:
        cable = self.link.cable
        done = cable.transmit(self.direction, len(segment.data))
        cable.world.at(done, partial(self._left, segment))

    def _left(self, segment: Segment) -> None:
        if not segment.attempts:
            self._leaving = False
        if not self.flight:
            return  # The link has ended in the meantime.
        self._travel(segment)
        self._send()
        if self.open and self.room():
            self.owner.writable(self)

    def _travel(self, segment: Segment) -> None:
        """Let a segment arrive, or find out later that it did not."""
        cable, world = self.link.cable, self.link.cable.world
        reachable = not self.link.severed and self.peer.owner.up
        if reachable and cable.passes(self.direction):
            world.after(cable.delay(), partial(self._arrive, segment))
        else:
            world.after(cable.patience(segment.attempts), partial(self._again, segment))
            segment.attempts += 1

    def _again(self, segment: Segment) -> None:
        if not self.flight:
            return
        if self.link.cable.world.now - segment.since > GIVE_UP:
            self.flight.clear()
            self.finish("nothing that was sent is answered")
            return
        self._leave(segment)

    def _arrive(self, segment: Segment) -> None:
        """Hand over a segment that arrived, and those behind it that were only waiting for it."""
        if not self.flight:
            return
        peer = self.peer
        if not peer.open and segment.data:
            # Nobody is there any more: the answer is a reset.
            peer._send_reset()  # noqa: SLF001 - the other end of the same link
            return
        segment.arrived = True
        while self.flight and self.flight[0].arrived:
            ready = self.flight.popleft()
            self._flying -= len(ready.data)
            if not self.link.swallowing:
                peer.inbox += ready.data
            if ready.last:
                peer.finish("closed by its peer")
        self._send()
        if peer.open and not peer.ended:
            peer.owner.readable(peer)

    def _send_reset(self) -> None:
        cable = self.link.cable
        if not self.link.severed and cable.passes(self.direction):
            cable.world.after(cable.delay(), partial(self.peer.finish, "reset by its peer"))


class Link:
    """Two ends and the cable between them; end 0 is that of the host that connected."""

    def __init__(self, cable: Cable, connector: Owner, acceptor: Owner) -> None:
        """Open a link; both hosts believe in it."""
        self.cable = cable
        self.severed = False  # Nothing arrives any more, and nobody is told.
        self.swallowing = False  # Everything seems to arrive, and nothing does.
        self.ends = (End(self, connector, UP), End(self, acceptor, DOWN))
