from __future__ import annotations

from cli.planets import a_planet, feeding, pulses, receiving, until
from cli.running import heliograph


def receiving_of(address: str) -> int:
    """Return what the planet says, which is up to a second old."""
    count: int = heliograph("status", "--planet", address, "--json").json["events"]["received"]
    return count


def test_an_empty_planet_says_what_to_do_next() -> None:
    with a_planet() as address:
        ran = heliograph("status", "--planet", address)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0].startswith(f"planet at {address}, up ")
    assert "0 clients" in ran.out
    assert "heliograph pub" in ran.out


def test_streams_and_lanes_are_shown_and_who_looks_is_not() -> None:
    with (
        a_planet() as address,
        receiving(address, "ward-3"),
        feeding(address, "ward-3", pulses(20)),
    ):
        until(lambda: receiving_of(address) == 20)
        ran = heliograph("status", "--planet", address)
        found = heliograph("status", "--planet", address, "--json").json
    assert "ward-3  yes" in ran.out
    assert "receiving" in ran.out
    assert {one["name"] for one in found["clients"]} == {"receiving", "feed"}
    assert found["events"]["received"] == 20
