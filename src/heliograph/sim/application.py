"""Application: the program on a simulated client, its senders and its receivers.

A program outlives its process: what it offers and wants is offered and wanted again by the process
that is started after a crash, under a new epoch and with new ledgers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from heliograph.event.block import block_of
from heliograph.event.convert import suited
from heliograph.policy.model import Policy
from heliograph.sim.ledger import Ledger
from heliograph.sim.samples import POLICIES, SCHEMA, values_of
from heliograph.sim.story import MILLISECOND, SECOND
from heliograph.sim.world import SimulationError

if TYPE_CHECKING:
    from heliograph.client.client import Client
    from heliograph.event.block import Block
    from heliograph.event.digest import Digest
    from heliograph.sim.client_host import ClientHost
    from heliograph.sim.truth import Epoch

# Event times are those of the world, from here on: 2026-01-01.
TIME_BEGIN: Final = 1_767_225_600_000_000
# A request that was refused is made again after so long.
_AGAIN: Final = 2 * SECOND


def event_time(now: int) -> int:
    """Return virtual time as event time, in microseconds."""
    return TIME_BEGIN + now // 1_000


@dataclass(slots=True)
class Sender:
    """One stream that a program offers, and how it publishes: `burst` events each `interval`."""

    stream: str
    interval: int = 100 * MILLISECOND
    burst: int = 1
    open: bool = False  # Whether its schema is inferred and grows; else it is declared.
    blocks: bool = False  # Whether a burst is published as one block.
    left: int = 0  # Events that are still to be published; those not offered yet wait here.
    id: int | None = None
    epoch: Epoch | None = None
    accepted: bool = False


@dataclass(slots=True)
class Receiver:
    """One subscription of a program, and how fast it takes: all at once, or some each interval."""

    stream: str
    policy: str = "none"
    interval: int = 0
    batch: int = 1_000_000
    stalled: bool = False
    id: int | None = None
    accepted: bool = False
    waiting: bool = False  # Something arrived that has not been taken.
    due: bool = False  # The next take is in the heap.
    ledger: Ledger | None = None
    past: list[Ledger] = field(default_factory=list)  # Of processes and subscriptions that ended.


class Application:
    """Acts for the program while its process lives; the client host calls it."""

    def __init__(self, host: ClientHost) -> None:
        """Begin with nothing to do."""
        self.host = host
        self.world = host.world
        self.senders: list[Sender] = []
        self.receivers: list[Receiver] = []
        self.told: list[str] = []  # Refusals, in words.

    # The process begins and ends.

    def started(self) -> None:
        """Offer and want everything, in a process that knows nothing yet."""
        for sender in self.senders:
            self.advertise(sender)
        for receiver in self.receivers:
            self.subscribe(receiver)

    def ended(self) -> None:
        """Take note that the process is gone, with all that it alone knew."""
        for sender in self.senders:
            if sender.epoch is not None:
                self._is_over(sender)
            sender.id, sender.epoch, sender.accepted = None, None, False
        for receiver in self.receivers:
            self._end_ledger(receiver)
            receiver.id, receiver.accepted, receiver.waiting = None, False, False

    def _is_over(self, sender: Sender) -> None:
        """Remember how much of an epoch others have, when its sender goes."""
        client, epoch = self.host.core, sender.epoch
        if epoch is None:
            return
        epoch.over = True
        whole = client is not None and sender.id is not None and client.idle(sender.id)
        epoch.owed = epoch.last if whole and sender.accepted else 0

    @staticmethod
    def _end_ledger(receiver: Receiver) -> None:
        if receiver.ledger is not None:
            receiver.past.append(receiver.ledger)
            receiver.ledger = None

    # Senders.

    def advertise(self, sender: Sender) -> None:
        """Offer a stream under a new epoch."""
        client = self.host.core
        if client is None:
            return
        sender.epoch = self.host.truth.begin(sender.stream, event_time(self.world.now))
        epoch = sender.epoch.epoch
        schema = None if sender.open else SCHEMA
        sender.id = client.advertise(sender.stream, schema, self.world.now, epoch)
        ordinal = self.host.truth.ordinal(sender.stream, epoch)
        self._tell(f"advertises {sender.stream}, epoch {ordinal}")
        self.host.settle()

    def withdraw(self, sender: Sender) -> None:
        """Offer a stream no longer."""
        if self.host.core is not None and sender.id is not None:
            self._is_over(sender)
            self.host.core.withdraw(sender.id, self.world.now)
            self._tell(f"withdraws {sender.stream}")
            sender.id, sender.epoch, sender.accepted = None, None, False

    def publish(self, sender: Sender, count: int) -> None:
        """Publish events from now on, in bursts, until so many have been."""
        idle = not sender.left
        sender.left += count
        if idle and count:
            self._burst(sender)

    def _burst(self, sender: Sender) -> None:
        client, epoch = self.host.core, sender.epoch
        if client is not None and epoch is not None and self._may_publish(client, sender):
            count = min(sender.burst, sender.left)
            if sender.blocks:
                self._publish_block(client, epoch, sender, count)
            else:
                for _ in range(count):
                    self._publish_one(client, epoch, sender)
            self.host.settle()
        if sender.left:
            self.world.after(sender.interval, partial(self._burst, sender))

    def _may_publish(self, client: Client, sender: Sender) -> bool:
        """Say whether a process may, and does not stand still; one that is displaced gives up."""
        if self.host.frozen or sender.id is None:
            return False
        one = client.senders[sender.id]
        if one.displaced:
            self._tell(f"may not send {sender.stream} any more: {one.error}")
            sender.left = 0
            self.withdraw(sender)
        return one.error is None

    def _publish_one(self, client: Client, epoch: Epoch, sender: Sender) -> None:
        time = event_time(self.world.now)
        values = values_of(sender.stream, epoch.epoch, epoch.last + 1)
        epoch.times.append(time)
        sender.left -= 1
        number = client.publish(sender.id or 0, values, time, self.world.now)
        if number != epoch.last:
            raise SimulationError(f"{sender.stream} gave {number} to event {epoch.last}")

    def _publish_block(self, client: Client, epoch: Epoch, sender: Sender, count: int) -> None:
        """Publish the next events at once, as a table of them would be."""
        numbers = range(epoch.last + 1, epoch.last + count + 1)
        times = [event_time(self.world.now) + place for place in range(count)]
        rows = [SCHEMA.row(values_of(sender.stream, epoch.epoch, number)) for number in numbers]
        block = block_of(sender.stream, epoch.epoch, numbers, times, rows, SCHEMA)
        epoch.times += times
        sender.left -= count
        client.offer(sender.id or 0, suited(block, SCHEMA), SCHEMA, self.world.now)

    # Receivers.

    def subscribe(self, receiver: Receiver) -> None:
        """Want a stream, with the receiver's policy."""
        client = self.host.core
        if client is None:
            return
        policy = POLICIES[receiver.policy]
        receiver.ledger = Ledger(self.host.name, receiver.stream, self.host.truth)
        receiver.id = client.subscribe(receiver.stream, policy, self.world.now)
        self._tell(f"subscribes to {receiver.stream}, policy {receiver.policy}")
        self.host.settle()

    def unsubscribe(self, receiver: Receiver) -> None:
        """Want a stream no longer, and forget what has not been taken of it."""
        if self.host.core is not None and receiver.id is not None:
            self._tell(f"unsubscribes from {receiver.stream}")
            self.host.core.unsubscribe(receiver.id, self.world.now)
            self._end_ledger(receiver)
            receiver.id, receiver.accepted, receiver.waiting = None, False, False
            self.host.settle()

    def repolicy(self, receiver: Receiver, policy: str) -> None:
        """Change the policy of a live subscription."""
        receiver.policy = policy
        if self.host.core is not None and receiver.id is not None:
            self._tell(f"changes its policy for {receiver.stream} to {policy}")
            chosen = POLICIES[policy] or Policy()
            self.host.core.repolicy(receiver.id, chosen, self.world.now)
            self.host.settle()

    def stall(self, receiver: Receiver) -> None:
        """Take nothing of a receiver from now on."""
        self._tell(f"stops taking {receiver.stream}")
        receiver.stalled = True

    def resume(self, receiver: Receiver) -> None:
        """Take again."""
        self._tell(f"takes {receiver.stream} again")
        receiver.stalled = False
        self.take(receiver)

    def take(self, receiver: Receiver) -> None:
        """Take what is there, or what this receiver's pace allows, and more later."""
        receiver.due = False
        client = self.host.core
        while client is not None and receiver.id is not None and receiver.ledger is not None:
            if receiver.stalled or self.host.frozen:
                return
            entries = client.take(receiver.id, receiver.batch, self.world.now)
            receiver.waiting = bool(entries)
            if not entries:
                return
            if receiver.interval:
                receiver.due = True
                self.world.after(receiver.interval, partial(self.take, receiver))
            self._enter(receiver, receiver.ledger, entries)
            self.host.settle()
            if receiver.interval:
                return

    def _enter(self, receiver: Receiver, ledger: Ledger, entries: list[Block | Digest]) -> None:
        client = self.host.core
        if client is None or receiver.id is None:
            return
        schema = client.schema(receiver.id)
        for entry in entries:
            self.world.story.note(self.world.now, self.host.name, repr(entry))
            ledger.take(entry, schema, event_time(self.world.now))
        if self.host.report is not None:
            self.host.report(receiver, entries)

    # What the client tells.

    def arrived(self, receiver_id: int) -> None:
        """Hear that a receiver has something to take."""
        for receiver in self.receivers:
            if receiver.id == receiver_id:
                receiver.waiting = True
                if not receiver.due:
                    receiver.due = True
                    # Not from within the core's own call.
                    self.world.after(0, partial(self.take, receiver))

    def answered(self, request: int, error: str | None) -> None:
        """Hear what became of a request; what was refused is asked for again later."""
        if error is not None:
            self.told.append(error)
        for sender in self.senders:
            if sender.id == request:
                sender.accepted = error is None
                self._tell(f"may send {sender.stream}" if error is None else f"may not: {error}")
                if error is not None:
                    self.withdraw(sender)
                    self.world.after(_AGAIN, partial(self.advertise_again, sender))
        for receiver in self.receivers:
            if receiver.id == request:
                receiver.accepted = error is None
                if error is not None:
                    self._tell(f"is refused {receiver.stream}: {error}")
                elif receiver.ledger is not None:
                    receiver.ledger.expect()

    def advertise_again(self, sender: Sender) -> None:
        """Offer a stream that is not offered now; a process that stands still does so later."""
        if sender.id is None and self.host.core is not None and not self.host.frozen:
            self.advertise(sender)
        elif sender.id is None and self.host.core is not None:
            self.world.after(_AGAIN, partial(self.advertise_again, sender))

    def _tell(self, what: str) -> None:
        self.world.tell(self.host.name, what)
