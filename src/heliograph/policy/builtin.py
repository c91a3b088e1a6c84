"""The built-in policies: what users of other brokers ask for first, by the name of what is kept.

They are ordinary policies. `oldest` is what a broker with a full queue usually does, `newest` is a
ring, and `latest-per KEY` keeps the last event of each value of a tag.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from heliograph.event.errors import EventError, PolicyError
from heliograph.event.schema import check_tag
from heliograph.policy.document import load
from heliograph.policy.model import Filter, Level, Policy, Rest

OLDEST: Final = Policy(rest=Rest.OLDEST)
NEWEST: Final = Policy(rest=Rest.NEWEST)
NAMES: Final = ("oldest", "newest", "latest-per KEY")
NAME_CHARS_MAX: Final = 80  # Of a name in a message.


def latest_per(tag: str) -> Policy:
    """Return the policy that keeps the latest event per value of a tag, then the newest.

    Raises:
        PolicyError: No attribute may have that tag.
    """
    try:
        check_tag(tag)
    except EventError as error:
        raise PolicyError(str(error)) from None
    latest = Filter("LATEST", (("window", 1),), by=tag)
    return Policy(levels=(Level((latest,)),), rest=Rest.NEWEST)


def builtin(name: str) -> Policy | None:
    """Return a built-in policy, or None where there is none of that name."""
    word, _, tag = name.strip().partition(" ")
    if word == "latest-per" and tag.strip():
        return latest_per(tag.strip())
    return {"oldest": OLDEST, "newest": NEWEST}.get(name.strip())


def resolve(source: str) -> Policy:
    """Return the policy of a file, or the built-in policy of that name.

    Raises:
        PolicyError: It is neither, or the file is no policy.
    """
    found = builtin(source)
    known = f"a built-in policy ({', '.join(NAMES)})"
    try:
        there = Path(source).exists()
    except OSError as error:  # A name that no file can have, or a folder that is closed to us.
        if found is not None:
            return found
        raise PolicyError(
            f"cannot read {_shown(source)}: {error.strerror}; give a file, or {known}"
        ) from None
    if there:
        return load(source)
    if found is None:
        raise PolicyError(f"there is no file {_shown(source)}, nor {known} of that name")
    return found


def _shown(source: str) -> str:
    """Return what was given, briefly: it may be a whole document by mistake."""
    return repr(source if len(source) <= NAME_CHARS_MAX else source[: NAME_CHARS_MAX - 3] + "...")
