"""Mobility: clients that attach, fall silent, come back and depart (PACK 3).

A client is a session, known by a random token; connections come and go. While none stands, its
lanes fill and are packed, and nothing is drained (PACK 4). Whoever holds the token may resume, even
while the old connection still seems alive: its silence may be longer than the client's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heliograph.event.errors import WireError
from heliograph.planet.state import ClientState
from heliograph.wire.messages import (
    ANEW,
    FEATURES,
    Attach,
    Attached,
    Depart,
    Detach,
    spoken,
)

if TYPE_CHECKING:
    from heliograph.planet.planet import Planet

TOKEN_BYTES = 16


class Mobility:
    """The clients of a planet."""

    def __init__(self, planet: Planet) -> None:
        """Begin without a client."""
        self.planet = planet
        self.clients: dict[int, ClientState] = {}
        self._tokens: dict[bytes, ClientState] = {}
        # Detached clients that nothing is kept for, the longest gone first.
        self._idle: dict[int, ClientState] = {}
        self._numbers = 0
        self.handles: dict[type, Any] = {Detach: self.detach, Depart: self.depart}

    def attach(self, link: int, message: Attach, now: int) -> ClientState:
        """Greet a client, or know it again.

        Raises:
            WireError: They have no version in common, or it has received what was never sent.
        """
        version = spoken(message.version)
        client = self._tokens.get(message.token) if message.token else None
        if client is not None and message.frames == ANEW:
            self.depart(client, None, now)
            client = None
        resumed = client is not None
        if client is None:
            client = self._new(message.name)
        elif client.link is not None:
            self.planet.hang_up(client.link, "the client attached again")
        session = client.session
        received = session.reader.frames
        session.connect(link, now)
        client.ready = False  # What was marked was the old connection.
        try:
            session.resume(message.frames if resumed else 0)
        except WireError:
            self.gone(client, now)
            raise
        client.detached_at = None
        self._idle.pop(client.number, None)
        config = self.planet.config
        client.features = [one for one in FEATURES if one in message.features]
        session.greet(
            Attached(
                version,
                client.features,
                client.token,
                resumed,
                received,
                int(config.heartbeat_seconds * 1_000),
                config.frame_bytes,
                config.name,
            )
        )
        self.planet.mark(client)
        return client

    def room_for(self, message: Attach, now: int) -> bool:
        """Say whether a client is known, or one more may be; who left nothing here makes room."""
        if message.token in self._tokens:
            return True
        if len(self.clients) >= self.planet.config.clients_max and self._idle:
            self.depart(next(iter(self._idle.values())), None, now)
        return len(self.clients) < self.planet.config.clients_max

    def _new(self, name: str) -> ClientState:
        config = self.planet.config
        self._numbers += 1
        token = self.planet.rng.randbytes(TOKEN_BYTES)
        client = ClientState(self._numbers, token, name[:128], config, self.planet.multicast.frames)
        self.clients[client.number] = client
        self._tokens[token] = client
        return client

    def detach(self, client: ClientState, message: Detach, now: int) -> None:
        """Let a client go that means to come back."""
        del message, now
        if client.link is not None:
            self.planet.hang_up(client.link, "the client detached")

    def depart(self, client: ClientState, message: Depart | None, now: int) -> None:
        """Let a client go for good: what it offers and wants ends with it."""
        del message
        for one in list(client.receivers.values()):
            self.planet.subscriptions.remove(one, now)
        for stream in list(client.senders.values()):
            self.planet.advertisements.release(stream, now)
        self.clients.pop(client.number, None)
        self._idle.pop(client.number, None)
        self._tokens.pop(client.token, None)
        if client.link is not None:
            self.planet.dismiss(client.link, "departed", "the client departed")

    def attached(self, client: ClientState) -> bool:
        """Say whether a client may still be heard: it has a connection that is not being closed."""
        one = None if client.link is None else self.planet.links.get(client.link)
        return one is not None and not one.closing

    def gone(self, client: ClientState, now: int) -> None:
        """Keep what a client that lost its connection may come back for."""
        client.session.disconnect()
        client.detached_at = now
        client.ready = False
        kept = client.senders or client.receivers or client.displaced
        if not kept and client.number in self.clients:
            self._idle[client.number] = client

    def watch(self, now: int) -> None:
        """Look for clients that are silent, or gone for too long, and show signs of life."""
        config = self.planet.config
        for client in list(self.clients.values()):
            session = client.session
            if client.link is None:
                since = client.detached_at if client.detached_at is not None else now
                if now - since >= config.nanoseconds("session"):
                    self.planet.log("info", "session_ended", client=client.name)
                    self.depart(client, None, now)
            elif now - session.heard >= config.silence:
                self.planet.hang_up(client.link, "the client fell silent")
            elif now - session.spoke >= config.beat:
                session.beat()
                self.planet.mark(client)
