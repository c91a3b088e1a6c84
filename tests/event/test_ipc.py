from __future__ import annotations

import io
import json

from pyarrow import ipc

from heliograph.event.digest import Digest
from heliograph.event.event import Event
from heliograph.event.ipc import DIGEST_KEY, IpcWriter
from heliograph.event.schema import Schema

SCHEMA = Schema.declare({"v": "int64"})


def events(*numbers: int) -> list[Event]:
    return [Event("s", 1, number, number * 1_000, {"v": number}) for number in numbers]


def test_any_arrow_library_reads_the_events() -> None:
    file = io.BytesIO()
    writer = IpcWriter(file)
    writer.events(events(1, 2), SCHEMA)
    writer.events(events(4), SCHEMA)
    writer.close()
    table = ipc.open_stream(file.getvalue()).read_all()
    assert table.column_names == ["_stream", "_epoch", "_number", "_time", "v"]
    assert table["v"].to_pylist() == [1, 2, 4]


def test_a_digest_is_a_batch_without_rows_that_tells_it() -> None:
    file = io.BytesIO()
    writer = IpcWriter(file)
    writer.digest(Digest("s", 1, 0, 3, 3), SCHEMA)
    writer.events(events(4), SCHEMA)
    writer.close()
    reader = ipc.open_stream(file.getvalue())
    (batch, metadata), (after, nothing) = reader.iter_batches_with_custom_metadata()
    assert (batch.num_rows, after.num_rows, nothing) == (0, 1, None)
    told = json.loads(metadata[DIGEST_KEY])
    assert (told["after"], told["upto"], told["count"]) == (0, 3, 3)


def test_a_stream_that_gains_an_attribute_begins_anew() -> None:
    file = io.BytesIO()
    writer = IpcWriter(file)
    writer.events(events(1), SCHEMA)
    writer.events(events(2), Schema.declare({"v": "int64", "w": "string"}))
    writer.close()
    file.seek(0)
    assert ipc.open_stream(file).read_all().num_columns == 5
    assert ipc.open_stream(file).read_all().num_columns == 6


def test_nothing_written_is_nothing() -> None:
    file = io.BytesIO()
    IpcWriter(file).close()
    assert file.getvalue() == b""


def test_an_event_that_could_not_be_read_is_a_row_without_values() -> None:
    schema = Schema.declare({"a": "int64"})
    file = io.BytesIO()
    writer = IpcWriter(file)
    writer.events([Event("s", 1, 1, 0, {"a": 1}), Event("s", 1, 2, 0, {"_opaque": b"x"})], schema)
    writer.close()
    table = ipc.open_stream(file.getvalue()).read_all()
    assert table["a"].to_pylist() == [1, None]
