"""Forms: schemas, policies and items of data as the bytes that messages and frames carry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from heliograph.event.block import ROWS, Block, check_block
from heliograph.event.digest import Digest, decode_digest
from heliograph.event.errors import EventError, PolicyError, WireError
from heliograph.event.rows import BROKEN, assemble
from heliograph.event.schema import Attribute, Schema
from heliograph.event.types import WIDER, Type
from heliograph.lane.entry import Entry, Marker
from heliograph.policy.document import loads
from heliograph.policy.model import Policy
from heliograph.wire.frames import block_frame, digest_frame

if TYPE_CHECKING:
    from heliograph.wire.reader import BlockFrame, DigestFrame, Run

# What the head of a block has room for; a schema cannot grow as often.
VERSION_MAX: Final = 65_535
_SCHEMA: Final = msgspec.msgpack.Decoder(tuple[bool, int, list[tuple[str, str, int, int]]])


def schema_bytes(schema: Schema) -> bytes:
    """Return a schema as a message carries it."""
    rows = [(one.tag, one.type.value, one.since, one.widened) for one in schema.attributes]
    return msgspec.msgpack.encode((schema.declared, schema.version, rows))


def read_schema(data: bytes) -> Schema:
    """Read a schema from bytes that come from outside.

    Raises:
        EventError: They are none.
    """
    try:
        declared, version, rows = _SCHEMA.decode(data)
        attributes = tuple(Attribute(tag, Type(kind), *rest) for tag, kind, *rest in rows)
    except (*BROKEN, ValueError) as error:
        raise EventError(f"bytes that are no schema: {error}") from None
    for one in attributes:
        widened = one.since < one.widened <= version and one.type in WIDER.values()
        if not 0 < one.since <= version or (one.widened and not widened):
            raise EventError(f"a schema whose versions of {one.tag} contradict each other")
    if not 0 < version <= VERSION_MAX:
        raise EventError(f"a schema of the version {version}")
    return Schema(attributes, declared, version)


def check_growth(old: Schema, new: Schema) -> None:
    """Refuse a schema that cannot read what an older one of the same epoch reads.

    Raises:
        EventError: It is no later version of it.
    """
    if new.version < old.version or new.at(old.version) != old:
        raise EventError(
            f"the schema version {new.version} is none that {old.version} can grow to: a schema "
            "may only add attributes and widen int64 to float64"
        )


def policy_bytes(policy: Policy | None) -> bytes:
    """Return a policy as a message carries it; none is the worst case alone."""
    return b"" if policy is None else msgspec.json.encode(policy.document())


def read_policy(data: bytes) -> Policy:
    """Read a policy from bytes that come from outside.

    Raises:
        PolicyError: They are none.
    """
    try:
        return loads(data.decode()) if data else Policy()
    except UnicodeDecodeError:
        raise PolicyError("a policy document is UTF-8 text") from None


def run_block(run: Run, stream: str, epoch: int, version: int, base: int) -> Block:
    """Return a run of events as a block; nothing in its rows has been looked at."""
    count = len(run.rows)
    return Block(
        stream, epoch, run.first, count, count, version, base, ROWS, b"", assemble(run.rows)
    )


def framed_block(frame: BlockFrame, stream: str, epoch: int) -> Block:
    """Return the block of a frame, checked.

    Raises:
        WireError: Its header contradicts itself or its body.
    """
    block = Block(
        stream, epoch, frame.first, frame.span, frame.count, frame.version, frame.time,
        frame.form, frame.presence, frame.body,
    )  # fmt: skip
    try:
        check_block(block)
    except EventError as error:
        raise WireError(str(error)) from None
    return block


def framed_digest(frame: DigestFrame, stream: str, epoch: int) -> Digest:
    """Return the digest of a frame, checked.

    Raises:
        WireError: It contradicts itself.
    """
    try:
        # Its stream stands in the alias, not in the digest; the check wants one.
        found = decode_digest(_named(frame.body, stream, epoch))
    except EventError as error:
        raise WireError(str(error)) from None
    return found


def _named(body: bytes, stream: str, epoch: int) -> bytes:
    try:
        fields: list[Any] = msgspec.msgpack.decode(body, type=list)
    except BROKEN as error:
        raise WireError(f"bytes that are no digest: {error}") from None
    return msgspec.msgpack.encode([stream, epoch, *fields[2:]])


def entry_frame(entry: Entry, alias: int, base: int) -> bytes:
    """Return the frame of an entry, made once for all links."""
    if not entry.frame:
        item = entry.item
        if isinstance(item, Block):
            entry.frame = block_frame(item, alias, base)
        elif isinstance(item, Marker):
            raise TypeError("markers stay in lanes")
        else:
            entry.frame = digest_frame(item, alias)
    return entry.frame
