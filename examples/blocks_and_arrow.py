"""Events to blocks, blocks to an Arrow table, and back: nothing changes on the way."""

from __future__ import annotations

from datetime import UTC, datetime

from heliograph.event import arrow
from heliograph.event.block import decode_block, encode_block
from heliograph.event.convert import blocks_of, events_of
from heliograph.event.event import Event
from heliograph.event.jsonl import line_of
from heliograph.event.schema import Schema


def main() -> None:
    """Take a thousand readings there and back."""
    schema = Schema()
    events = []
    start = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
    for number in range(1, 1_001):
        values = {"celsius": 20 + number % 7 / 2, "door": "open" if number % 5 else None}
        schema, _ = schema.absorb(values)  # An open schema is inferred from what comes.
        time = round(start.timestamp() * 1e6) + number * 500_000
        known = {tag: value for tag, value in values.items() if value is not None}
        events.append(Event("greenhouse", 1, number, time, known))
    print("schema:", {one.tag: one.type.value for one in schema.attributes})

    (rows,) = blocks_of(events, schema)
    columns = arrow.to_columns(rows, schema)
    for name, block in (("rows", rows), ("columns", columns)):
        data = encode_block(block)
        print(f"{name}: {len(data) / block.count:.1f} bytes an event")
        if decode_block(data) != block:
            raise ValueError("a block is its bytes")

    table = arrow.to_table([columns], schema)
    print("table:", table.num_rows, "rows of", ", ".join(table.column_names))
    again = [
        event for block in arrow.from_table(table, schema) for event in events_of(block, schema)
    ]
    print(line_of(again[0]))
    print(f"the same {len(again)} events after going there and back: {again == events}")


if __name__ == "__main__":
    main()
