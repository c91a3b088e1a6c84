"""Sender: the endpoint that publishes a stream, and the lane that waits for the planet.

Publishing never blocks and never waits for the network. Rows are encoded at once and gathered until
the link asks for data, so events batch by themselves under load and leave at once when nothing
waits. While the client is detached they stay in the lane, which packs by what its receivers would
give up.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from heliograph.event import rows
from heliograph.event.block import ROWS, Block
from heliograph.event.digest import Digest
from heliograph.event.errors import EventError
from heliograph.event.event import Position
from heliograph.event.types import (
    INT64_MAX,
    INT64_MIN,
    TIME_MAX,
    TIME_MIN,
    Type,
    check_time,
)
from heliograph.lane.entry import Entry
from heliograph.lane.lane import Lane
from heliograph.policy.model import Policy
from heliograph.policy.union import bind_union
from heliograph.wire.frames import LENGTH_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heliograph.event.schema import Schema
    from heliograph.policy.ladder import Controller
    from heliograph.policy.limits import Limits

GATHER_EVENTS_MAX: Final = 1_024
GATHER_BYTES_MAX: Final = 32_768
# What a frame holds beside the row of its one event, at most.
FRAME_HEAD_BYTES: Final = 64
_ENCODE: Final = msgspec.msgpack.Encoder().encode
_PLAIN: Final = {
    Type.BOOL: bool,
    Type.INT64: int,
    Type.FLOAT64: float,
    Type.STRING: str,
    Type.BYTES: bytes,
}


def _taker(tags: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what takes the values of some tags out of a dict that has them all."""
    if len(tags) > 1:
        return itemgetter(*tags)
    return (lambda values: (values[tags[0]],)) if tags else (lambda _: ())


