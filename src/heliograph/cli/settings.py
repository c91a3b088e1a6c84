"""Settings: the fields of a planet's configuration, as TOML that explains itself."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from typing import TYPE_CHECKING, Any, Final

from heliograph.event.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heliograph.planet.config import PlanetConfig

_WIDTH: Final = 88
_HEAD: Final = """\
# The settings of a Heliograph planet, each with what it is by itself.
# Take away the # before what you want to change; start with: heliograph planet --config FILE
"""


def explained() -> Mapping[str, str]:
    """Return what each field means, in the words of the source, which explain the consequence."""
    from heliograph.planet.config import PlanetConfig

    (body,) = ast.parse(textwrap.dedent(inspect.getsource(PlanetConfig))).body
    found: dict[str, str] = {}
    name = ""
    for node in body.body if isinstance(body, ast.ClassDef) else ():
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and name:
            found[name] = " ".join(str(node.value.value).split())
            name = ""
        else:
            name = ""
    return found


def template(config: PlanetConfig, changed: Iterable[str] = ()) -> str:
    """Return a TOML file of all fields; those that were changed stand without a comment mark."""
    meaning = explained()
    parts = [_HEAD]
    for name in config.__struct_fields__:
        lines = textwrap.wrap(meaning[name], _WIDTH, initial_indent="# ", subsequent_indent="# ")
        mark = "" if name in changed else "#"
        parts.append("\n".join([*lines, f"{mark}{name} = {_toml(getattr(config, name))}\n"]))
    return "\n".join(parts)


def _toml(value: Any) -> str:
    # JSON's numbers and texts are TOML's too.
    return json.dumps(value) if isinstance(value, str | bool) else f"{value:_}"


def read_settings(texts: Iterable[str]) -> dict[str, Any]:
    """Read settings as `NAME=VALUE`, with values as in TOML; a bare word is a text.

    Raises:
        UsageError: One has no value.
    """
    import tomllib

    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise UsageError(f"{text!r} is no setting: write NAME=VALUE, as in lane_entries=256")
        try:
            found[name] = tomllib.loads(f"it = {value}")["it"]
        except tomllib.TOMLDecodeError:
            found[name] = value
    return found
