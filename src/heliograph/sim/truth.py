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


class Truth:
    """The epochs of each stream, in their order."""

    def __init__(self) -> None:
        """Begin with no streams."""
        self.streams: dict[str, list[Epoch]] = {}
        self.losses = 0  # Crashes and lost sessions; before the first, nothing is in a gap.

    def begin(self, stream: str) -> Epoch:
        """Begin the next epoch of a stream; the one before is over."""
        epochs = self.streams.setdefault(stream, [])
        if epochs:
            epochs[-1].over = True
        epochs.append(Epoch(len(epochs) + 1))
        return epochs[-1]

    def epoch(self, stream: str, epoch: int) -> Epoch | None:
        """Return one epoch of a stream, or None where there never was such."""
        epochs = self.streams.get(stream, [])
        return epochs[epoch - 1] if 0 < epoch <= len(epochs) else None

    def newest(self, stream: str) -> Epoch | None:
        """Return the newest epoch of a stream, or None where nobody ever offered it."""
        epochs = self.streams.get(stream)
        return epochs[-1] if epochs else None

    def lose_planet(self) -> None:
        """Take note that a planet crashed: of epochs that are over, nobody may have the tail."""
        self.losses += 1
        for epochs in self.streams.values():
            for epoch in epochs:
                if epoch.over:
                    epoch.owed = 0
