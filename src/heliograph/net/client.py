"""Client: the asynchronous API of a client, over its core and the shell that drives it.

It runs in its user's event loop. A user who blocks the loop delays what is sent and received, and
nothing else: the planet waits for several heartbeats before it counts a client as detached, and
then keeps its lanes; the core resumes where it was.
"""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from heliograph.client.client import Client
from heliograph.event.errors import EventError, LinkError, UsageError
from heliograph.net.dialer import Dialer
from heliograph.net.offering import offer
from heliograph.net.policies import read_policy
from heliograph.net.receiver import AsyncReceiver
from heliograph.net.sender import AsyncSender
from heliograph.net.shell import Shell
from heliograph.net.turns import turns_of
from heliograph.net.waiting import Waiting
from heliograph.policy.model import Policy
from heliograph.wire.core import Answered, Arrived, Connect, Log

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from heliograph.client.config import ClientConfig
    from heliograph.event.schema import Schema
    from heliograph.net.addresses import Address
    from heliograph.net.sockets import SocketLimits
    from heliograph.net.tls import TlsFiles
    from heliograph.policy.limits import Limits

# How long closing waits for what was published and is not acknowledged yet.
DRAIN_SECONDS: Final = 5.0
# How long it waits for the planet to confirm that the client departed.
GOODBYE_SECONDS: Final = 1.0
CLOSED: Final = "the client is closed: connect again"
UNWANTED: Final = "the planet wants no link with this client: "


