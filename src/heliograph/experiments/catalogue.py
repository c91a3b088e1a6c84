"""Catalogue: the experiments that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heliograph.event.errors import UsageError
from heliograph.experiments import fanout, reattach, thin_fanout, thin_link

if TYPE_CHECKING:
    from heliograph.experiments.findings import Experiment

_ALL: Final[tuple[Experiment, ...]] = (
    fanout.EXPERIMENT,
    thin_link.EXPERIMENT,
    thin_fanout.EXPERIMENT,
    reattach.EXPERIMENT,
)
EXPERIMENTS: Final = {one.name: one for one in _ALL}


def find(name: str) -> Experiment:
    """Return the experiment of that name.

    Raises:
        UsageError: There is none.
    """
    found = EXPERIMENTS.get(name)
    if found is None:
        raise UsageError(f"there is no experiment {name!r}; the names are {', '.join(EXPERIMENTS)}")
    return found
