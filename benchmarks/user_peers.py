"""nats-py, aiomqtt and eclipse-zenoh, used as their documents tell, with events as JSON."""

from __future__ import annotations

import asyncio
import contextlib
import json
from functools import partial
from typing import TYPE_CHECKING, Any

import aiomqtt
import nats
import zenoh

from peers import HOST

if TYPE_CHECKING:
    from nats.aio.msg import Msg

    from pacing import Load, Pacer, Ready, Sink


def encode(event: dict[str, Any]) -> bytes:
    """Return an event as JSON."""
    return json.dumps(event).encode()


class NatsUser:
    """nats-py beside nats-server."""

    name = "nats-py"

    async def send(self, port: int, pacer: Pacer) -> None:
        """Publish over one client for each stream."""
        streams = pacer.load.streams
        clients = [await nats.connect(f"nats://{HOST}:{port}") for _ in range(streams)]
        subjects = [f"ward.{number}" for number in range(streams)]
        while count := await pacer.room():
            for _ in range(count):
                turn = pacer.sent % streams
                await clients[turn].publish(subjects[turn], encode(pacer.event()))
        for client in clients:
            await client.drain()

    async def receive(self, port: int, load: Load, sinks: list[Sink], ready: Ready) -> None:
        """Subscribe one client for each sink."""
        del load  # One subscription takes them all.
        clients = [await nats.connect(f"nats://{HOST}:{port}") for _ in sinks]
        for client, sink in zip(clients, sinks, strict=True):
            await client.subscribe("ward.*", cb=partial(self._take, sink))
            await client.flush()
        await ready()
        for client in clients:
            await client.close()

    async def _take(self, sink: Sink, message: Msg) -> None:
        sink.take(json.loads(message.data))


class MqttUser:
    """aiomqtt beside Mosquitto, QoS 0."""

    name = "aiomqtt"

    async def send(self, port: int, pacer: Pacer) -> None:
        """Publish over one client for each stream."""
        streams = pacer.load.streams
        async with contextlib.AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(aiomqtt.Client(HOST, port)) for _ in range(streams)
            ]
            names = [f"ward/{number}" for number in range(streams)]
            while count := await pacer.room():
                for _ in range(count):
                    turn = pacer.sent % streams
                    await clients[turn].publish(names[turn], encode(pacer.event()))

    async def receive(self, port: int, load: Load, sinks: list[Sink], ready: Ready) -> None:
        """Subscribe one client for each sink."""
        del load
        async with contextlib.AsyncExitStack() as stack:
            tasks = []
            for sink in sinks:
                client = await stack.enter_async_context(aiomqtt.Client(HOST, port))
                await client.subscribe("ward/#")
                tasks.append(asyncio.create_task(self._take(client, sink)))
            await ready()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _take(self, client: aiomqtt.Client, sink: Sink) -> None:
        async for message in client.messages:
            sink.take(json.loads(message.payload))


class ZenohUser:
    """eclipse-zenoh through a Zenoh router."""

    name = "eclipse-zenoh"

    def session(self, port: int) -> zenoh.Session:
        """Open a session that knows the router alone."""
        config = zenoh.Config()
        config.insert_json5("mode", '"client"')
        config.insert_json5("connect/endpoints", json.dumps([f"tcp/{HOST}:{port}"]))
        config.insert_json5("scouting/multicast/enabled", "false")
        return zenoh.open(config)

    async def send(self, port: int, pacer: Pacer) -> None:
        """Publish over one session for each stream."""
        sessions = [self.session(port) for _ in range(pacer.load.streams)]
        # By default it drops what does not fit at once; here, every event is to arrive.
        block = zenoh.CongestionControl.BLOCK
        makers = [
            session.declare_publisher(f"ward/{number}", congestion_control=block)
            for number, session in enumerate(sessions)
        ]
        await asyncio.sleep(0.2)  # The declarations are on their way to the router.
        while count := await pacer.room():
            for _ in range(count):
                makers[pacer.sent % len(makers)].put(encode(pacer.event()))
        for session in sessions:
            session.close()  # type: ignore[no-untyped-call]

    async def receive(self, port: int, load: Load, sinks: list[Sink], ready: Ready) -> None:
        """Subscribe one session for each sink, with a callback: the fastest way that it has."""
        del load
        sessions = [self.session(port) for _ in sinks]
        kept = [
            session.declare_subscriber("ward/*", partial(self._take, sink))
            for session, sink in zip(sessions, sinks, strict=True)
        ]
        await asyncio.sleep(0.2)
        await ready()
        kept.clear()
        for session in sessions:
            session.close()  # type: ignore[no-untyped-call]

    def _take(self, sink: Sink, sample: zenoh.Sample) -> None:
        sink.take(json.loads(sample.payload.to_bytes()))
