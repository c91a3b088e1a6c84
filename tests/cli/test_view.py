from __future__ import annotations

from typing import Any

from heliograph.cli.view import bar, slowest, view


def client(number: int, name: str = "", **more: Any) -> dict[str, Any]:
    plain = {"attached": True, "silent_seconds": 0.5, "window": 4_096, "under_way": 100}
    return {"client": number, "name": name, **plain, **more}


def lane(number: int, **more: Any) -> dict[str, Any]:
    plain = {
        "stream": "s", "client": number, "name": f"c{number}", "receivers": 1, "policy": "abcd",
        "fill": 0.0, "entries": 0, "capacity_entries": 64, "level": 1, "top": 5, "packs": 0,
        "delivered": 7, "dropped": {},
    }  # fmt: skip
    return plain | more


def stream(key: str, events: int = 0) -> dict[str, Any]:
    plain = {"offered": True, "receivers": 1, "lanes": 1, "gaps": 0}
    return {"stream": key, "events": events, **plain}


def status(**more: Any) -> dict[str, Any]:
    plain = {
        "name": "sol", "uptime_seconds": 90.0, "closing": False, "connections": 1,
        "clients": [client(1, "c1")], "streams": [stream("s", 100)], "lanes": [lane(1)],
        "buffer": {"bytes": 2_048, "capacity": 2**20},
        "events": {"received": 100, "delivered": 90, "dropped": {"policy": 8}, "filtered": 2},
        "packs": 1, "refused": {},
    }  # fmt: skip
    return plain | more


def test_the_head_tells_what_became_of_the_events() -> None:
    one, other, *_ = view(status(), where=" at helio://here")
    assert one == (
        "planet sol at helio://here, up 1.5 min; 1 client; lanes hold 2.0 KiB of 1.0 MiB"
    )
    assert other == ("events: 100 received, 90 delivered, 8 (levels 8) dropped, 2 filtered, 1 pack")


def test_a_second_look_tells_rates() -> None:
    before = status(uptime_seconds=80.0, streams=[stream("s", 50)])
    before["events"] = before["events"] | {"received": 50, "delivered": 50}
    lines = view(status(), before)
    assert "100 received (5/s), 90 delivered (4/s)" in lines[1]
    assert lines[5].split() == ["s", "yes", "100", "5", "1", "1", "0"]


def test_lanes_stand_with_the_fullest_first() -> None:
    lanes = [lane(1), lane(2, fill=0.5, entries=32, packs=3, level=6, dropped={"worst": 4})]
    text = "\n".join(view(status(lanes=lanes)))
    assert text.index("c2") < text.index("c1")
    (row,) = [line for line in text.splitlines() if "[#####.....]" in line]
    assert "beyond" in row
    assert "4 (beyond the levels 4)" in row


def test_what_does_not_fit_is_counted() -> None:
    many = status(streams=[stream(str(key)) for key in range(30)], lanes=[lane(1)] * 9)
    lines = view(many, rows=5)
    assert "and 25 more streams" in lines
    assert "and 4 more lanes" in lines


def test_refused_peers_and_the_end_are_told() -> None:
    lines = view(status(refused={"protocol": 3}, closing=True))
    assert lines[0].endswith("; closing")
    assert "peers refused: protocol 3" in lines


def test_a_planet_without_streams_says_what_to_do() -> None:
    assert view(status(streams=[], lanes=[]))[-1].startswith("no streams yet: heliograph pub")


def test_the_slowest_receivers_are_those_whose_lanes_hold_most() -> None:
    clients = [client(1), client(2), client(3, attached=False), client(4)]
    lanes = [lane(1), lane(2, fill=0.9, entries=50), lane(3, fill=0.2)]
    found = slowest(status(clients=clients, lanes=lanes))
    assert [one["client"] for one in found] == [2, 3]
    assert any("slowest receivers" in line for line in view(status(clients=clients, lanes=lanes)))


def test_a_bar_shows_the_least() -> None:
    assert (bar(0), bar(0.001), bar(1)) == ("[..........]", "[#.........]", "[##########]")


def test_long_names_are_cut() -> None:
    assert "x" * 29 + "..." in "\n".join(view(status(streams=[stream("x" * 99)], lanes=[])))
