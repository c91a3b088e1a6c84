"""Frames: the units of a connection, and how each is written.

Every frame begins with one little-endian word: its length in the low 24 bits, the word included,
and its kind in the high 8. A stream is named by its alias, a number that a planet gives to a
stream's epoch and that is the same on all of the planet's links: so a frame is made once and sent
to everyone. An event costs its row and 16 bytes, less where several share a block.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

import msgspec

from heliograph.event.block import ROWS
from heliograph.event.digest import Digest, encode_digest

if TYPE_CHECKING:
    from heliograph.event.block import Block

# 16 MiB less one: what the length of a frame can say.
LENGTH_MAX: Final = (1 << 24) - 1
WORD: Final = Struct("<I")

CONTROL: Final = 1  # A message; see `messages`.
EVENT: Final = 2  # A block of one event, whose time is an offset from the base of its alias.
BLOCK: Final = 3
DIGEST: Final = 4
TO: Final = 5  # Whom the next frames of a stream are for.
CURSOR: Final = 6  # How far the other side has received; grants credit.
HEARTBEAT: Final = 7
WANT: Final = 9  # All credit is used up: a cursor, please, without waiting for more to tell.
GREETING: Final = 8  # A message of which resuming knows nothing: attach, attached, bye.

# Word, alias, number.
EVENT_HEAD: Final = Struct("<IIQ")
# Word, alias, first, span, count, version, form, bytes of presence, time.
BLOCK_HEAD: Final = Struct("<IIQIIHBHq")
ALIAS_HEAD: Final = Struct("<II")
TO_FRAME: Final = Struct("<IIQ")
CURSOR_FRAME: Final = Struct("<IQQ")
HEARTBEAT_FRAME: Final = WORD.pack(HEARTBEAT << 24 | 4)
WANT_FRAME: Final = WORD.pack(WANT << 24 | 4)
# Of one row in a block: the width of a length, and the length, as `rows.assemble` writes them.
_LONE_ROW_BYTES: Final = {1: 2, 2: 3, 4: 5}


def word(kind: int, length: int) -> int:
    """Return the first word of a frame."""
    return kind << 24 | length


def block_frame(block: Block, alias: int, base: int) -> bytes:
    """Return a block as a frame; one event that counts its time from `base` as the shortest."""
    if block.count == 1 and block.form == ROWS and block.time == base:
        row = block.body[_LONE_ROW_BYTES[block.body[0]] :]
        head = EVENT_HEAD.pack(word(EVENT, EVENT_HEAD.size + len(row)), alias, block.first)
        return head + row
    length = BLOCK_HEAD.size + len(block.presence) + len(block.body)
    head = BLOCK_HEAD.pack(
        word(BLOCK, length), alias, block.first, block.span, block.count, block.version,
        block.form, len(block.presence), block.time,
    )  # fmt: skip
    return b"".join((head, block.presence, block.body))


def digest_frame(digest: Digest, alias: int) -> bytes:
    """Return a digest as a frame; its alias says of which stream and epoch it is."""
    body = encode_digest(msgspec.structs.replace(digest, stream="", epoch=0))
    return ALIAS_HEAD.pack(word(DIGEST, ALIAS_HEAD.size + len(body)), alias) + body


def to_frame(alias: int, mask: int) -> bytes:
    """Return the frame that addresses what follows of a stream to some of its lanes."""
    return TO_FRAME.pack(word(TO, TO_FRAME.size), alias, mask)


def cursor_frame(frames: int, size: int) -> bytes:
    """Return the frame that tells how many frames, and bytes of data, have been received."""
    return CURSOR_FRAME.pack(word(CURSOR, CURSOR_FRAME.size), frames, size)


def message_frame(kind: int, body: bytes) -> bytes:
    """Return an encoded message as a frame."""
    return WORD.pack(word(kind, WORD.size + len(body))) + body
