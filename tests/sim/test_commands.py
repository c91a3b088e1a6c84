from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.event.errors import UsageError
from heliograph.sim.commands import Stage
from heliograph.sim.quality import QUALITIES

BEGIN = [
    "planet lane_entries=32 heartbeat_seconds=1.0",
    "client ward fast",
    "sender ward pulse",
    "client nurse thin latency=5ms config.inbox_entries=20",
    "receiver nurse pulse newest interval=500ms batch=5",
    "start ward nurse",
    "run 1s",
]


def test_commands_build_a_topology() -> None:
    stage = Stage()
    stage.perform(BEGIN)
    topology = stage.topology
    nurse = topology.clients["nurse"]
    assert topology.planet.config.lane_entries == 32
    assert topology.planet.config.heartbeat_seconds == 1.0
    assert (nurse.config.inbox_entries, nurse.config.name) == (20, "nurse")
    assert topology.cable("nurse").quality.down == QUALITIES["thin"].down
    receiver = nurse.application.receivers[0]
    assert (receiver.policy, receiver.interval, receiver.batch) == ("newest", 500_000_000, 5)


def test_what_happened_is_returned_once() -> None:
    stage = Stage()
    assert any("ward" in line for line in stage.perform(BEGIN))
    assert stage.perform([]) == []
    heard = stage.perform(["publish ward pulse 4 burst=4 interval=1ms", "run 1s"])
    assert heard == ["nurse takes of pulse: 1-4"]


def test_every_command_of_what_can_happen_works() -> None:
    stage = Stage()
    stage.perform(BEGIN)
    told = stage.perform(
        """\
        publish ward pulse 400
        cut nurse
        run 1s
        mend nurse
        degrade nurse lossy
        run 1s
        mend nurse
        stall nurse pulse
        run 1s
        unstall nurse pulse
        policy nurse pulse oldest
        detach nurse
        run 1s
        attach nurse
        freeze ward
        run 1s
        thaw ward
        reset nurse
        half-open nurse client
        run 10s
        kill sol
        start sol
        run 10s
        unplug nurse
        run 1s
        start nurse
        run 60s
        lanes
        check
        """.strip().splitlines()
    )
    words = "\n".join(told)
    for part in ("is cut", "mended", "stops taking", "detaches", "stands still", "is killed"):
        assert part in words.replace("has its cable cut", "is cut")
    assert "the lane of pulse to nurse holds 0 of 32" in words
    assert "nurse has every number of pulse up to 400" in words


def test_a_sender_and_a_receiver_may_come_to_a_client_that_runs() -> None:
    stage = Stage()
    stage.perform(BEGIN)
    stage.perform(["sender nurse warmth", "receiver ward warmth", "run 1s"])
    heard = stage.perform(["publish nurse warmth 2", "run 1s"])
    assert heard == ["ward takes of warmth: 1-2"]


def test_an_unknown_command_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"no command 'explode'; there are .*half-open"):
        Stage().perform(["explode sol"])


def test_every_command_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "simulator.md").read_text(encoding="utf-8")
    commands = {name[3:].replace("_", "-") for name in dir(Stage) if name.startswith("do_")}
    table = text[text.index("| command |") :]
    assert {one for one in commands if f"`{one}" not in table} == set()
