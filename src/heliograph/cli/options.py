"""Options that several verbs share, so that they mean the same everywhere."""

from __future__ import annotations

import click

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
TIME = click.option(
    "--time", "time_tag", metavar="TAG", help="The attribute that holds the time of an event."
)
STREAM = click.option("--stream", metavar="KEY", help="Which stream, of a trace of several.")
