"""`heliograph status`: how a planet is, once."""

from __future__ import annotations

import json
from typing import Final

import click

from heliograph.cli.attaching import Place, attached, of_planet
from heliograph.cli.options import AS_JSON

ANSWER_SECONDS: Final = 5.0


@click.command(short_help="Show how a planet is, once.")
@AS_JSON
@of_planet
def command(place: Place, *, as_json: bool) -> None:
    """Show how a planet is: its streams, its lanes and how full they are, what was dropped and why.

    \b
    Examples:
      heliograph status
      heliograph status --json | jq '.lanes[] | select(.fill > 0.5)'
    """  # noqa: D301 - \b is click's mark for text that keeps its lines
    from heliograph.cli.view import view

    with attached(place, "status") as (client, name):
        found = client.status(ANSWER_SECONDS)
    # Who looks is no part of the picture.
    found["clients"] = [one for one in found["clients"] if one["name"] != name]
    if as_json:
        click.echo(json.dumps(found))
        return
    for line in view(found, where=f" at {place.address}"):
        click.echo(line)
