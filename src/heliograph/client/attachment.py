"""Attachment: how a client comes to a planet, stays there, and comes back (PACK 3).

It keeps the session across connections, and begins a new one where the planet has forgotten it.
What is said in the session is the business of the client's senders and receivers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heliograph.client.home import Home
from heliograph.event.errors import EventError, WireError
from heliograph.wire.core import Close, Effect, Log
from heliograph.wire.messages import ANEW, FEATURES, VERSION, Attach, Attached, Bye, Detach, spoken
from heliograph.wire.session import Session

if TYPE_CHECKING:
    from random import Random

    from heliograph.client.config import ClientConfig

_SECOND: Final = 1_000_000_000


class Attachment:
    """The part of a client that keeps it attached; `Client` says what happens there."""

    def __init__(self, config: ClientConfig, rng: Random) -> None:
        """Begin detached."""
        self.config = config
        self.session = Session(config.window_bytes, config.frame_bytes)
        self.attached = False
        self.ended: str | None = None  # Why there is no coming back.
        self.gaps = 0  # How often a session was lost.
        self.frame_bytes = config.frame_bytes  # The longest that the planet takes, if less.
        self.effects: list[Effect] = []
        self._home = Home(config, rng)
        self._token: bytes | None = None
        self._anew = False  # Whether the planet is to forget the session of that token.
        self._told = 0  # Of the frames received, when this connection began.
        self._beat = 2 * _SECOND
        self._ready: list[int] = []
        self._marked = False

    # What its client does.

    def renew(self, lost: list[bytes]) -> None:
        """Ask a planet anew for everything; `lost` are the frames that none has acknowledged."""
        raise NotImplementedError

    def arrived(self, item: Any, now: int) -> None:
        """Take one item of what a planet sends."""
        raise NotImplementedError

    def end(self, reason: str) -> None:
        """Tell everyone that there is no coming back."""
        raise NotImplementedError

    def gather(self, now: int) -> None:
        """Make ready what was published, just before the link takes it."""
        raise NotImplementedError

    def next_frame(self, size: int) -> bytes | None:
        """Return the next frame of data of at most so many bytes, or of one event."""
        raise NotImplementedError

    def leave(self, now: int) -> None:
        """Depart once everything that was published has been sent."""
        raise NotImplementedError

    # Coming and going.

    @property
    def wanted(self) -> bool:
        """Whether it is to be attached."""
        return self._home.wanted

    def start(self, address: str, now: int) -> None:
        """Attach to a planet at the first of some addresses, separated by commas, that answers."""
        del now
        self._home.move(address)
        self._home.found()
        self._home.wanted = True
        self._connect()

    def detach(self, now: int) -> None:
        """Let the planet keep what comes until this client attaches again."""
        self._home.wanted = False
        if self.attached:
            self.say(Detach())
        elif self.session.link is not None:
            self._hang_up(now, "detached")

    def attach(self, now: int) -> None:
        """Come back."""
        del now
        self._home.wanted = True
        if not self.attached and self.session.link is None:
            self._home.found()
            self._connect()

    def depart(self, now: int) -> None:
        """Go for good; what was published is sent first where the planet is there to take it."""
        self._home.wanted = False
        if self.attached:
            self.leave(now)
        elif self.session.link is not None:
            self._hang_up(now, "departed")

    # The surface of a core.

    def connected(self, link: int, now: int) -> None:
        """Greet the planet over a new connection."""
        self._home.connecting = False
        if not self.wanted:
            self.effects.append(Close(link, "not wanted any more"))
            return
        self.session.connect(link, now)
        self._told = self.session.reader.frames
        frames = ANEW if self._anew else self._told
        name = self.config.name
        self.session.greet(Attach(VERSION, list(FEATURES), self._token, frames, name))
        self._marked = False
        self.mark()

    def refused(self, now: int) -> None:
        """Take note that a connection could not be made."""
        self._home.connecting = False
        self._home.again(now)

    def disconnected(self, link: int, now: int) -> None:
        """Come back by a new connection, if that is wanted."""
        if self.session.link != link:
            return
        self.session.disconnect()
        self.attached = False
        self._home.again(now)

    def feed(self, link: int, data: bytes, now: int) -> None:
        """Take what came in."""
        session = self.session
        if session.link != link:
            return
        try:
            for item in session.feed(data, now):
                if session.link != link:
                    break  # The planet said goodbye; what follows in the chunk is for nobody.
                if self.attached and not isinstance(item, Bye):
                    self.arrived(item, now)
                elif isinstance(item, Attached):
                    self._attached(item, now)
                elif isinstance(item, Bye):
                    self._bye(item, now)
                else:
                    self._stranger()
        except (WireError, EventError) as error:
            self.effects.append(Log("error", "planet_refused", {"reason": str(error)}))
            self._begin_anew(now, str(error))
        except Exception:
            self._begin_anew(now, "the client made a mistake")
            raise
        if session.cursor_urgent:
            self.mark()

    def pull(self, link: int, max_bytes: int, now: int) -> bytes:
        """Return what is to be written now."""
        if self.session.link != link:
            return b""
        self._marked = False
        self.gather(now)
        return self.session.pull(max_bytes, now, self.next_frame)

    def tick(self, now: int) -> None:
        """Send what is due, notice silence, and try again to attach."""
        session = self.session
        if self._home.retry_at is not None and now >= self._home.retry_at:
            self._connect()
        if session.link is None:
            return
        if session.cursor_at is not None and now >= session.cursor_at:
            self.mark()
        patience = 3 * self._beat if self.attached else int(self.config.attach_seconds * _SECOND)
        if now - session.heard >= patience:
            self._hang_up(now, "the planet fell silent")
        elif self.attached and now - session.spoke >= self._beat:
            session.beat()
            self.mark()

    def deadline(self) -> int | None:
        """Return when `tick` wants to be called next."""
        due = self._home.retry_at
        session = self.session
        if session.link is not None:
            if self.attached:
                watch = session.heard + 3 * self._beat
            else:
                watch = session.heard + int(self.config.attach_seconds * _SECOND)
            due = watch if due is None else min(due, watch)
            if self.attached and not self._marked:
                # What is marked goes out when the link has room: asking again would be in vain.
                due = min(due, session.spoke + self._beat)
                if session.cursor_at is not None:
                    due = min(due, session.cursor_at)
        return due

    def take_effects(self) -> list[Effect]:
        """Return what the shell is to do."""
        effects = list(self.effects)
        self.effects.clear()
        return effects

    def take_ready(self) -> list[int]:
        """Return the link, if it has something to pull."""
        ready, self._ready = self._ready, []
        return ready

    # What its parts ask for.

    @property
    def standing(self) -> bool:
        """Whether there is a session, if perhaps no connection."""
        return self._token is not None and not self._anew

    def say(self, message: Any) -> None:
        """Send a message, now or when the session stands again; a new one is asked anew."""
        if self.standing:
            self.session.say(message)
            self.mark()

    def mark(self) -> None:
        """Let the shell pull."""
        link = self.session.link
        if link is not None and not self._marked:
            self._marked = True
            self._ready.append(link)

    @staticmethod
    def _stranger() -> None:
        raise WireError("the planet says something before it has greeted")

    def _attached(self, message: Attached, now: int) -> None:
        if message.version != spoken(message.version):
            raise WireError(f"the planet answers in version {message.version}, which is not known")
        self.attached, self._anew = True, False
        self._home.found()
        self.frame_bytes = min(self.config.frame_bytes, message.frame_bytes_max)
        self._beat = max(1, message.heartbeat_ms) * 1_000_000
        known, self._token = self._token, message.token
        if message.resumed:
            self.session.resume(message.frames)
        else:
            lost = self.session.lost(self._told)
            self.session.resume(0)
            if known is not None:
                self.gaps += 1
                self.effects.append(Log("warning", "session_lost", {"planet": message.planet}))
            self.renew(lost)
        self.mark()
        del now

    def _bye(self, message: Bye, now: int) -> None:
        if self.wanted:
            fields = {"code": message.code, "reason": message.reason}
            self.effects.append(Log("warning", "planet_said_bye", fields))
        if not message.again:
            self._home.wanted = False
            self.ended = message.reason
            self._token = None
            self.end(message.reason)
        self._hang_up(now, message.reason)

    def _hang_up(self, now: int, reason: str) -> None:
        link = self.session.link
        if link is not None:
            self.effects.append(Close(link, reason))
            self.session.disconnect()
            self.attached = False
        self._home.again(now)

    def _begin_anew(self, now: int, reason: str) -> None:
        """Trust the books of this session no more: a new one tells the gap."""
        self._anew = True
        self._hang_up(now, reason)

    def _connect(self) -> None:
        if self.session.link is None:
            effect = self._home.connect()
            if effect is not None:
                self.effects.append(effect)
