"""`copy`: everything of one store into another."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from camillo import registry
from camillo.config import MemorySettings
from camillo.errors import InvalidValue, Refused
from camillo.lifecycle.copy import Copied
from camillo.lifecycle.copy import copy as copy_store
from camillo.model import Author
from camillo.ops._lookup import path_of
from camillo.ops.operation import Doc, operation
from camillo.ops.report import IN_PART, Report
from camillo.roots import Root
from camillo.vault import OpenRoot

if TYPE_CHECKING:
    from camillo.ports import Store
    from camillo.vault import Vault

__all__ = ["CopyReport", "copy"]

_NAMED = 5
_PASSWORD = re.compile(r"(://[^:/@]*:)[^@]*(?=@)|(\bpassword\s*=\s*)('[^']*'|[^\s&]+)")


class CopyReport(Report):
    """`results` are `KindCopied`s, one a kind; the numbers beside them are their sums.

    `verified` says that the target was read back and holds what was read from the source: then the
    digests, over keys and contents in key order, are equal. `switch` says what makes the target
    the store in use.
    """

    source: str = ""
    target: str = ""
    scope: str = ""
    stored: int = 0
    replaced: int = 0
    unchanged: int = 0
    forgotten: int = 0
    only_in_target: int = 0
    meanwhile: int = 0
    source_digest: str = ""
    target_digest: str = ""
    verified: bool = False
    dry_run: bool = False
    switch: str = ""


class _End(NamedTuple):
    """One end of a copy. `own`: the address is the root's own, not one that the SPEC gives."""

    root: Root
    engine: str
    address: str
    remote: bool
    own: bool

    def __str__(self) -> str:
        """As it is shown: without a password."""
        return f"{self.engine}:{_PASSWORD.sub(_masked, self.address)}"


@operation(writes=True, idempotent=True)
def copy(
    vault: Vault,
    *,
    source: Annotated[
        str, Doc("The store to read: ENGINE or ENGINE:ADDRESS.", metavar="SPEC", short="--from")
    ] = "",
    target: Annotated[
        str, Doc("The store to write: ENGINE or ENGINE:ADDRESS.", metavar="SPEC", short="--to")
    ] = "",
    scope: Annotated[
        Literal["user", "project"], Doc("Whose stores: the user root's or the project's.")
    ] = "user",
    dry_run: Annotated[bool, Doc("Say what would be copied; write nothing.")] = False,
) -> CopyReport:
    """Copy everything from one store into another, and compare the two.

    `sqlite` is the root's own file, `sqlite:PATH` another one; `postgres` is the server that
    memory.dsn or CAMILLO_DSN names, `postgres:DSN` another one. Archived memories, sessions and
    marks of forgotten texts are copied too. May be interrupted and run again: only what is missing
    or differs is written. Nothing is deleted in the target, and what was forgotten there stays
    away. The store in use does not change; the reply says which setting changes it.

    camillo copy --from sqlite --to postgres --dry-run
    camillo copy --from sqlite:backup.db --to sqlite
    """
    if not source or not target:
        raise InvalidValue("copy needs both --from SPEC and --to SPEC, as --from sqlite")
    one, other = (_end(vault, spec, scope) for spec in (source, target))
    _must_differ(one, other)
    with ExitStack() as opened:
        read = opened.enter_context(closing(_open_source(vault, one)))
        written = opened.enter_context(closing(_open_target(vault, other, dry_run)))
        if one.remote and other.remote and read.identity() == written.identity():
            raise Refused(f"{one} and {other} are one store: name another one to copy to")
        by = Author(vault.author.who, "copy")
        done = copy_store(read, written, by, tell=vault.progress, dry_run=dry_run)
    report = _report(done, one, other, dry_run)
    if dry_run:
        return report
    if _in_use(vault, other):
        vault.root(scope).catch_up()  # findable at once
    else:
        report.switch = _switch(vault, other)
    return report


