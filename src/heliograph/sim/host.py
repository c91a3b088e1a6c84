"""Host: a process that drives one core, exactly as the socket shell does.

After each call to the core it performs the effects, and pulls for the links that have something,
as long as their kernels have room. It may crash, start again with a fresh core, and stand still.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from heliograph.sim.story import MILLISECOND, SECOND
from heliograph.sim.world import SimulationError
from heliograph.wire.core import Close, Core, Log

if TYPE_CHECKING:
    from heliograph.sim.link import End
    from heliograph.sim.network import Network
    from heliograph.sim.world import Timer
    from heliograph.wire.core import Effect

READ_BYTES_MAX: Final = 16_384
# A link that its host wants to close is reset when its peer takes nothing for so long.
LINGER: Final = 5 * SECOND
# Some of what arrives is read a moment later, merged with what came meanwhile, or in pieces.
_READ_DELAY: Final = 2 * MILLISECOND
_MERGED: Final = 0.2
_SPLIT: Final = 0.2
_PIECE_BYTES: Final = 200

CoreT = TypeVar("CoreT", bound=Core)


class Host(Generic[CoreT]):
    """One process and its core; `make` gives a fresh core for each start."""

    def __init__(self, network: Network, name: str) -> None:
        """Set up a host that has not started."""
        self.network = network
        self.world = network.world
        self.name = name
        self.random = self.world.derive()
        self.up = True  # The machine: whether its kernel answers.
        self.frozen = False
        self.starts = 0
        self.core: CoreT | None = None
        self.ends: dict[int, End] = {}
        self._ready: dict[int, None] = {}
        self._closing: dict[int, str] = {}
        # What the kernel knows and a process that stands still does not.
        self._accepted: list[End] = []
        self._refusals: list[str] = []
        self._links_made = 0
        self._timer: Timer | None = None
        network.add(self)

    @property
    def running(self) -> bool:
        """Whether there is a process, be it frozen."""
        return self.core is not None

    def make(self) -> CoreT:
        """Return a fresh core."""
        raise NotImplementedError

    def started(self) -> None:
        """Do what the process does first; called once the core is there."""

    def perform(self, effect: Effect) -> None:
        """Do what the core asks for."""
        if isinstance(effect, Close):
            self._closing[effect.link] = effect.reason
            self._ready[effect.link] = None
            self.world.after(LINGER, partial(self._linger, effect.link, self.starts))
        elif isinstance(effect, Log):
            fields = " ".join(f"{key}={value}" for key, value in effect.fields.items())
            self.world.tell(self.name, f"{effect.event} {fields}".rstrip())
        else:
            raise SimulationError(f"{self.name} cannot perform {effect}")

    # What happens to the process.

    def start(self) -> None:
        """Start the process with a fresh core."""
        if self.core is not None:
            raise SimulationError(f"{self.name} runs already")
        self.up, self.frozen = True, False
        self.starts += 1
        self.core = self.make()
        self.world.tell(self.name, "starts" if self.starts == 1 else "starts again")
        self.started()
        self.settle()

    def crash(self, *, power: bool = False) -> None:
        """Lose all state. The kernel ends the links; without power nobody is told."""
        self.world.tell(self.name, "loses power" if power else "is killed")
        self.core = None
        self.up = not power
        for end in [*self.ends.values(), *self._accepted]:
            end.vanish() if power else end.reset()
        for table in (self.ends, self._ready, self._closing, self._accepted, self._refusals):
            table.clear()
        self._cancel()

    def freeze(self) -> None:
        """Stop the process: it reads nothing, and no timer fires; its kernel goes on."""
        self.world.tell(self.name, "stands still")
        self.frozen = True
        self._cancel()

    def thaw(self) -> None:
        """Let a stopped process go on where it was."""
        self.world.tell(self.name, "goes on")
        self.frozen = False
        accepted, self._accepted = self._accepted, []
        refusals, self._refusals = self._refusals, []
        for end in accepted:
            self.joined(end)
        for why in refusals:
            self.refused(why)
        if self.core is not None:
            self._fire()
        for end in list(self.ends.values()):
            self._read(end)

    # What the network tells.

    def joined(self, end: End) -> None:
        """Take over one end of a link that has come about."""
        if self.frozen:
            self._accepted.append(end)
        elif self.core is not None and end.open:
            self._links_made += 1
            end.number = self._links_made
            self.ends[end.number] = end
            self.world.tell(self.name, f"has link {end.number} to {end.peer.owner.name}")
            self.core.connected(end.number, self.world.now)
            self.settle()

    def refuse(self, why: str, start: int) -> None:
        """Tell the process that tried of a refusal, now or once it goes on."""
        if self.core is None or self.starts != start:
            return
        if self.frozen:
            self._refusals.append(why)
        else:
            self.refused(why)

    def refused(self, why: str) -> None:
        """Hear that a link did not come about."""
        self.world.tell(self.name, f"cannot connect: {why}")

    def readable(self, end: End) -> None:
        """Hear that bytes have arrived, or that a link has ended."""
        if self.random.random() < _MERGED:
            self.world.after(self.random.randrange(_READ_DELAY), partial(self._read, end))
        else:
            self._read(end)

    def writable(self, end: End) -> None:
        """Hear that a kernel may have room again."""
        if not self.frozen and self.core is not None and end.number in self._ready:
            self.settle()

    # How the core is driven.

    def settle(self) -> None:
        """Perform the effects and pull, until the core has nothing more to say."""
        core = self.core
        while core is not None and core is self.core and not self.frozen:
            effects = core.take_effects()
            for effect in effects:
                self.perform(effect)
            self._ready.update(dict.fromkeys(core.take_ready()))
            if not self._pull_all(core) and not effects:
                self._set_timer(core)
                return

    def _pull_all(self, core: CoreT) -> bool:
        """Pull for every link that has something, and say whether anything came."""
        pulled = False
        for link in list(self._ready):
            end = self.ends.get(link)
            if end is None:
                self._ready.pop(link)
                continue
            while (room := end.room()) > 0:
                data = core.pull(link, room, self.world.now)
                if data:
                    self.world.story.note(self.world.now, self.name, f"pulls {link}", data)
                    pulled = True
                    end.write(data)
                if not data or (len(data) < room and link not in self._closing):
                    # That was all for now: the core says when there is more.
                    self._ready.pop(link)
                    break
            if link in self._closing and link not in self._ready:
                end.close()
                self._drop(end, self._closing[link])
                pulled = True
        return pulled

    def _read(self, end: End) -> None:
        """Feed what has arrived to the core, whole or in pieces, then the end of the link."""
        while not self.frozen and end.inbox and self._owns(end):
            whole = self.random.random() >= _SPLIT
            data = end.read(READ_BYTES_MAX if whole else self.random.randrange(1, _PIECE_BYTES))
            self.world.story.note(self.world.now, self.name, f"is fed {end.number}", data)
            if self.core is not None:
                self.core.feed(end.number, data, self.world.now)
                self.settle()
        if end.ended and not self.frozen and self._owns(end):
            end.open = False
            self._drop(end, end.ended)
            self.settle()

    def _owns(self, end: End) -> bool:
        return self.ends.get(end.number) is end

    def _drop(self, end: End, why: str) -> None:
        """Forget a link that is gone, and tell the core."""
        self.ends.pop(end.number)
        self._ready.pop(end.number, None)
        self._closing.pop(end.number, None)
        self.world.tell(self.name, f"has lost link {end.number}: {why}")
        if self.core is not None:
            self.core.disconnected(end.number, self.world.now)

    def _linger(self, link: int, start: int) -> None:
        if start == self.starts and link in self._closing and link in self.ends:
            end = self.ends[link]
            end.reset()
            self._drop(end, self._closing[link])
            self.settle()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def _set_timer(self, core: CoreT) -> None:
        deadline = core.deadline()
        if self._timer is not None and self._timer.when == deadline:
            return
        self._cancel()
        if deadline is not None:
            self._timer = self.world.at(deadline, self._fire)

    def _fire(self) -> None:
        self._timer = None
        if self.core is not None and not self.frozen:
            self.world.story.note(self.world.now, self.name, "ticks")
            self.core.tick(self.world.now)
            self.settle()