class Sender:
    """One stream that this client offers."""

    def __init__(
        self,
        number: int,
        stream: str,
        schema: Schema,
        epoch: int,
        limits: Limits,
        control: Callable[[int], Controller],
    ) -> None:
        """Begin an epoch, in which nothing has been published."""
        self.number = number
        self.stream = stream
        self.epoch = epoch
        # The time that all rows count from; an epoch is most often the time when it began.
        self.base = min(max(epoch, TIME_MIN), TIME_MAX)
        self.alias = 0  # None is 0: the planet has not answered yet.
        self.last = 0
        self.error: str | None = None  # Why the stream is not this client's.
        self.again = 0  # In how many milliseconds it may be, where the planet knows.
        self.beyond = 0  # Which epoch one that the planet takes has to exceed, where that is why.
        self.displaced = False  # Whether it is another client's for good.
        self.stirred = False  # Whether the link knows that something was published.
        self.grown = False  # Whether the planet has still to be told of a larger schema.
        self.receivers = 0
        self.frame_bytes = LENGTH_MAX  # The longest frame that the planet takes.
        self.policies: list[Policy] = []
        self.lane = Lane(Policy(), schema, limits, begin=Position(epoch, 0), control=control)
        self.full = False  # Whether what is gathered is to be flushed before more comes.
        self._rows: list[bytes] = []
        self._bytes = 0
        self._set_schema(schema)

    def _set_schema(self, schema: Schema) -> None:
        self.schema = schema
        self._tags = tuple(schema.index)
        self._width = len(self._tags)
        # What rows hold that need no conversion: behind the offset of the time the values, of which
        # an int may lie beyond int64.
        self._kinds = [int, *map(_PLAIN.get, schema.types)]
        self._ints = tuple(at for at, kind in enumerate(schema.types, 1) if kind is Type.INT64)
        self._values_of = _taker(self._tags)
        self.lane.bound = bind_union(self.policies, schema)

    def demand(self, policies: list[Policy], receivers: int) -> None:
        """Take over what the receivers of this stream would give up first."""
        self.policies, self.receivers = policies, receivers
        self.lane.bound = bind_union(policies, self.schema)
        self.lane.controller = None

    def publish(self, values: Mapping[str, Any], time: int, now: int) -> int:
        """Take an event and return its number.

        Raises:
            EventError: A value fits no attribute of a declared schema, the event is longer than a
                frame may be, or the stream is not this client's; nothing is published then.
        """
        number = self.gather(values, time)
        if self.full:
            self.flush(now)
        return number

    def gather(self, values: Mapping[str, Any], time: int) -> int:
        """Take an event as `publish` does; it is the caller's to flush once this is `full`."""
        if self.error is not None or not TIME_MIN <= time <= TIME_MAX:
            self._deny(time)
        encoded = b""
        # Most events are dicts of every attribute, each as it is encoded: that is seen at once.
        if type(values) is dict and len(values) == self._width:
            try:
                row = [time - self.base, *self._values_of(values)]
                if [*map(type, row)] == self._kinds:
                    for at in self._ints:
                        if not INT64_MIN <= row[at] <= INT64_MAX:
                            break
                    else:
                        encoded = _ENCODE(row)
            except (KeyError, UnicodeEncodeError):
                pass  # What is wrong is said below.
        if not encoded:
            encoded = self._fitted(values, time - self.base)
        size = len(encoded)
        if size > self.frame_bytes - FRAME_HEAD_BYTES:
            self._refuse(size)
        gathered = self._rows
        gathered.append(encoded)
        self._bytes = size = self._bytes + size
        if size >= GATHER_BYTES_MAX or len(gathered) >= GATHER_EVENTS_MAX:
            self.full = True
        self.last = number = self.last + 1
        return number

    def _fitted(self, values: Mapping[str, Any], offset: int) -> bytes:
        """Return the row of values that need a second look: absent, converted, or new."""
        schema, row = self.schema.absorb(values)
        encoded = rows.encode_row([offset, *row])
        if len(encoded) > self.frame_bytes - FRAME_HEAD_BYTES:
            self._refuse(len(encoded))
        self.grow(schema)
        return encoded

    def _deny(self, time: int) -> None:
        if self.error is not None:
            raise EventError(f"{self.stream}: {self.error}")
        check_time(time)

    def _refuse(self, size: int) -> None:
        raise EventError(
            f"an event of {self.stream} has {size} bytes; the planet takes frames of "
            f"{self.frame_bytes} (its frame_bytes): cut the event up, or raise that at both ends"
        )

    def _check(self, block: Block) -> None:
        """Refuse a block with an event that is longer than a frame may be."""
        if block.wire_bytes + FRAME_HEAD_BYTES <= self.frame_bytes:
            return
        if block.count == 1:
            self._refuse(block.wire_bytes)
        for part in block.split(block.count // 2, self.schema):
            self._check(part)

    def grow(self, schema: Schema) -> None:
        """Go on with a schema that has grown, which the planet is told before what needs it."""
        if schema is not self.schema:
            self._set_schema(schema)
            self.grown = True

    def offer(self, block: Block, now: int) -> None:
        """Take a block of many events, with the numbers that follow.

        Raises:
            EventError: An event in it is longer than a frame may be, or the stream is not this
                client's; nothing of it is published.
        """
        if self.error is not None:
            raise EventError(f"{self.stream}: {self.error}")
        self._check(block)
        self.flush(now)
        self.last = block.last
        self.lane.offer(Entry(block), now)

    def flush(self, now: int) -> None:
        """Turn what was gathered into a block in the lane."""
        gathered = self._rows
        if not gathered:
            return
        count = len(gathered)
        self._rows, self._bytes, self.full = [], 0, False
        block = Block(
            self.stream,
            self.epoch,
            self.last - count + 1,
            count,
            count,
            self.schema.version,
            self.base,
            ROWS,
            b"",
            rows.assemble(gathered),
        )
        self.lane.offer(Entry(block), now)

    @property
    def gathering(self) -> bool:
        """Whether events wait that are not in the lane yet."""
        return bool(self._rows)

    @property
    def waiting(self) -> int:
        """How many events no link has taken yet."""
        held = (one.item for one in self.lane.entries)
        return len(self._rows) + sum(one.count for one in held if isinstance(one, Block))

    def restart(self, lost: list[Block | Digest]) -> int:
        """Put back what a planet took that is gone, and return the number to go on with.

        What the last planet had acknowledged went with it: digests that began there are cut, and
        what they said of values is lost (a gap, whose count is known).
        """
        lane = self.lane
        if not lost and not lane.taken and lane.begin.number == 0:
            return 1  # Nothing has left yet: what was packed meanwhile is told from the beginning.
        items = [*lost, *(one.item for one in lane.entries if isinstance(one.item, Block | Digest))]
        while items and isinstance(items[0], Digest):
            items.pop(0)
        begin = items[0].first - 1 if items and isinstance(items[0], Block) else self.last
        if self.gathering and not items:
            begin = self.last - len(self._rows)
        kept: list[Entry] = []
        base, events = begin, 0
        for item in items:
            entry = Entry(item)
            if isinstance(item, Block):
                events += item.count
            else:
                if item.after < base:
                    open_ = item.upto - base - events
                    cut = Digest(self.stream, self.epoch, base, item.upto, open_, gap=open_)
                    entry = Entry(cut)
                base, events = item.upto, 0
            kept.append(entry)
        lane.restart(kept, Position(self.epoch, begin))
        return begin + 1
