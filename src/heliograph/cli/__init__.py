"""The `heliograph` command: groups of verbs, each loaded only when it is called.

Exit codes: 0 done, 1 the input is wrong (a policy, a trace), 2 the command line is wrong,
3 Heliograph is wrong (a bug), 4 no planet can be reached, 5 an experiment missed a goal,
130 interrupted.
`docs/reference/cli.md` lists every verb and code; a test checks that it does.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, Final

import click

from heliograph import __version__
from heliograph.event.errors import HeliographError, LinkError, UsageError

WRONG_INPUT: Final = 1
WRONG_USAGE: Final = 2
NO_PLANET: Final = 4
INTERRUPTED: Final = 130
_LAZY: Final = {
    "planet": ("heliograph.cli.planet", "Start a planet: it carries streams to their receivers."),
    "pub": ("heliograph.cli.pub", "Publish a stream: from a file, a pipe or a generator."),
    "sub": ("heliograph.cli.sub", "Receive a stream, and what was dropped of it."),
    "status": ("heliograph.cli.status", "Show how a planet is, once."),
    "top": ("heliograph.cli.top", "Watch a planet: streams, lanes, drops, slow receivers."),
    "bench": ("heliograph.cli.bench", "Measure a planet: events a second, and latency."),
    "policy": ("heliograph.cli.policy", "Write, check and try policies: what may be dropped."),
    "experiment": ("heliograph.cli.experiment", "Measure the papers' figures again."),
    "completion": ("heliograph.cli.completion", "Print the completion script of a shell."),
}


class _Lazy(click.Group):
    """A group whose commands are imported when they are called, so that each starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which a newcomer meets them."""
        del ctx
        return list(_LAZY)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        del ctx
        if cmd_name not in _LAZY:
            return None
        command: click.Command = importlib.import_module(_LAZY[cmd_name][0]).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb until it is done, or until the reader of its output has had enough.

        That reader, such as `head`, is no error, as which click takes it: so it is met here.
        """
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Python would complain when it flushes at the end, so give it somewhere to flush to.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return None
        return result

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_, help_text) in _LAZY.items()])


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="heliograph %(version)s")
def command() -> None:
    """Carry streams of sensor events to those who need them.

    When a stream does not fit, what its receiver said matters least is dropped,
    and the receiver is told what was dropped.

    \b
    Begin here:
      heliograph planet                       start a planet; in other terminals:
      heliograph pub ward-3/pulse --generate pulse
                                              publish made-up readings
      heliograph sub ward-3/pulse             receive them
      heliograph top                          watch the planet
    \b
    Then say what may be dropped:
      heliograph policy check POLICY          say in words what a policy does
      heliograph policy explain POLICY TRACE  see what each filter would drop
      heliograph policy try POLICY TRACE --capacity 256 --rate 25/s
                                              see what a receiver would get
    """  # noqa: D301 - \b is click's mark for text that keeps its lines


def main(arguments: list[str] | None = None) -> None:
    """Run the command; a wrong input ends in one line that says what to do, not in a traceback."""
    try:
        status = command.main(arguments, prog_name="heliograph", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except UsageError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(WRONG_USAGE)
    except LinkError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(NO_PLANET)
    except HeliographError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(WRONG_INPUT)
    sys.exit(status if isinstance(status, int) else 0)
