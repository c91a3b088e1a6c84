"""Missing: the attributes that a policy names and a trace does not have, most often a slip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from heliograph.event.schema import Schema
    from heliograph.policy.explain import Explanation
    from heliograph.policy.model import Policy


def attributes_missing(policy: Policy, schema: Schema) -> list[str]:
    """Return the attributes that a policy waits for, once all of a trace has been read."""
    from heliograph.policy.binding import bind

    return list(bind(policy, schema).waits_for())


def note_waiting(found: Explanation, missing: list[str]) -> None:
    """Say of a filter which attribute it waits for, where that is why it never acted.

    Its values may be right, so the advice to check them would lead astray.
    """
    for report in found.filters:
        named = dict.fromkeys((report.filter.attribute, report.filter.by))
        tags = [tag for tag in named if tag in missing]
        if not tags or report.alone:
            continue
        where = "always" if report.level == 0 else f"level {report.level}"
        name = f"{where} {report.filter.name}"
        report.note = f"waits for {', '.join(tags)}"
        for place, line in enumerate(found.advice):
            if line.startswith(f"{name} never acts"):
                found.advice[place] = (
                    f"{name} {report.note}, which this trace never has: check the name"
                )
                break


def show_missing(trace: str, missing: list[str], schema: Schema) -> None:
    """Tell of them, beside the result: an open schema may well gain them later."""
    if missing:
        has = ", ".join(schema.index) or "none"
        click.echo(f"note: {trace} has no attribute {', '.join(missing)}; it has {has}", err=True)
