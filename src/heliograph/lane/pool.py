"""Pool: how many bytes all lanes of a host hold together, which has a bound of its own."""

from __future__ import annotations


class Pool:
    """A count that lanes share; their owner packs the largest when it grows too large."""

    __slots__ = ("bytes",)

    def __init__(self) -> None:
        """Begin empty."""
        self.bytes = 0
