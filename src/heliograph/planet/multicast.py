"""Multicast: streams, and the way of an event through a planet (PACK 4).

What a sender's client sends goes into one lane for each distinct policy behind each link, as a
reference to one shared block. The service never looks into an event: packing does, in the lanes
that overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heliograph.event.errors import EventError, WireError
from heliograph.lane.entry import Entry
from heliograph.lane.pool import Pool
from heliograph.lane.squeeze import pack_lane
from heliograph.planet.frames import Frames
from heliograph.planet.state import Stream
from heliograph.policy.limits import BYTES_MIN, Limits
from heliograph.wire import forms
from heliograph.wire.messages import Beacon

if TYPE_CHECKING:
    from heliograph.event.block import Block
    from heliograph.event.digest import Digest
    from heliograph.lane.lane import Lane
    from heliograph.planet.planet import Planet
    from heliograph.planet.state import ClientState
    from heliograph.wire.reader import BlockFrame, DigestFrame, Run


class Multicast:
    """The streams of a planet."""

    def __init__(self, planet: Planet) -> None:
        """Begin without a stream."""
        self.planet = planet
        self.streams: dict[str, Stream] = {}
        self.pool = Pool()
        self.frames = Frames()
        self._stirred: list[Stream] = []

    def stream(self, key: str) -> Stream:
        """Return a stream, made when it is first offered or waited for.

        Raises:
            EventError: There are too many, or its key is none.
        """
        found = self.streams.get(key)
        if found is None:
            if not 0 < len(key) <= 256:  # noqa: PLR2004 - as blocks have it
                raise EventError("a stream key has 1 to 256 characters")
            if len(self.streams) >= self.planet.config.streams_max:
                raise EventError(
                    f"this planet carries {len(self.streams)} streams, its streams_max"
                )
            found = self.streams[key] = Stream(key)
        return found

    def forget(self, stream: Stream) -> None:
        """Drop a stream that nobody offers or waits for."""
        if stream.owner is None and not stream.receivers:
            found = self.streams.pop(stream.key, None)
            if found is not None:
                self.planet.totals.events += found.events

    # The way of the data.

    def run(self, client: ClientState, run: Run, now: int) -> None:
        """Take a run of events: the hot path."""
        stream = client.senders.get(run.alias)
        if stream is None:
            self.planet.owners.ignore(client, run.alias, "events")
            return
        account = stream.account
        block = forms.run_block(run, stream.key, account.epoch, stream.schema.version, stream.base)
        self._block(stream, block, now)

    def block(self, client: ClientState, frame: BlockFrame, now: int) -> None:
        """Take a block of many events."""
        stream = client.senders.get(frame.alias)
        if stream is None:
            self.planet.owners.ignore(client, frame.alias, "a block")
            return
        if frame.version > stream.schema.version:
            raise WireError(f"a block of the schema version {frame.version}, which was not told")
        block = forms.framed_block(frame, stream.key, stream.account.epoch)
        self._block(stream, block, now)

    def digest(self, client: ClientState, frame: DigestFrame, now: int) -> None:
        """Take a digest, for what was dropped before it came here."""
        stream = client.senders.get(frame.alias)
        if stream is None:
            self.planet.owners.ignore(client, frame.alias, "a digest")
            return
        found = forms.framed_digest(frame, stream.key, stream.account.epoch)
        digest: Digest | None = stream.account.settle(found)
        if digest is not None:
            self.spread(stream, Entry(digest), now)
            if not stream.account.missing:
                self.planet.subscriptions.open_waiting(stream, now)

    def _block(self, stream: Stream, block: Block, now: int) -> None:
        new = stream.account.take(block, stream.schema)
        if new is not None:
            stream.events += new.count
            self.spread(stream, Entry(new), now)

    def spread(self, stream: Stream, entry: Entry, now: int) -> None:
        """Offer an entry to every lane of its stream."""
        stream.touched = now
        if not stream.stirred:
            stream.stirred = True
            self._stirred.append(stream)
        for lane, group, client in stream.lanes:
            try:
                lane.offer(entry, now)
            except EventError as error:
                self.planet.blame.put_owner(stream, error)
                lane.discard(entry)
            except Exception as error:  # noqa: BLE001 - a mistake of ours costs this lane's events
                self._stumble(stream, client, error)
                lane.discard(entry)
            if not group.queued:
                client.outlet.wake(group)
            if not client.ready:
                self.planet.mark(client)
        if self.pool.bytes > self.planet.config.buffer_bytes:
            self._relieve(now)

    def _stumble(self, stream: Stream, client: ClientState, error: Exception) -> None:
        fields = {"stream": stream.key, "client": client.name, "error": repr(error)[:200]}
        self.planet.log("error", "pack_failed", **fields)

    def lanes(self) -> list[tuple[Lane, Stream, ClientState]]:
        """Return all lanes that hold events, those of former policies too."""
        found = [
            (lane, stream, client)
            for stream in self.streams.values()
            for lane, _, client in stream.lanes
        ]
        return found + self.planet.subscriptions.retired()

    def _relieve(self, now: int) -> None:
        """Pack the largest lanes until all of them fit into the planet's memory again."""
        target = self.planet.config.buffer_bytes * 15 // 16
        before = self.pool.bytes + 1
        while target < self.pool.bytes < before:
            before = self.pool.bytes
            lanes = [lane for lane, _, _ in self.lanes()]
            lanes.sort(key=lambda lane: -lane.held_bytes)
            for lane in lanes:
                if self.pool.bytes <= target:
                    return
                # What it holds counts as all that it may hold: a pack of less need free nothing.
                held = max(BYTES_MIN, lane.held_bytes)
                lane.full = Limits(lane.limits.entries, held, lane.limits.least)
                try:
                    pack_lane(lane, now)
                except EventError:
                    lane.discard()

    def watch(self, now: int) -> None:
        """Tell receivers how far streams have come that have fallen silent."""
        interval = self.planet.period
        left: list[Stream] = []
        for stream in self._stirred:
            if now - stream.touched < interval:
                left.append(stream)
                continue
            stream.stirred = False
            self._settle_owed(stream)
            beacon = Beacon(stream.alias, stream.position.number)
            for client in {client.number: client for _, _, client in stream.lanes}.values():
                self.planet.say(client, beacon, ("beacon", stream.alias))
        self._stirred = left

    def _settle_owed(self, stream: Stream) -> None:
        for lane, group, client in stream.lanes:
            if lane.owed.count:
                lane.owed.settle(lane)
                client.outlet.wake(group)
                self.planet.mark(client)
