"""Policies as people give them: a Policy, a file, a document, or the name of a built-in one."""

from __future__ import annotations

from pathlib import Path

from heliograph.event.errors import PolicyError
from heliograph.policy.builtin import resolve
from heliograph.policy.document import load, loads
from heliograph.policy.model import Policy


def read_policy(policy: Policy | str | Path | None) -> Policy | None:
    """Return what is meant as a Policy; None means the worst case only.

    Raises:
        PolicyError: It is none; the message names the line, or what it could have been.
    """
    if policy is None or isinstance(policy, Policy):
        return policy
    if isinstance(policy, Path):
        return load(policy)
    if not isinstance(policy, str):
        raise PolicyError(
            f"a policy is a Policy, a path, a document or a built-in name, "
            f"not {type(policy).__name__}"
        )
    # A document has several lines, or the marks that begin XML and JSON; a name has neither.
    if "\n" in policy or policy.lstrip()[:1] in ("<", "{"):
        return loads(policy)
    return resolve(policy)