class AsyncClient:
    """A client that is attached to a planet, or on its way there. `connect` makes one."""

    def __init__(
        self,
        addresses: tuple[Address, ...],
        *,
        config: ClientConfig,
        tls: TlsFiles | None = None,
        limits: SocketLimits | None = None,
    ) -> None:
        """Begin detached, in the running event loop."""
        self.core = Client(config, rng=random.SystemRandom(), now=time.monotonic_ns())
        loop = asyncio.get_running_loop()
        self._waiting = Waiting(loop)
        handlers: dict[type, Callable[[Any], None]] = {
            Answered: self._waiting.answered,
            Arrived: self._arrived,
            Connect: self._dial,
            Log: self._log,
        }
        ask = turns_of(loop).ask
        self.shell = Shell(self.core, handlers=handlers, limits=limits, ask=ask)
        self.shell.after_flush = self._look
        self._addresses = addresses
        self._dialer = Dialer(self.shell, tls, self.core.refused)
        self._receivers: dict[int, AsyncReceiver] = {}
        self._senders: dict[int, AsyncSender] = {}
        self._leaving: list[int] = []  # Senders that are closed, and have not sent everything yet.
        self._closed = False

    async def open(self, seconds: float) -> None:
        """Attach to a planet.

        Raises:
            LinkError: None of the addresses answered in time, or the planet said no.
        """
        core = self.core
        core.start(",".join(map(str, self._addresses)), self.shell.clock())
        self.shell.schedule()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._waiting.until(lambda: core.attached or core.ended is not None)
        if core.attached:
            return
        if core.ended is not None:
            raise LinkError(UNWANTED + core.ended)
        raise LinkError(f"cannot reach {self._dialer.reason}")

    async def close(self, seconds: float = DRAIN_SECONDS) -> None:
        """Send what was published, in so many seconds at most; depart, and close the link."""
        if self._closed:
            return
        self._closed = True
        for receiver in self._receivers.values():
            receiver.end()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    if self.core.attached:
                        await self._waiting.until(self._all_idle)
            if not self._all_idle():
                fields = {"seconds": seconds, "next": "flush() before closing, to wait longer"}
                self.shell.journal.write("warning", "closed_with_events_unsent", fields)
            self.core.depart(self.shell.clock())
            self.shell.flush()
            with suppress(TimeoutError):
                async with asyncio.timeout(GOODBYE_SECONDS):
                    await self._waiting.until(lambda: not self.shell.connections)
        finally:
            await self._dialer.stop()
            await self.shell.stop(0.0)
            self._end()

    def _done(self, number: int) -> bool:
        """Whether nothing of a sender is under way, or ever will be."""
        sender = self.core.senders.get(number)
        return sender is None or sender.error is not None or self.core.idle(number)

    def _all_idle(self) -> bool:
        return all(self._done(number) for number in self._senders)

    def _end(self) -> None:
        for sender in self._senders.values():
            sender.end()
        self._waiting.end(UsageError(CLOSED))

    # What people call.

    @property
    def attached(self) -> bool:
        """Whether there is a link to a planet now; without one, events wait here."""
        return self.core.attached

    async def advertise(
        self, stream: str, schema: Schema | None = None, *, epoch: int | None = None
    ) -> AsyncSender:
        """Offer a stream; return what publishes its events.

        A client of this name that had the stream and is gone gives way at once; where the planet
        does not know yet that it is gone, this waits, for three heartbeats and a second more.

        Args:
            stream: Its key, as in "patient/7/pulse".
            schema: What attributes its events have; without one it grows with what is published.
            epoch: A sender that lost its state begins a larger one. None takes the time, and one
                more than the last where the clock was set back.

        Raises:
            EventError: The planet refuses the stream; the message says why.
        """
        self.check()
        for leaving in [one for one in self._leaving if self._senders[one].stream == stream]:
            await self._waiting.until(lambda one=leaving: one not in self._senders)  # type: ignore[misc]
        number = await offer(self, stream, schema, epoch)
        sender = self._senders[number] = AsyncSender(self, number, stream)
        return sender

    def subscribe(
        self,
        stream: str,
        policy: Policy | str | Path | None = None,
        *,
        start: str = "new",
        capacity: Limits | None = None,
    ) -> AsyncReceiver:
        """Subscribe to a stream, which need not exist yet; return what receives it.

        Args:
            stream: Its key.
            policy: What may be dropped when the stream does not fit: a Policy, a file, a document,
                or a built-in name; None drops everything that waits, when it must.
            start: "new": begin with what comes now.
            capacity: What its lanes hold, at the planet and here, where the application is slow;
                None, or more, is the limit that each has anyway.

        Raises:
            PolicyError: The policy is none.
            UsageError: There is no such start.
        """
        self.check()
        if start != "new":
            raise UsageError(f"a subscription starts with what is 'new', not {start!r}")
        found = read_policy(policy)
        entries, size = (capacity.entries, capacity.bytes) if capacity else (0, 0)
        with self.shell.lock:
            now = self.shell.clock()
            number = self.core.subscribe(stream, found, now, entries=entries or 0, size=size or 0)
        receiver = self._receivers[number] = AsyncReceiver(self, number, stream)
        return receiver

    async def status(self) -> dict[str, Any]:
        """Return how the planet is: its streams, clients, lanes, what was dropped and why."""
        self.check()
        with self.shell.lock:
            request = self.core.ask_status(self.shell.clock())
        await self.expect(request)
        told: dict[str, Any] = self.core.answer(request)
        return told

    # What senders and receivers call.

    def expect(self, request: int) -> asyncio.Future[None]:
        """Return what is done when a request has its answer."""
        self.shell.schedule()
        return self._waiting.expect(request)

    def trouble(self, number: int) -> str | None:
        """Return why a receiver gets nothing more, where that is so."""
        receiver = self.core.receivers.get(number)
        return None if receiver is None else receiver.error

    async def repolicy(self, number: int, policy: Policy | None) -> None:
        """Change a receiver's policy."""
        self.check()
        with self.shell.lock:
            request = self.core.repolicy(number, policy or Policy(), self.shell.clock())
        await self.expect(request)

    async def idle(self, number: int) -> None:
        """Wait until everything of a sender has been acknowledged.

        Raises:
            EventError: The planet has refused its stream, after a new start perhaps.
        """
        self.check()
        sender = self.core.senders.get(number)
        if sender is None:
            return  # It is closed, and was not withdrawn before everything was acknowledged.
        self.shell.schedule()
        await self._waiting.until(lambda: self._done(number))
        if sender.error is not None:
            raise EventError(f"{sender.stream}: {sender.error}")

    def forget(self, number: int) -> None:
        """End a subscription."""
        if self._receivers.pop(number, None) is not None and not self._closed:
            self._waiting.give_up(number, UsageError("the receiver is closed: subscribe again"))
            with self.shell.lock:
                self.core.unsubscribe(number, self.shell.clock())
            self.shell.schedule()

    def withdraw(self, number: int) -> None:
        """Offer a stream no longer, once everything that was published is acknowledged."""
        if number in self._senders:
            self._leaving.append(number)
            self.shell.schedule()

    # What the core says.

    def _dial(self, effect: Connect) -> None:
        self._dialer.dial(effect)

    def _log(self, effect: Log) -> None:
        if effect.event == "planet_said_bye":
            self._dialer.reason = f"a planet that says: {effect.fields['reason']}"
        self.shell.journal.write(effect.level, effect.event, effect.fields)

    def _arrived(self, effect: Arrived) -> None:
        receiver = self._receivers.get(effect.receiver)
        if receiver is not None:
            receiver.wake()

    def _look(self) -> None:
        for number in [one for one in self._leaving if self._done(one)]:
            self._leaving.remove(number)
            del self._senders[number]
            with self.shell.lock:
                self.core.withdraw(number, self.shell.clock())
            self.shell.schedule()
        if self.core.ended is not None:
            for sender in self._senders.values():
                sender.end(UNWANTED + self.core.ended)
        self._waiting.look()

    def check(self) -> None:
        """Refuse to go on where the client is closed, or the planet let it go for good."""
        if self._closed:
            raise UsageError(CLOSED)
        if self.core.ended is not None:
            raise LinkError(UNWANTED + self.core.ended)
