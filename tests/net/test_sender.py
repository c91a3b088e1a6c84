"""Publishing never waits, numbers what it takes, and refuses nothing silently."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from heliograph.event.errors import EventError, LinkError, UsageError
from heliograph.event.schema import Schema
from net.running import planet_and_clients, receive, run
from net.toys import until


def test_events_have_rising_numbers_and_the_time_they_are_given() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            receiver = await viewer.subscribe("patient/7/pulse")
            sender = await device.advertise("patient/7/pulse")
            when = datetime(2026, 1, 31, 12, tzinfo=UTC)
            assert sender.publish({"PulseRate": 72}, time=5) == 1
            assert sender.publish({"PulseRate": 73}, time=when) == 2
            assert sender.publish({"PulseRate": 74}) == 3
            events, digests = await receive(receiver, 3)
            assert digests == []
            assert [event.values for event in events] == [
                {"PulseRate": 72}, {"PulseRate": 73}, {"PulseRate": 74},
            ]  # fmt: skip
            assert events[0].time == 5
            assert events[1].moment == when
            assert events[2].time > events[1].time

    run(main())


def test_flush_waits_until_everything_is_acknowledged() -> None:
    async def main() -> None:
        async with planet_and_clients(1) as (server, (device,)):
            sender = await device.advertise("s")
            for number in range(5_000):
                sender.publish({"a": number})
            await sender.flush()
            assert device.core.idle(1)
            (stream,) = server.planet.status(server.shell.clock())["streams"]
            assert stream["number"] == 5_000

    run(main())


def test_what_was_published_before_closing_is_sent() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            for number in range(100):
                sender.publish({"a": number})
            sender.close()
            sender.close()
            events, _ = await receive(receiver, 100)
            assert len(events) == 100
            await sender.flush()
            with pytest.raises(UsageError, match="the sender of s is closed: advertise"):
                sender.publish({"a": 1})
            with pytest.raises(UsageError, match="the sender of s is closed: advertise"):
                sender.publish_table(pa.table({"a": [1]}))

    run(main())


def test_a_stream_is_free_again_after_its_sender() -> None:
    async def main() -> None:
        async with planet_and_clients() as (server, (one, other)):
            async with await one.advertise("s") as sender:
                sender.publish({"a": 1})
                with pytest.raises(EventError, match="the stream s is offered by another client"):
                    await other.advertise("s")
            await until(lambda: not server.planet.status(0)["streams"])
            async with await other.advertise("s") as sender:
                sender.publish({"a": 2})

    run(main())


def test_a_value_that_does_not_fit_a_declared_schema_is_refused_at_once() -> None:
    async def main() -> None:
        async with planet_and_clients(1) as (_, (device,)):
            sender = await device.advertise("s", Schema.declare({"a": "int64"}))
            with pytest.raises(EventError, match="attribute a: expected int64"):
                sender.publish({"a": "high"})
            with pytest.raises(EventError, match="column b"):
                sender.publish_table(pa.table({"b": [1]}))
            assert sender.publish({"a": 1}) == 1

    run(main())


def test_tables_and_events_take_turns_in_one_stream() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            sender.publish({"a": 0})
            table = pa.table({"a": range(1, 9_000), "_time": range(1, 9_000), "b": ["x"] * 8_999})
            assert sender.publish_table(table) == 9_000
            assert sender.publish({"a": 9_000, "b": "y"}) == 9_001
            events, digests = await receive(receiver, 9_001)
            assert digests == []
            assert [event.values["a"] for event in events] == list(range(9_001))
            assert [event.time for event in events[1:-1]] == list(range(1, 9_000))
            assert events[-1].values["b"] == "y"

    run(main())


def test_a_loop_that_never_pauses_still_sends() -> None:
    async def main() -> None:
        async with planet_and_clients(1) as (_, (device,)):
            sender = await device.advertise("s")
            for _ in range(2_000):
                sender.publish({"a": 1})
            assert device.core.session.sent_bytes > 1_000
            await sender.flush()

    run(main())


def test_events_of_one_turn_go_out_together() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            sender.publish({"a": 0})
            await receive(receiver, 1)
            for number in range(50):
                sender.publish({"a": number})
            await asyncio.sleep(0)
            entries = await receiver.take()
            assert len(entries) == 50

    run(main())


@pytest.mark.parametrize("declared", [True, False])
def test_an_event_that_no_frame_holds_is_refused_and_costs_nothing_else(
    declared: bool,  # noqa: FBT001 - a case
) -> None:
    async def main() -> None:
        async with planet_and_clients(frame_bytes=8_192) as (_, (device, viewer)):
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            begin = int(declared)
            if declared:
                sender.publish({"a": "x"})
            with pytest.raises(EventError, match=r"has 9\d\d\d bytes; .* frames of 8192"):
                sender.publish({"a": "x" * 9_000})
            with pytest.raises(EventError, match="cut the event up"):
                sender.publish_table(pa.table({"a": ["x", "y" * 9_000]}))
            assert sender.publish({"a": "y" * 8_000}) == begin + 1
            events, digests = await receive(receiver, begin + 1)
            assert (len(events), digests) == (begin + 1, [])

    run(main())


@pytest.mark.parametrize("table", [True, False])
def test_blocks_are_cut_to_what_the_planet_takes(table: bool) -> None:  # noqa: FBT001 - a case
    texts = ["x" * 7_000] * 3 + ["y"] * 2_000 + ["z" * 7_000] * 3

    async def main() -> None:
        async with planet_and_clients(frame_bytes=8_192) as (_, (device, viewer)):
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            if table:
                sender.publish_table(pa.table({"a": texts}))
            else:
                for text in texts:
                    sender.publish({"a": text})
            events, digests = await receive(receiver, len(texts))
            assert [event.values["a"] for event in events] == texts
            assert digests == []

    run(main())


def test_a_client_that_the_planet_let_go_says_so_at_once() -> None:
    async def main() -> None:
        async with planet_and_clients(1) as (_, (device,)):
            sender = await device.advertise("s")
            receiver = await device.subscribe("s")
            device.core.session._greetings.append(b"\xff" * 8)  # noqa: SLF001 - no frame at all
            asking = asyncio.create_task(device.status())
            device.core.mark()
            device.shell.schedule()
            with pytest.raises(EventError, match="one has 4 to"):
                await asking
            await until(lambda: device.core.ended is not None)
            unwanted = "the planet wants no link with this client: a frame of"
            for call in (sender.flush, device.status, lambda: device.advertise("t")):
                with pytest.raises(LinkError, match=unwanted):
                    await call()
            with pytest.raises(UsageError, match=f"sender of s is closed: {unwanted}"):
                sender.publish({"a": 1})
            with pytest.raises(EventError, match="one has 4 to"):
                await anext(receiver)

    run(main())
