"""Options that several verbs share, so that they mean the same everywhere."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from heliograph.event.errors import HeliographError, PolicyError

if TYPE_CHECKING:
    from collections.abc import Iterator

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
TIME = click.option(
    "--time", "time_tag", metavar="TAG", help="The attribute that holds the time of an event."
)
STREAM = click.option(
    "--stream",
    metavar="KEY",
    help="Which stream, of a trace of several; a trace that names none is given this name.",
)


@contextmanager
def located(policy: str) -> Iterator[None]:
    """Put the file in front of the line of a mistake: a verb reads a trace beside the policy."""
    try:
        yield
    except PolicyError as error:
        if error.line is None:
            raise
        raise HeliographError(f"{policy}, {error}") from None
