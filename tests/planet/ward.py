"""Ward: a planet whose sender and receiver mind their own business, and a stranger who does not."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from heliograph.event.block import ROWS, Block
from heliograph.event.rows import assemble
from heliograph.event.schema import Schema
from heliograph.wire.forms import schema_bytes
from heliograph.wire.frames import EVENT, EVENT_HEAD, word
from heliograph.wire.messages import Advertise, Advertised, Bye
from planet.pair import Rig

PULSE: Final = Schema.declare({"n": "int64"})


class Ward:
    """A planet with a sender and a receiver that mind their own business, and a stranger."""

    def __init__(self, *, attached: bool = True, **settings: Any) -> None:
        self.rig = Rig(**settings)
        self.ada, self.ben = self.rig.client("ada"), self.rig.client("ben")
        self.sender = self.rig.advertise(self.ada, "good")
        self.receiver = self.rig.subscribe(self.ben, "good")
        self.eve = self.rig.stranger(attached=attached)

    def well(self) -> bool:
        """Say whether the others go on as if nothing had happened."""
        before = len(self.rig.take(self.ben, self.receiver).events)
        self.rig.publish(self.ada, self.sender, 20)
        book = self.rig.take(self.ben, self.receiver)
        assert len(book.events) == before + 20
        assert book.whole(before + 20)
        assert self.ada.attached
        assert self.ben.attached
        return self.ada.gaps == self.ben.gaps == 0

    def refused(self, kind: str) -> bool:
        """Say whether the stranger is closed, was told why, and is counted and logged once."""
        self.rig.run(1)
        assert not self.eve.open
        assert self.eve.items(Bye)[-1].code == kind
        assert self.rig.planet.status(self.rig.now)["refused"] == {kind: 1}
        assert [one.fields["kind"] for one in self.rig.logs if one.event == "peer_refused"] == [
            kind
        ]
        assert "stranger" not in [one.name for one in self.rig.planet.mobility.clients.values()]
        return self.well()

    def offer(self, schema: Schema = PULSE, stream: str = "bad") -> int:
        """Let the stranger offer a stream, and return its alias."""
        self.eve.say(Advertise(1, stream, 1, 0, 1, schema_bytes(schema)))
        self.rig.settle()
        return int(self.eve.items(Advertised)[0].alias)


def row(number: int, value: object = 7) -> bytes:
    return msgspec.msgpack.encode([number, value])


def event(alias: int, number: int, body: bytes) -> bytes:
    return EVENT_HEAD.pack(word(EVENT, EVENT_HEAD.size + len(body)), alias, number) + body


def block(first: int, bodies: list[bytes], **changes: Any) -> Block:
    whole = Block(
        "", 1, first, len(bodies), len(bodies), 1, 0, ROWS, b"", assemble(bodies)
    )  # fmt: skip
    return msgspec.structs.replace(whole, **changes)
