"""Truth: what every sender really published, which no host of a run can see."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Epoch:
    """What one sender published under one epoch of its stream."""

    epoch: int
    times: list[int] = field(default_factory=list)  # Of the events, from number 1 on.
    over: bool = False  # The sender is gone, with whatever it alone held.
    owed: int = 0  # Once it is over: up to here someone else had every event.

    @property
    def last(self) -> int:
        """The last number that was published."""
        return len(self.times)

    @property
    def due(self) -> int:
        """Up to where every receiver is owed the numbers."""
        return self.owed if self.over else self.last


class Truth:
    """The epochs of each stream, in their order."""

    def __init__(self) -> None:
        """Begin with no streams."""
        self.streams: dict[str, dict[int, Epoch]] = {}
        self.losses = 0  # Crashes and lost sessions; before the first, nothing is in a gap.

    def begin(self, stream: str, epoch: int) -> Epoch:
        """Begin an epoch of a stream, a larger one than before; the one before is over."""
        epochs = self.streams.setdefault(stream, {})
        last = self.newest(stream)
        if last is not None:
            last.over = True
            epoch = max(epoch, last.epoch + 1)
        epochs[epoch] = Epoch(epoch)
        return epochs[epoch]

    def epochs(self, stream: str) -> list[Epoch]:
        """Return the epochs of a stream."""
        return list(self.streams.get(stream, {}).values())

    def epoch(self, stream: str, epoch: int) -> Epoch | None:
        """Return one epoch of a stream, or None where there never was such."""
        return self.streams.get(stream, {}).get(epoch)

    def ordinal(self, stream: str, epoch: int) -> int:
        """Return which epoch of a stream it is, counted from 1 as people do."""
        return list(self.streams[stream]).index(epoch) + 1

    def newest(self, stream: str) -> Epoch | None:
        """Return the newest epoch of a stream, or None where nobody ever offered it."""
        epochs = self.epochs(stream)
        return epochs[-1] if epochs else None

    def lose_planet(self) -> None:
        """Take note that a planet crashed: of epochs that are over, nobody may have the tail."""
        self.losses += 1
        for epochs in self.streams.values():
            for epoch in epochs.values():
                if epoch.over:
                    epoch.owed = 0
