"""`heliograph planet`: start a planet, from a file of settings or with none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from heliograph.cli.arguments import FILE

if TYPE_CHECKING:
    from heliograph.net.server import Server
    from heliograph.planet.config import PlanetConfig

_NEXT = "heliograph sub ward-3/pulse, and beside it: heliograph pub ward-3/pulse --generate pulse"


@click.command(short_help="Start a planet: it carries streams from senders to receivers.")
@click.option("--config", type=FILE, metavar="FILE", help="The settings, as TOML.")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="Where clients attach; 127.0.0.1:7440 if absent. Port 0 takes any that is free.",
)
@click.option("--http", metavar="HOST:PORT", help="Serve /metrics and /health there.")
@click.option("--name", metavar="TEXT", help="What the planet is called in logs and to clients.")
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    help="Change any setting, as in --set lane_entries=256; may stand often.",
)
@click.option(
    "--print-config", is_flag=True, help="Print all settings with what they cost, as TOML; end."
)
@click.option(
    "--log",
    default="warning",
    show_default=True,
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="What is logged to standard error: from this level on.",
)
@click.option("--json", "as_json", is_flag=True, help="Log JSON, one object to a line.")
def command(*, log: str, as_json: bool, print_config: bool, **given: Any) -> None:
    """Start a planet, which carries streams from their senders to their receivers.

    It prints where it listens, and runs until Ctrl-C or SIGTERM: then it sends what waits for a
    few seconds, and tells of the rest in digests. A second Ctrl-C ends it at once. Settings are
    taken from the file, then from --set, then from the options.

    \b
    Examples:
      heliograph planet
      heliograph planet --print-config > planet.toml
      heliograph planet --config planet.toml --http 127.0.0.1:7441
      heliograph planet --set lane_entries=256 --set controller=aim
    """  # noqa: D301 - \b is click's mark for text that keeps its lines
    from heliograph.cli.settings import template

    config, changed = _config(**given)
    if print_config:
        click.echo(template(config, changed), nl=False)
        return
    from heliograph.cli.attaching import show_warnings
    from heliograph.net.server import run

    show_warnings(log, json_lines=as_json)
    run(config, started=_started)


def _config(
    config: str | None, settings: tuple[str, ...], **options: str | None
) -> tuple[PlanetConfig, list[str]]:
    """Return the settings, and the names of those that someone set."""
    from heliograph.cli.settings import read_settings
    from heliograph.planet.config import change_config, read_config

    given = {name: value for name, value in options.items() if value is not None}
    begin = None if config is None else read_config(config)
    found = change_config(begin, read_settings(settings) | given)
    plain = change_config(None, {})
    names = found.__struct_fields__
    return found, [name for name in names if getattr(found, name) != getattr(plain, name)]


def _started(server: Server) -> None:
    where = f"planet listens on {server.address}"
    if server.http_port is not None:
        where += f" (http://{server.host}:{server.http_port}/metrics)"
    click.echo(f"{where}; next: {_next(server.address)}")


def _next(address: str) -> str:
    """Return what to type next; another address than the verbs take by themselves is said first."""
    from heliograph.cli.attaching import DEFAULT

    return f"export HELIOGRAPH_PLANET={address}; {_NEXT}" if address != DEFAULT else _NEXT
