"""The same API without a loop: publish, iterate and close from an ordinary program."""

from __future__ import annotations

import threading
import time

import pyarrow as pa
import pytest

from heliograph.event.digest import Digest
from heliograph.event.errors import EventError, LinkError, UsageError
from heliograph.event.event import Event
from heliograph.event.schema import Schema
from heliograph.net.sync import SyncReceiver, connect_sync
from net.running import planet_in_thread


def numbers(receiver: SyncReceiver, upto: int) -> list[int]:
    found: list[int] = []
    for entry in receiver:
        assert isinstance(entry, Event)
        found.append(entry.number)
        if entry.number == upto:
            break
    return found


def test_events_go_from_a_program_to_another() -> None:
    with (
        planet_in_thread() as address,
        connect_sync(address, name="device") as device,
        connect_sync(address, name="viewer") as viewer,
        viewer.subscribe("s", "oldest") as receiver,
    ):
        assert device.attached
        with device.advertise("s") as sender:
            for number in range(1, 5_001):
                assert sender.publish({"a": number}) == number
            assert numbers(receiver, 5_000) == list(range(1, 5_001))
            assert sender.flush(20)
        receiver.repolicy("newest")
        assert receiver.schema.index == {"a": 0}
        assert [one["name"] for one in viewer.status()["clients"]] == ["device", "viewer"]


def test_tables_go_there_and_come_back() -> None:
    with (
        planet_in_thread() as address,
        connect_sync(address) as client,
        client.subscribe("s") as receiver,
        client.advertise("s", Schema.declare({"a": "int64"})) as sender,
    ):
        assert sender.publish_table(pa.table({"a": range(1_000)})) == 1_000
        seen: list[int] = []
        for batch in receiver.batches():
            assert not isinstance(batch, Digest)
            seen += batch["a"].to_pylist()
            if len(seen) == 1_000:
                break
        assert seen == list(range(1_000))
        with pytest.raises(EventError, match="column b"):
            sender.publish_table(pa.table({"b": [1]}))
        with pytest.raises(EventError, match="attribute a"):
            sender.publish({"a": "x"})


def test_taking_waits_no_longer_than_it_is_told() -> None:
    with (
        planet_in_thread() as address,
        connect_sync(address) as client,
        client.subscribe("s") as receiver,
        client.advertise("s") as sender,
    ):
        assert receiver.take(0.01) == []
        sender.publish({"a": 1})
        sender.publish({"a": 2})
        sender.flush()
        first = next(receiver)
        assert isinstance(first, Event)
        rest = receiver.take(20)
        assert [first.number, *[entry.number for entry in rest if isinstance(entry, Event)]] == [
            1, 2,
        ]  # fmt: skip


def test_a_program_that_is_busy_stays_attached() -> None:
    with (
        planet_in_thread() as address,
        connect_sync(address) as client,
        client.advertise("s") as sender,
    ):
        sender.publish({"a": 1})
        time.sleep(0.2)
        assert sender.flush(20)
        assert client.attached


def test_iterating_ends_when_the_receiver_is_closed_by_another_thread() -> None:
    with planet_in_thread() as address, connect_sync(address) as client:
        receiver = client.subscribe("s")
        closer = threading.Timer(0.05, receiver.close)
        closer.start()
        assert list(receiver) == []
        closer.join()
        assert list(receiver.batches()) == []
        assert receiver.take() == []


def test_threads_may_publish_at_once() -> None:
    with (
        planet_in_thread() as address,
        connect_sync(address) as client,
        client.subscribe("s") as receiver,
        client.advertise("s") as sender,
    ):

        def publish() -> None:
            for number in range(1_000):
                sender.publish({"a": number})

        threads = [threading.Thread(target=publish) for _ in range(4)]
        for thread in threads:
            thread.start()
        assert numbers(receiver, 4_000) == list(range(1, 4_001))
        for thread in threads:
            thread.join()


def test_after_the_end_there_is_no_client() -> None:
    with planet_in_thread() as address:
        with connect_sync(address) as client:
            sender = client.advertise("s")
        with pytest.raises(UsageError, match="the client is closed: connect again"):
            client.status()
        with pytest.raises(UsageError, match="closed"):
            sender.publish({"a": 1})


def test_where_no_planet_is_a_link_error_says_so() -> None:
    with pytest.raises(LinkError, match="cannot reach"), connect_sync("127.0.0.1:1", seconds=0.1):
        raise AssertionError
