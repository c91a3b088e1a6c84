"""Demands: what the receivers of a stream would give up first, told to the client that sends it.

So a sender that is detached drops what every receiver would have dropped (PACK 4: a subscription is
propagated as far as the sender's client). Receivers that come and go must not cost the sender its
link: a demand is told at once, and then at most once in a period.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heliograph.wire import forms
from heliograph.wire.messages import Demand

if TYPE_CHECKING:
    from heliograph.planet.planet import Planet
    from heliograph.planet.state import Stream
    from heliograph.policy.model import Policy

# More distinct policies than that cannot have much that all of them would drop.
DEMAND_MAX: Final = 16
# Nor does a sender need longer ones.
DEMAND_BYTES_MAX: Final = 32_768
# While so much waits for a sender's client, demands wait too.
BACKLOG_BYTES: Final = 65_536


class Demands:
    """What has still to be told to senders."""

    def __init__(self, planet: Planet) -> None:
        """Begin with nothing to tell."""
        self.planet = planet
        self._changed: dict[str, Stream] = {}

    def changed(self, stream: Stream, now: int) -> None:
        """Take note that a stream has other receivers, or another owner."""
        if stream.owner is None:
            return
        if stream.demanded is None or now - stream.demanded >= self.planet.period:
            self._tell(stream, now)
        else:
            self._changed[stream.key] = stream

    def watch(self, now: int) -> None:
        """Tell what has changed since."""
        changed, self._changed = self._changed, {}
        for stream in changed.values():
            if stream.owner is not None:
                self._tell(stream, now)

    def _tell(self, stream: Stream, now: int) -> None:
        owner = stream.owner
        if owner is None:
            return
        if owner.link is None or owner.session.control_bytes > BACKLOG_BYTES:
            self._changed[stream.key] = stream
            return
        stream.demanded = now
        policies: dict[str, Policy] = {}
        for one in stream.receivers.values():
            policies.setdefault(one.policy.identity, one.policy)
        documents: list[bytes] = []
        if len(policies) <= DEMAND_MAX:
            documents = [forms.policy_bytes(policy) for policy in policies.values()]
        if sum(map(len, documents)) > DEMAND_BYTES_MAX:
            documents = []
        receivers = len(stream.receivers)
        self.planet.say(owner, Demand(stream.alias, receivers, documents), ("demand", stream.alias))
