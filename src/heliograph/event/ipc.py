"""Arrow IPC: events and digests as a stream of record batches that any Arrow library reads.

A digest is a batch without rows, with the digest as JSON in its metadata under `heliograph.digest`.
A stream that gains an attribute ends there, and another begins behind it: Arrow's schema is fixed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec
import pyarrow as pa
from pyarrow import ipc

from heliograph.event.arrow import to_table
from heliograph.event.jsonl import digest_object
from heliograph.event.unreadable import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heliograph.event.digest import Digest
    from heliograph.event.event import Event
    from heliograph.event.schema import Schema

DIGEST_KEY: Final = "heliograph.digest"


class IpcWriter:
    """Writes what a receiver gets as an Arrow IPC stream."""

    def __init__(self, file: BinaryIO) -> None:
        """Begin; the schema is that of what is written first."""
        self._file = file
        self._schema: pa.Schema = None
        self._writer: Any = None

    def events(self, events: Iterable[Event], schema: Schema) -> None:
        """Write events as one batch or more."""
        table = to_table(list(rows_of(events, schema)), schema)
        self._open(table.schema)
        self._writer.write_table(table)

    def digest(self, digest: Digest, schema: Schema) -> None:
        """Write a digest as the metadata of a batch without rows."""
        wanted = to_table([], schema).schema
        self._open(wanted)
        nothing = pa.record_batch([pa.array([], field.type) for field in wanted], schema=wanted)
        told = msgspec.json.encode(digest_object(digest))
        self._writer.write_batch(nothing, custom_metadata={DIGEST_KEY: told})

    def _open(self, schema: pa.Schema) -> None:
        if self._writer is None or not schema.equals(self._schema):
            self.close()
            self._schema = schema
            self._writer = ipc.new_stream(self._file, schema)

    def close(self) -> None:
        """Write the end of the stream."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
