"""A receiver gets events and digests in order, singly or as tables, under the policy it has."""

from __future__ import annotations

import asyncio

import msgspec
import pyarrow as pa
import pytest

from heliograph.client.config import ClientConfig
from heliograph.event.block import ROWS, Block
from heliograph.event.digest import Digest
from heliograph.event.errors import EventError, PolicyError, UsageError
from heliograph.event.event import Position
from heliograph.event.rows import assemble
from heliograph.event.schema import Schema
from heliograph.net.connect import connect
from heliograph.policy import build
from net.running import planet_and_clients, receive, run
from net.toys import until


def test_a_subscription_may_come_before_its_stream() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            receiver = viewer.subscribe("later")
            async with asyncio.TaskGroup() as group:
                task = group.create_task(receive(receiver, 2))
                sender = await device.advertise("later")
                sender.publish({"a": 1})
                sender.publish({"a": 2})
            events, _ = task.result()
            assert [event.values["a"] for event in events] == [1, 2]

    run(main())


def test_two_receivers_of_one_client_each_get_everything() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            one, other = await viewer.subscribe("s"), await viewer.subscribe("s", "newest")
            sender = await device.advertise("s")
            for number in range(300):
                sender.publish({"a": number})
            for receiver in (one, other):
                events, _ = await receive(receiver, 300)
                assert len(events) == 300

    run(main())


def test_an_application_that_is_slow_gets_digests_for_what_its_own_lane_dropped() -> None:
    async def main() -> None:
        async with planet_and_clients(1) as (server, (device,)):
            config = ClientConfig(name="slow", inbox_entries=64)
            async with connect(server.address, config=config) as viewer:
                policy = build.policy("a", build.every(2), build.every(8))
                receiver = await viewer.subscribe("s", policy)
                sender = await device.advertise("s")
                for number in range(2_000):
                    sender.publish({"a": number})
                await sender.flush()
                events, digests = await receive(receiver, 2_000)
                assert len(events) < 2_000
                assert digests

    run(main())


def test_batches_are_tables_with_digests_between_them() -> None:
    async def main() -> None:
        async with planet_and_clients(1) as (server, (device,)):
            config = ClientConfig(inbox_entries=64)
            async with connect(server.address, config=config) as viewer:
                receiver = await viewer.subscribe("s", build.policy("a", build.every(4)))
                sender = await device.advertise("s")
                for number in range(500):
                    sender.publish({"a": number})
                await sender.flush()
                rows = settled = 0
                async for batch in receiver.batches():
                    if isinstance(batch, Digest):
                        settled += batch.settled
                    else:
                        assert isinstance(batch, pa.Table)
                        assert batch.column_names == [
                            "_stream", "_epoch", "_number", "_time", "a",
                        ]  # fmt: skip
                        rows += batch.num_rows
                    if rows + settled == 500:
                        break
                assert rows
                assert settled

    run(main())


def test_who_iterated_first_may_go_on_with_tables() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            for number in range(100):
                sender.publish({"a": number})
            first = await anext(receiver)
            assert first.values == {"a": 0}  # type: ignore[union-attr]
            seen = [0]
            async for table in receiver.batches():
                seen += table["a"].to_pylist()
                if len(seen) == 100:
                    break
            assert seen == list(range(100))
            assert receiver.schema.index == {"a": 0}

    run(main())


def test_breaking_off_and_iterating_again_loses_nothing() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            for number in range(50):
                sender.publish({"a": number})
            await receive(receiver, 20)
            events, _ = await receive(receiver, 50)
            assert [event.number for event in events] == list(range(21, 51))

    run(main())


def test_a_wait_that_is_broken_off_disturbs_no_other_and_loses_nothing() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            receiver = await viewer.subscribe("s")
            sender = await device.advertise("s")
            given_up, waiting = [asyncio.create_task(anext(receiver)) for _ in range(2)]
            await asyncio.sleep(0)
            given_up.cancel()
            with pytest.raises(asyncio.CancelledError):
                await given_up
            for number in range(3):
                sender.publish({"a": number})
            found = [await waiting, await anext(receiver), await anext(receiver)]
            assert [one.values for one in found] == [{"a": 0}, {"a": 1}, {"a": 2}]  # type: ignore[union-attr]

    run(main())


