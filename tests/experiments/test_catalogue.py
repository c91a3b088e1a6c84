from __future__ import annotations

import pytest

from heliograph.event.errors import UsageError
from heliograph.experiments.catalogue import EXPERIMENTS, find


def test_an_experiment_is_found_by_its_name() -> None:
    assert all(find(name).name == name for name in EXPERIMENTS)


def test_every_experiment_says_which_figure_it_reproduces() -> None:
    assert all("Fig. " in one.figure for one in EXPERIMENTS.values())


def test_an_unknown_name_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="thin-link"):
        find("thick-link")
