"""`heliograph completion`: the script that makes a shell complete verbs and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    bash:  heliograph completion bash >> ~/.bashrc
    zsh:   heliograph completion zsh  >> ~/.zshrc
    fish:  heliograph completion fish > ~/.config/fish/completions/heliograph.fish
    """  # noqa: D301 - \b is click's mark for text that keeps its lines
    from heliograph.cli import command as root

    maker = get_completion_class(shell)
    if maker is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(maker(root, {}, "heliograph", "_HELIOGRAPH_COMPLETE").source())
