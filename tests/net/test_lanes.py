from __future__ import annotations

import json

from heliograph.event.event import Position
from heliograph.event.schema import Schema
from heliograph.lane.lane import Lane
from heliograph.net.lanes import lane_status
from heliograph.policy.limits import Limits
from heliograph.policy.model import Policy


def test_no_lane_says_nothing() -> None:
    assert lane_status(None) == {}


def test_a_lane_says_how_full_it_is() -> None:
    lane = Lane(Policy(), Schema(), Limits(entries=64), begin=Position(1, 0))
    said = lane_status(lane)
    assert (said["entries"], said["capacity_entries"], said["fill"]) == (0, 64, 0.0)
    assert (said["packs"], said["levels"], said["dropped"]) == (0, {}, {})
    assert json.loads(json.dumps(said)) == said
