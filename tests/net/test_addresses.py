"""Addresses are read as people write them, and wrong ones are told how to be right."""

from __future__ import annotations

import pytest

from heliograph.event.errors import UsageError
from heliograph.net.addresses import ADDRESSES_MAX, PORT, Address, read_addresses, read_place


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("helio://127.0.0.1:7440", Address("127.0.0.1", 7440)),
        ("helio://planet.example", Address("planet.example", PORT)),
        ("helios://planet.example:443/", Address("planet.example", 443, tls=True)),
        ("planet.example:1", Address("planet.example", 1)),
        ("helio://[::1]:9", Address("::1", 9)),
    ],
)
def test_an_address_is_read(text: str, address: Address) -> None:
    assert read_addresses(text) == (address,)


@pytest.mark.parametrize(
    "address", [Address("h", 1), Address("h", 1, tls=True), Address("::1", 7440)]
)
def test_an_address_is_written_as_it_is_read(address: Address) -> None:
    assert read_addresses(str(address)) == (address,)


def test_several_addresses_keep_their_order() -> None:
    assert [one.host for one in read_addresses("helio://a, helios://b ,c")] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "text",
    ["", "helio://", "http://a", "helio://a:port", "helio://a:99999", "helio://a/b", "helio://u@a"],
)
def test_what_is_no_address_is_refused_with_a_right_one(text: str) -> None:
    with pytest.raises(UsageError, match=r"write helio://127\.0\.0\.1:7440"):
        read_addresses(text)


def test_too_many_addresses_are_refused() -> None:
    with pytest.raises(UsageError, match="at most 64 addresses"):
        read_addresses(",".join(["a"] * (ADDRESSES_MAX + 1)))


@pytest.mark.parametrize(
    ("text", "place"),
    [("127.0.0.1:7440", ("127.0.0.1", 7440)), (":0", ("", 0)), ("[::1]:5", ("::1", 5))],
)
def test_a_place_to_listen_is_read(text: str, place: tuple[str, int]) -> None:
    assert read_place(text) == place


@pytest.mark.parametrize("text", ["", "7440", "a:", "a:b", "a:70000"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no place to listen"):
        read_place(text)