def _end(vault: Vault, spec: str, scope: Literal["user", "project"]) -> _End:
    """What a SPEC names. Raises UnknownName, MissingExtra, InvalidValue, Refused."""
    name, _, address = spec.partition(":")
    engine = registry.load("engine", name)
    if "persistent" not in engine.capabilities:
        raise InvalidValue(
            f"{name} keeps nothing that could be copied: it is gone with its process"
        )
    folder = vault.folder(scope)
    root = Root(scope, folder) if folder else vault.root(scope).root  # raises
    if not getattr(engine, "remote", False):
        path = path_of(vault, address) if address else root.store_path
        return _End(root, name, path, False, not address)
    if not address and not vault.settings.memory.dsn:
        raise InvalidValue(
            f"{name} needs the address of its server: set memory.dsn or CAMILLO_DSN, or write "
            f"{name}:DSN"
        )
    return _End(root, name, address or vault.settings.memory.dsn, True, not address)


def _must_differ(one: _End, other: _End) -> None:
    if one.remote or other.remote:
        return  # servers are asked who they are
    try:
        same = os.path.samefile(one.address, other.address)
    except OSError:
        same = one.address == other.address
    if same:
        raise Refused(f"{one} and {other} are one store: name another one to copy to")


def _open_source(vault: Vault, end: _End) -> Store:
    if not end.remote and not os.path.isfile(end.address):  # opening would make it
        raise Refused(f"there is no store in {end.address}: give the one to read, as sqlite:PATH")
    return _open(vault, end)


def _open_target(vault: Vault, end: _End, dry_run: bool) -> Store:
    """`dry_run` makes no root and no file: an empty store stands for what is not there."""
    if not end.remote and dry_run and not os.path.exists(end.address):
        return vault.scratch().store
    if end.own and not dry_run:
        vault.root(end.root.scope, create=True)
    elif not end.remote and not os.path.isdir(os.path.dirname(end.address)):
        raise Refused(f"there is no folder {os.path.dirname(end.address)}: make it first")
    return _open(vault, end)


def _open(vault: Vault, end: _End) -> Store:
    if not end.own and not end.remote:
        store: Store = registry.load("engine", end.engine)(end.address, clock=vault.clock)
        return store
    memory = MemorySettings(backend=end.engine, dsn=end.address if end.remote else "")
    return OpenRoot(end.root, vault.settings._replace(memory=memory), vault.clock).store


def _report(done: Copied, one: _End, other: _End, dry_run: bool) -> CopyReport:
    report = CopyReport(
        results=done.kinds,
        source=str(one),
        target=str(other),
        scope=one.root.scope,
        meanwhile=done.meanwhile,
        source_digest=done.source_digest,
        target_digest=done.target_digest,
        verified=not dry_run and done.source_digest == done.target_digest,
        dry_run=dry_run,
    )
    for name in ("stored", "replaced", "unchanged", "forgotten", "only_in_target"):
        setattr(report, name, sum(getattr(kind, name) for kind in done.kinds))
    if done.behind:
        report.degraded.append(f"{done.behind} changes came in after it was read: run it again")
        report.exit_code = IN_PART
    if done.erased:
        shown = ", ".join(key.id for key in done.erased[:_NAMED])
        more = ", …" if len(done.erased) > _NAMED else ""
        report.degraded.append(
            f"{len(done.erased)} memories that the source has forgotten are still in the target, "
            f"which a copy does not delete from: {shown}{more}"
        )
    return report


def _in_use(vault: Vault, end: _End) -> bool:
    memory = vault.settings.memory
    if end.engine != memory.backend:
        return False
    return end.address == (memory.dsn if end.remote else end.root.store_path)


def _switch(vault: Vault, end: _End) -> str:
    """Which line of which file makes a copy the store in use."""
    if not end.remote and not end.own:
        return (
            f"nothing was switched; no setting names a file: put {end.address} in the place of "
            f"{end.root.store_path} to use it"
        )
    lines = [f'backend = "{end.engine}"']
    if end.remote and end.address != vault.settings.memory.dsn:
        lines.append(f'dsn = "{_PASSWORD.sub(_masked, end.address)}"')
    config = os.path.join(vault.folder("user") or "", "config.toml")
    return (
        f"nothing was switched; {' and '.join(lines)} under [memory] in {config} make the target "
        "the store in use, for the user's root and for projects: copy each that you want to keep"
    )


def _masked(found: re.Match[str]) -> str:
    return f"{found[1] or found[2]}***"
