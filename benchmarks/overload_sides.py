"""The sides of the overload: each with a queue of the same bytes, in the way that it has."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import TYPE_CHECKING, Any

import zenoh

import ours
import peers
from heliograph.client.config import ClientConfig
from heliograph.event.digest import Digest
from heliograph.net.connect import connect
from heliograph.policy import build
from peers import HOST
from user_peers import ZenohUser, encode
from wires import Mqtt, Nats

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from overload_rig import Overloaded, Pace, Plan, Taker
    from peers import Peer

STREAM = "ward001"
PIECE_BYTES = 1_024  # What is read at once, so that the rest waits where the comparison wants it.
FIFO_EVENTS = 16


class Puller:
    """Reads a connection a little at a time."""

    def __init__(self, connection: socket.socket) -> None:
        """Begin; the connection has been greeted."""
        self.connection = connection
        self.data = b""
        self.loop = asyncio.get_running_loop()

    async def exactly(self, size: int) -> bytes:
        """Return so many bytes."""
        while len(self.data) < size:
            await self._more()
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    async def line(self) -> bytes:
        """Return what stands before the end of a line."""
        while b"\r\n" not in self.data:
            await self._more()
        taken, _, self.data = self.data.partition(b"\r\n")
        return taken

    async def _more(self) -> None:
        data = await self.loop.sock_recv(self.connection, PIECE_BYTES)
        if not data:
            raise ConnectionResetError("the broker closed the connection")
        self.data += data


def opened(port: int) -> socket.socket:
    """Return a connection that blocks until it has been greeted."""
    return socket.create_connection((HOST, port), 10.0)


async def offer(connection: socket.socket, wire: Mqtt | Nats, pace: Pace) -> None:
    """Publish over a plain socket."""
    while events := await pace.due():
        data = b"".join(wire.message(STREAM, encode(event)) for event in events)
        await asyncio.get_running_loop().sock_sendall(connection, data)


class MosquittoSide:
    """Mosquitto, QoS 0, whose queue counts messages: as many as the bytes hold."""

    name = "Mosquitto"
    wire = Mqtt()

    def start(self, plan: Plan) -> AbstractContextManager[Peer]:
        """Start the broker."""
        messages = plan.queue_bytes // len(self.wire.message(STREAM, bytes(plan.event_bytes)))
        return peers.mosquitto(messages, plan.queue_bytes)

    async def send(self, port: int, pace: Pace) -> None:
        """Publish."""
        with opened(port) as connection:
            self.wire.join_sender(connection, STREAM)
            connection.settimeout(0)
            await offer(connection, self.wire, pace)

    async def receive(self, port: int, plan: Plan, taker: Taker) -> None:
        """Read one message at a time."""
        payload = bytes(plan.event_bytes)
        size = len(self.wire.message(STREAM, payload))
        with opened(port) as connection:
            self.wire.join_receiver(connection, STREAM)
            connection.settimeout(0)
            puller = Puller(connection)
            while True:
                message = await puller.exactly(size)
                await taker.take(json.loads(message[size - len(payload) :]))


class NatsSide:
    """nats-server, which ends a connection for which too much waits; the receiver comes back."""

    name = "nats-server"
    wire = Nats()

    def start(self, plan: Plan) -> AbstractContextManager[Peer]:
        """Start the broker."""
        return peers.nats(plan.queue_bytes)

    async def send(self, port: int, pace: Pace) -> None:
        """Publish."""
        with opened(port) as connection:
            self.wire.join_sender(connection, STREAM)
            connection.settimeout(0)
            await offer(connection, self.wire, pace)

    async def receive(self, port: int, plan: Plan, taker: Taker) -> None:
        """Read one message at a time; connect again when thrown out."""
        del plan
        while True:
            with opened(port) as connection:
                self.wire.join_receiver(connection, STREAM)
                connection.settimeout(0)
                try:
                    await self._read(Puller(connection), taker)
                except ConnectionResetError:
                    taker.tally.reconnects += 1

    async def _read(self, puller: Puller, taker: Taker) -> None:
        while True:
            head = await puller.line()
            if head.startswith(b"MSG "):
                payload = await puller.exactly(int(head.rpartition(b" ")[2]) + 2)
                await taker.take(json.loads(payload))
            elif head == b"PING":
                await puller.loop.sock_sendall(puller.connection, b"PONG\r\n")


class ZenohSide:
    """Zenoh with a FIFO that blocks, so that events wait in the router; or a ring at the client."""

    def __init__(self, *, ring: bool) -> None:
        """Choose where events wait."""
        self.ring = ring
        self.name = "Zenoh, ring" if ring else "Zenoh, FIFO"
        self.user = ZenohUser()

    def start(self, plan: Plan) -> AbstractContextManager[Peer]:
        """Start a router whose queue is of so many batches."""
        batch = 65_535
        batches = max(1, plan.queue_bytes // batch)
        queue = "transport/link/tx/queue/size/data"
        return peers.zenoh({"transport/link/tx/batch_size": batch, queue: batches})

    async def send(self, port: int, pace: Pace) -> None:
        """Publish, dropping what does not fit, as is its default."""
        with self.user.session(port) as session:
            maker = session.declare_publisher(STREAM)
            await asyncio.sleep(0.3)
            while events := await pace.due():
                for event in events:
                    maker.put(encode(event))
            await asyncio.sleep(0.3)

    async def receive(self, port: int, plan: Plan, taker: Taker) -> None:
        """Take from the handler."""
        size = plan.queue_bytes // plan.event_bytes
        handler: Any = (
            zenoh.handlers.RingChannel(size)
            if self.ring
            else zenoh.handlers.FifoChannel(FIFO_EVENTS)
        )
        session = self.user.session(port)
        try:
            kept = session.declare_subscriber(STREAM, handler)
            while True:
                sample = kept.try_recv()
                if sample is None:
                    await asyncio.sleep(0.0005)
                else:
                    await taker.take(json.loads(sample.payload.to_bytes()))
        finally:
            session.close()  # type: ignore[no-untyped-call]


class HelioSide:
    """A planet and our client, with a policy that keeps alarms."""

    name = ours.NAME

    def start(self, plan: Plan) -> AbstractContextManager[Peer]:
        """Start the planet."""
        return ours.planet(lane_bytes=plan.queue_bytes)

    async def send(self, port: int, pace: Pace) -> None:
        """Publish."""
        async with connect(f"helio://{HOST}:{port}") as client:
            sender = await client.advertise(STREAM)
            while events := await pace.due():
                for event in events:
                    sender.publish(event)
            await sender.flush()

    async def receive(self, port: int, plan: Plan, taker: Taker) -> None:
        """Take events one by one; a digest tells how many it stands for."""
        policy = build.policy(None, build.eq(value=True, attribute="alarm"))
        config = ClientConfig(inbox_bytes=plan.queue_bytes)
        async with connect(f"helio://{HOST}:{port}", config=config) as client:
            receiver = await client.subscribe(STREAM, policy=policy)
            async for entry in receiver:
                if isinstance(entry, Digest):
                    taker.tally.counted += entry.count
                else:
                    await taker.take(entry.values)


SIDES: list[Overloaded] = [
    MosquittoSide(),
    NatsSide(),
    ZenohSide(ring=False),
    ZenohSide(ring=True),
    HelioSide(),
]
