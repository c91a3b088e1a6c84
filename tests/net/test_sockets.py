"""A link's socket holds little, and a system that cannot be told so still has links."""

from __future__ import annotations

import socket

import pytest

from heliograph.event.errors import UsageError
from heliograph.net.sockets import SocketLimits, listening, tune

LIMITS = SocketLimits(send_bytes=32_768, receive_bytes=16_384, unsent_bytes=8_192)


def test_a_socket_is_tuned() -> None:
    with socket.socket() as sock:
        tune(sock, LIMITS)
        # Linux doubles both for its own bookkeeping; other systems do not.
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) in (32_768, 65_536)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) in (16_384, 32_768)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT) == 8_192


def test_a_socket_that_is_not_tcp_is_left_alone() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        before = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        tune(one, LIMITS)
        assert one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == before


@pytest.mark.parametrize("name", ["send_bytes", "receive_bytes", "unsent_bytes", "chunk_bytes_min"])
def test_a_limit_that_nothing_fits_in_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is at least 1024, not 10"):
        SocketLimits(**{name: 10})


def test_limits_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(UsageError, match="lower the one or raise the other"):
        SocketLimits(chunk_bytes_min=4_096, chunk_bytes_max=2_048)


def test_a_listening_socket_takes_any_port_and_does_not_block() -> None:
    with listening("127.0.0.1", 0, LIMITS, 16) as sock:
        assert sock.getsockname()[1] > 0
        with pytest.raises(BlockingIOError):
            sock.accept()


def test_a_place_that_is_taken_is_refused_with_what_to_do() -> None:
    with listening("127.0.0.1", 0, LIMITS, 16) as sock:
        port = sock.getsockname()[1]
        with pytest.raises(UsageError, match=f"cannot listen on 127.0.0.1:{port}: .*another port"):
            listening("127.0.0.1", port, LIMITS, 16)


def test_a_host_that_is_not_ours_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot listen on not a host:1"):
        listening("not a host", 1, LIMITS, 16)
