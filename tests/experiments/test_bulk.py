"""Bulk TCP, here over loopback; over a thin link it is tested with the namespaces."""

from __future__ import annotations

import socket
import threading

from heliograph.experiments import bulk
from heliograph.experiments.bulk import Goodput


def test_a_transfer_is_counted_to_its_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=bulk.send, args=("127.0.0.1", port, 0.2))
        thread.start()
        found = bulk.receive(listener)
        thread.join()
    assert found.payload > 0
    assert 0.1 < found.seconds < 0.3


def test_goodput_is_in_bits_a_second() -> None:
    assert Goodput(800, 8.0).bits_per_second == 800


def test_nothing_is_no_goodput() -> None:
    assert Goodput(0, 0.0).bits_per_second == 0
