"""Arguments: what the words of a command line stand for, so that a shell can complete them.

A policy and a trace stay the words that they are: the verbs open them, and say what is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Sequence

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # Older releases of click do not take the brackets.

# What completes to a name of its own; the modules that know them are slow to load for a keystroke,
# so a test compares.
_BUILT_IN: Final = {
    "oldest": "keeps the oldest events",
    "newest": "keeps the newest events",
    "latest-per": 'keeps the latest event of each value of a tag; write "latest-per KEY"',
}
_BROKERS: Final = ("newest", "oldest")


class _File(_ParamType):
    """A file, which the shell completes; or one of a few names."""

    name = "file"

    def __init__(self, names: dict[str, str] | None = None) -> None:
        self.names = names or {}

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that fit, behind the word that lets the shell look for files.

        It stands first: where bash meets it, it forgets what stood before.
        """
        del ctx, param
        fitting = [one for one in self.names.items() if one[0].startswith(incomplete)]
        return [
            CompletionItem(incomplete, type="file"),
            *(CompletionItem(name, help=meaning) for name, meaning in fitting),
        ]


class _Brokers(_ParamType):
    """What brokers do, a list of words between commas; each counts once."""

    name = "list"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the words in their order; the trial knows which there are."""
        del param, ctx
        if isinstance(value, tuple):
            return value
        words = (word.strip() for word in str(value).split(","))
        return tuple(dict.fromkeys(word for word in words if word))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete the last word with what does not stand there yet."""
        del ctx, param
        before, comma, last = incomplete.rpartition(",")
        left: Sequence[str] = [one for one in _BROKERS if one not in before.split(",")]
        return [
            CompletionItem(f"{before}{comma}{one}") for one in left if one.startswith(last.strip())
        ]


class _Address(_ParamType):
    """Where a planet is; the schemes are completed, and where a planet listens by itself."""

    name = "address"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the beginnings of an address that fit."""
        del ctx, param
        known = ("helio://127.0.0.1:7440", "helios://")
        return [CompletionItem(one) for one in known if one.startswith(incomplete)]


FILE: Final = _File()
ADDRESS: Final = _Address()
POLICY: Final = _File(_BUILT_IN)
BROKERS: Final = _Brokers()
