"""`trust`: say that a project's memories come from people you trust."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from camillo.errors import Refused
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report
from camillo.trust import set_trust

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["trust"]


@operation(writes=True, idempotent=True)
def trust(
    vault: Vault,
    *,
    undo: Annotated[bool, Doc("Take it back.")] = False,
) -> Report:
    """Trust the memories of the project that you are in.

    What arrived with a clone is searched and marked, and never offered as a rule until you say so.
    A root that you made yourself is trusted from the start.

    camillo trust
    camillo trust --undo
    """
    found = list(vault.roots("project"))
    if not found:
        raise Refused(f"{vault.cwd} is in no project that has memories: there is nothing to trust")
    results = []
    users = vault.root("user", create=True).store
    for root in found:
        changed = set_trust(users, root.root.folder, not undo)
        results.append({"root": root.root.folder, "trusted": not undo, "changed": changed})
    return Report(results=results)
