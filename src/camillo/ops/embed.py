"""`embed`: give every passage its vector."""

from __future__ import annotations

from collections.abc import Callable

from camillo.errors import MissingExtra
from camillo.ops._in_root import InRoot
from camillo.ops.operation import operation
from camillo.ops.report import IN_PART, Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["FEW", "embed", "embed_later", "embed_note", "embed_root"]

FEW = 50  # vectors that are not worth a word while they are being made


@operation(writes=True, idempotent=True)
def embed(
    vault: Vault,
    *,
    scope: InRoot = None,
) -> Report:
    """Make what is kept findable by meaning: a vector for every passage that has none.

    Takes the embedder that `--embedder` or the settings name, else the best that is installed. May
    be interrupted and run again: nothing is embedded twice. Mining does this by itself. Where
    another process is embedding already it is left to that one: the reply says how many vectors
    are missing yet, and the code is 0. Code 3 says that some texts cannot be read.

    camillo embed --embedder e5
    """
    report = Report()
    if vault.embedder is None:
        report.degraded.append("words only: no embedder (`camillo setup light` brings one)")
        return report
    for root in vault.roots(scope):
        root.catch_up()
        left, busy = _embed(vault, root)
        if left and not busy:  # the other one has ended meanwhile, or texts cannot be read
            left, busy = _embed(vault, root)
        report.results.append({"scope": root.scope, "model": vault.embedder.id, "behind": left})
        if busy:
            report.degraded.append(
                f"{root.name}: another process is embedding: vectors {left} behind"
            )
        elif left:
            report.degraded.append(
                f"{root.name}: vectors {left} behind: their texts cannot be read"
            )
            report.exit_code = IN_PART
    return report


def _embed(vault: Vault, root: OpenRoot) -> tuple[int, bool]:
    """How many texts are left, and whether another process is at them."""
    left = embed_root(vault, root)
    if not left:
        return 0, False
    with root.lease("vectors") as mine:
        return left, not mine


def embed_note(vault: Vault, root: OpenRoot) -> list[str]:
    """As `embed_later`, for the few passages of one note: a process in the background is started
    without a look at the model, or a write would take three times as long."""
    if vault.attended or vault.later is None:
        return embed_later(vault, root)
    try:
        if vault.has_embedder():
            _start(vault.later, vault, root)
    except MissingExtra as error:  # kept is kept
        return [f"words only: {error}"]
    return []


def embed_later(vault: Vault, root: OpenRoot) -> list[str]:
    """Vectors for what is new: now where a person waits and sees it or the model is loaded
    already, else in the background. What a report has to say of those that are not there yet: of a
    few that are on their way nothing."""
    try:
        embedder = vault.embedder
    except MissingExtra as error:  # filed is filed
        return [f"words only: {error}"]
    if embedder is None:
        return []
    if vault.attended:
        left = embed_root(vault, root)
    else:
        left = root.meaning.missing(embedder)
        if left and vault.later:
            _start(vault.later, vault, root)
    if not left or (vault.later and left <= FEW):
        return []
    how = "follow in the background" if vault.later else "come with `camillo embed`"
    return [f"vectors {left:,} behind: they {how}"]


def _start(later: Callable[[list[str]], None], vault: Vault, root: OpenRoot) -> None:
    named = vault.settings.search.embedder
    later(["embed", "--scope", root.name, "--embedder", named, "--quiet"])


def embed_root(vault: Vault, root: OpenRoot) -> int:
    """Embed with progress; how many texts are left."""
    embedder = vault.embedder
    if embedder is None:
        return 0
    total = root.meaning.missing(embedder)
    done = 0

    def told(count: int) -> None:
        nonlocal done
        done += count
        vault.progress(done, total, "vectors")

    return vault.embed(root, told)
