"""Reattach, simulated: clients that come and go, each at its own times, over a LAN."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from heliograph.experiments.fanout_sim import EVENT_INTERVAL, LAN, LOCAL
from heliograph.experiments.returns import Returns
from heliograph.experiments.rig import PLANET, Rig
from heliograph.experiments.transit import SECOND
from heliograph.planet.config import PlanetConfig
from heliograph.sim.cable import Cable

if TYPE_CHECKING:
    from heliograph.experiments.rig import Caller, Inbox

TURNS: Final = 20


class _Visitor:
    """Detaches and attaches one client again and again."""

    def __init__(self, caller: Caller, wait: int) -> None:
        self.caller = caller
        self.wait = wait
        self.inbox: Inbox = caller.subscribe(None)
        self.attached: list[int] = []  # When each attach was asked for.

    def detach(self) -> None:
        if self.caller.core is not None:
            self.caller.core.detach(self.caller.world.now)
            self.caller.settle()
        self.caller.world.after(self.wait, self.attach)

    def attach(self) -> None:
        now = self.caller.world.now
        if self.caller.core is not None:
            self.attached.append(now)
            self.caller.core.attach(now)
            self.caller.settle()
        if len(self.attached) < TURNS:
            self.caller.world.after(self.wait, self.detach)


def simulate(receivers: int, wait: float, seed: int) -> Returns:
    """Let each of so many clients come and go; `wait` seconds stand before each change."""
    rig = Rig(seed, PlanetConfig(name=PLANET), LOCAL)
    card = Cable(rig.world, "card", LAN)
    callers = [rig.client(f"receiver-{number}", card) for number in range(receivers)]
    rig.world.run(SECOND)
    visitors = [_Visitor(one, int(wait * SECOND)) for one in callers]
    rig.world.run(SECOND)
    rig.publish(EVENT_INTERVAL)
    for one in visitors:
        phase = rig.world.random.randrange(int(wait * SECOND))
        rig.world.after(int(wait * SECOND) + phase, partial(one.detach))
    rig.world.run(int((2 * TURNS + 3) * wait * SECOND))
    rig.publishing = False
    rig.world.run(5 * SECOND)
    found = Returns(seed, len(rig.published))
    for one in visitors:
        found.enter(one.attached, one.inbox.events)
    return found
