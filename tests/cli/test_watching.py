from __future__ import annotations

from cli.planets import a_planet, feeding, pulses, until
from heliograph.cli.watching import Watch, watching
from heliograph.net.sync import connect_sync
from heliograph.policy.limits import Limits


def sees(watch: Watch) -> bool:
    watch.look()
    return watch.offered


def test_a_receiver_sees_its_lanes_and_nobody_elses() -> None:
    with a_planet() as address, connect_sync(address, name="me") as client:
        receiver = client.subscribe("s", capacity=Limits(entries=32))
        watch = Watch(client, receiver, "me")
        watch.look()
        assert (watch.looks, watch.offered, watch.lanes) == (1, False, [])
        with connect_sync(address, name="other") as other, feeding(address, "s", pulses(3)):
            other.subscribe("s")
            until(lambda: bool(receiver.take(0.1)))
            until(lambda: sees(watch))  # What it sees is up to a second old.
        # The lane at the planet, and that in this client: a capacity holds at both ends.
        assert [one["capacity_entries"] for one in watch.lanes] == [32, 32]


def test_it_looks_once_more_at_the_end() -> None:
    with a_planet() as address, connect_sync(address, name="me") as client:
        watch = Watch(client, client.subscribe("s"), "me")
        with watching(watch):
            pass
        watch.last(0)
        assert watch.looks == 1
        assert watch.words() == "nothing was packed: the lane was empty (looked at once)"


def test_a_planet_that_is_gone_is_not_waited_for_long() -> None:
    with a_planet() as address, connect_sync(address, name="me") as client:
        receiver = client.subscribe("s")
        watch = Watch(client, receiver, "me")
    watch.look()
    assert watch.looks == 0
