from __future__ import annotations

from heliograph.event.errors import EventError
from heliograph.wire.messages import Bye
from planet.pair import Rig


def test_the_guilty_go_when_the_call_is_over_and_only_once() -> None:
    rig = Rig()
    stranger = rig.stranger(attached=True)
    (client,) = rig.planet.mobility.clients.values()
    rig.planet.blame.put(client, "messages", "first")
    rig.planet.blame.put(client, "messages", "second")
    assert stranger.open
    rig.run(2)
    assert not stranger.open
    assert stranger.items(Bye) == [Bye("messages", "first", again=True)]
    assert rig.planet.status(rig.now)["refused"] == {"messages": 1}
    assert rig.planet.mobility.clients == {}


def test_a_detached_client_at_fault_has_departed() -> None:
    rig = Rig()
    ada = rig.client("ada")
    rig.advertise(ada, "s")
    rig.lose(ada)
    (client,) = rig.planet.mobility.clients.values()
    rig.planet.blame.put_owner(rig.planet.multicast.streams["s"], EventError("no rows"))
    rig.run(2)
    assert client.number not in rig.planet.mobility.clients
    assert rig.planet.multicast.streams == {}
    assert [one.fields["reason"] for one in rig.logs] == ["s: no rows"]


def test_nobody_is_to_blame_for_a_stream_without_an_owner() -> None:
    rig = Rig()
    ben = rig.client("ben")
    rig.subscribe(ben, "s")
    rig.planet.blame.put_owner(rig.planet.multicast.streams["s"], EventError("no rows"))
    rig.run(2)
    assert ben.attached
