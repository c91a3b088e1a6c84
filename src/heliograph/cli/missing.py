"""Missing: the attributes that a policy names and a trace does not have, most often a slip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from heliograph.event.schema import Schema
    from heliograph.policy.model import Policy


def attributes_missing(policy: Policy, schema: Schema) -> list[str]:
    """Return the attributes that a policy waits for, once all of a trace has been read."""
    from heliograph.policy.binding import bind

    return list(bind(policy, schema).waits_for())


def show_missing(trace: str, missing: list[str], schema: Schema) -> None:
    """Tell of them, beside the result: an open schema may well gain them later."""
    if missing:
        has = ", ".join(schema.index) or "none"
        click.echo(f"note: {trace} has no attribute {', '.join(missing)}; it has {has}", err=True)
