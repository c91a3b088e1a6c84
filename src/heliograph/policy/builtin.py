"""The built-in policies: what users of other brokers ask for first, by the name of what is kept.

They are ordinary policies. `oldest` is what a broker with a full queue usually does, `newest` is a
ring, and `latest-per KEY` keeps the last event of each value of a tag.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from heliograph.event.errors import PolicyError
from heliograph.policy.document import load
from heliograph.policy.model import Filter, Level, Policy, Rest

OLDEST: Final = Policy(rest=Rest.OLDEST)
NEWEST: Final = Policy(rest=Rest.NEWEST)
NAMES: Final = ("oldest", "newest", "latest-per KEY")


def latest_per(tag: str) -> Policy:
    """Return the policy that keeps the latest event per value of a tag, then the newest."""
    latest = Filter("LATEST", (("window", 1),), by=tag)
    return Policy(levels=(Level((latest,)),), rest=Rest.NEWEST)


def builtin(name: str) -> Policy | None:
    """Return a built-in policy, or None where there is none of that name."""
    word, _, tag = name.strip().partition(" ")
    if word == "latest-per" and tag.strip():
        return latest_per(tag.strip())
    return {"oldest": OLDEST, "newest": NEWEST}.get(name.strip())


def resolve(source: str) -> Policy:
    """Return the policy of a file, or the built-in policy of that name."""
    found = builtin(source)
    if found is not None and not Path(source).exists():
        return found
    if not Path(source).exists():
        raise PolicyError(
            f"there is no file {source!r}, nor a built-in policy of that name ({', '.join(NAMES)})"
        )
    return load(source)