def test_a_policy_changes_on_a_live_subscription() -> None:
    async def main() -> None:
        async with planet_and_clients() as (server, (device, viewer)):
            receiver = await viewer.subscribe("s", "oldest")
            sender = await device.advertise("s")
            sender.publish({"a": 1})
            await receive(receiver, 1)
            await receiver.repolicy("newest")
            sender.publish({"a": 2})
            events, _ = await receive(receiver, 2)
            assert [event.number for event in events] == [2]
            (lane,) = server.planet.status(server.shell.clock())["lanes"]
            assert lane["policy"] == build_identity("newest")
            with pytest.raises(PolicyError):
                await receiver.repolicy("no-such")

    run(main())


def build_identity(name: str) -> str:
    from heliograph.policy.builtin import resolve  # noqa: PLC0415 - for this test alone

    return resolve(name).identity[:8]


def test_a_policy_that_does_not_suit_the_stream_ends_the_subscription_with_the_reason() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            sender = await device.advertise("s", Schema.declare({"name": "string"}))
            sender.publish({"name": "ann"})
            await sender.flush()
            receiver = viewer.subscribe("s", build.policy("name", build.within(1, 2)))
            with pytest.raises(EventError, match=r"s: .*WITHIN"):
                await anext(receiver)

    run(main())


def test_a_receiver_that_is_closed_ends_and_the_planet_forgets_it() -> None:
    async def main() -> None:
        async with planet_and_clients() as (server, (device, viewer)):
            await device.advertise("s")
            async with viewer.subscribe("s") as receiver:
                waiting = asyncio.create_task(anext(receiver, None))
                await asyncio.sleep(0)
            assert await waiting is None
            assert [entry async for entry in receiver] == []
            assert [batch async for batch in receiver.batches()] == []
            receiver.close()
            with pytest.raises(UsageError, match="the receiver of s is closed"):
                await receiver.repolicy("newest")
            await until(lambda: not server.planet.status(server.shell.clock())["lanes"])

    run(main())


def test_a_receiver_that_waits_ends_with_its_client() -> None:
    async def main() -> None:
        async with planet_and_clients(0) as (server, _):
            async with connect(server.address) as viewer:
                receiver = await viewer.subscribe("s")
                waiting = asyncio.create_task(anext(receiver, None))
                await asyncio.sleep(0)
            assert await waiting is None

    run(main())


def test_an_event_that_its_sender_broke_comes_as_an_opaque_one_and_the_others_as_they_are() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            receiver = await viewer.subscribe("s")
            tables = await viewer.subscribe("s")
            schema = Schema.declare({"a": "int64"})
            sender = await device.advertise("s", schema)
            sender.publish({"a": 1})
            bad = msgspec.msgpack.encode([0, "two"])
            ((number, core),) = device.core.senders.items()
            block = Block("s", core.epoch, 2, 1, 1, 1, 0, ROWS, b"", assemble([bad]))
            device.core.offer(number, block, schema, device.shell.clock())
            sender.publish({"a": 3})
            events, _ = await receive(receiver, 3)
            assert [one.values for one in events] == [{"a": 1}, {"_opaque": bad}, {"a": 3}]
            found = []
            async for table in tables.batches():
                found += table["a"].to_pylist()
                if len(found) == 3:
                    break
            assert found == [1, None, 3]

    run(main())


def test_a_receiver_knows_behind_which_position_it_gets_every_number() -> None:
    async def main() -> None:
        async with planet_and_clients() as (_, (device, viewer)):
            early = await viewer.subscribe("s")
            assert early.begin is None
            sender = await device.advertise("s", epoch=7)
            for number in range(3):
                sender.publish({"a": number})
            await sender.flush()
            await receive(early, 3)
            assert early.begin == Position(7, 0)
            late = await viewer.subscribe("s")
            await until(lambda: late.begin is not None)
            assert late.begin == Position(7, 3)
            assert late.status()["missing"] == 0

    run(main())
