"""The `.embedding` sidecars of a commonplace folder, beside its notes as commonplace has them.

Derived from the note files alone, so there is no cursor: a sidecar knows by a hash of which note it
was made. Written only where sidecars carry our model already, or where a person asks for it: those
of another model are another program's. Its bytes are `text/sidecar`'s; versions 1 and 2 are read, 2
is written. Vectors of fresh sidecars of our model spare the `vectors` index the embedding.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from camillo.errors import CamilloError, InvalidValue, NoteBroken, NotFound, StoreFull
from camillo.model import Memory
from camillo.ports import NoteFolder
from camillo.records import NamedTuple
from camillo.text.printable import printable
from camillo.text.sidecar import Sidecar, content_sha, decode, encode, floats, packed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from numpy import float32
    from numpy.typing import NDArray

    from camillo.ports import Embedder, Role, TokenVectors

    # fresh: made of this note by our model. stale: by our model, of an older text or without the
    # summary's vector. damaged: no sidecar at all. foreign: of another model.
    State = Literal["fresh", "missing", "stale", "damaged", "foreign"]

__all__ = ["Beside", "Refreshed", "Sidecars"]

SUFFIX = ".embedding"

_LARGEST = 64 * 1024 * 1024  # bytes; one of 4,096 dimensions has 33 KB
_BATCH = 64  # notes that are embedded together


class Beside(NamedTuple):
    """A note and the sidecar beside it; `sidecar` is None where none can be read."""

    path: str
    memory: Memory
    sha: str
    state: State
    sidecar: Sidecar | None


class Refreshed(NamedTuple):
    """What a pass did, or with `dry_run` would do. `foreign` were left alone; `skipped` are (path,
    why) of notes that cannot be read, whose sidecars stay."""

    fresh: int = 0
    embedded: int = 0  # had none
    re_embedded: int = 0  # had another
    foreign: int = 0
    orphaned: tuple[str, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()


class Sidecars:
    """Those of one folder, for one embedder. The embedder is loaded when a text has to be embedded
    that no sidecar has the vector of."""

    name = "sidecars"

    def __init__(self, folder: NoteFolder, embedder: Embedder) -> None:
        self._folder = folder
        self._embedder = embedder

    def ours(self) -> bool:
        """Does a sidecar carry our model, so that they are ours to keep?"""
        return any(
            found is not None and found.model == self._embedder.id
            for name in self._names()
            for found in [self._read(name)[0]]
        )

    def beside(self) -> Iterator[Beside | tuple[str, str]]:
        """Every note with its sidecar, by name; (path, why) for one that cannot be read."""
        notes, unreadable = self._folder.scan()
        for path in unreadable:
            yield path, "cannot be read"
        for path in sorted(notes):
            try:
                memory = self._folder.dialect.parse(path, self._folder.read(path))
            except NotFound:
                continue
            except CamilloError as error:
                yield path, str(error)
            else:
                yield self._beside(path, memory)

    def refresh(
        self,
        *,
        replace_foreign: bool = False,
        dry_run: bool = False,
        told: Callable[[int], None] = lambda done: None,
    ) -> Refreshed:
        """Make what is missing, stale or damaged; take away those whose note is gone. Foreign ones
        are left alone, with `replace_foreign` made anew. Safe to be killed and run again."""
        counts = dict.fromkeys(("fresh", "embedded", "re_embedded", "foreign"), 0)
        skipped: list[tuple[str, str]] = []
        wanting: list[Beside] = []
        there: set[str] = set()
        for each in self.beside():
            if not isinstance(each, Beside):
                skipped.append(each)
                continue
            there.add(each.path)
            if each.state == "fresh" or (each.state == "foreign" and not replace_foreign):
                counts[each.state] += 1
                told(1)
                continue
            counts["embedded" if each.state == "missing" else "re_embedded"] += 1
            wanting.append(each)
            if len(wanting) == _BATCH:
                self._make(wanting, dry_run, told)
                wanting = []
        self._make(wanting, dry_run, told)
        orphans = self._orphans(there | {path for path, _ in skipped}, replace_foreign)
        if not dry_run:
            for name in orphans:
                self._remove(name)
        return Refreshed(**counts, orphaned=tuple(orphans), skipped=tuple(skipped))

    def known(self) -> Embedder:
        """The embedder, which takes the vectors of whole summaries and bodies from fresh sidecars
        instead of making them again."""
        vectors: dict[str, bytes] = {}
        for each in self.beside():
            if isinstance(each, Beside) and each.state == "fresh" and each.sidecar:
                vectors[each.memory.summary] = each.sidecar.summary
                vectors[each.memory.body] = each.sidecar.body
        return _Known(self._embedder, vectors)

    # --- one note ------------------------------------------------------------------------------

    def _beside(self, path: str, memory: Memory) -> Beside:
        sha = content_sha(memory.kind, memory.id, memory.summary, memory.body)
        found, damaged = self._read(_sidecar_of(path))
        state: State
        if found is None:
            state = "damaged" if damaged else "missing"
        elif (found.model, found.dim) != (self._embedder.id, self._embedder.dim):
            state = "foreign"
        else:
            state = "fresh" if found.sha == sha and found.version == 2 else "stale"
        return Beside(path, memory, sha, state, found)

    def _make(self, wanting: Sequence[Beside], dry_run: bool, told: Callable[[int], None]) -> None:
        if not wanting or dry_run:
            told(len(wanting))
            return
        texts: dict[str, bytes] = {}
        for each in wanting:
            old = each.sidecar
            if old and each.state == "stale" and old.sha == each.sha:  # version 1 has the body's
                texts[each.memory.body] = old.body
        lacking = list(
            dict.fromkeys(
                text
                for each in wanting
                for text in (each.memory.summary, each.memory.body)
                if text not in texts
            )
        )
        made = self._embedder.embed(lacking, "passage") if lacking else ()
        texts.update((text, packed(row.tolist())) for text, row in zip(lacking, made, strict=True))
        for each in wanting:
            self._write(each, texts[each.memory.summary], texts[each.memory.body])
            told(1)

    def _write(self, beside: Beside, summary: bytes, body: bytes) -> None:
        """Under the note's own lock, and only while the note is what was embedded."""
        with self._folder.locked(beside.path):
            try:
                memory = self._folder.dialect.parse(beside.path, self._folder.read(beside.path))
            except (NotFound, NoteBroken):
                return
            if self._beside(beside.path, memory).sha != beside.sha:
                return  # the next pass sees it
            model = self._embedder
            content = encode(Sidecar(model.id, model.dim, beside.sha, summary, body))
            self._replace(_sidecar_of(beside.path), content)

    # --- files ---------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        try:
            with os.scandir(self._folder.folder) as entries:
                return sorted(
                    entry.name
                    for entry in entries
                    if entry.name.endswith(SUFFIX)
                    and entry.name[0] != "."
                    and entry.is_file(follow_symlinks=False)
                )
        except OSError:
            return []

    def _orphans(self, notes: set[str], foreign_too: bool) -> list[str]:
        """Sidecars without a note file; those of another model only where they are ours to take."""
        found = []
        for name in self._names():
            path = f"{name.removesuffix(SUFFIX)}.md"
            if path in notes or os.path.lexists(self._path(path)):
                continue
            sidecar = self._read(name)[0]
            mine = sidecar is not None and sidecar.model == self._embedder.id
            if mine or foreign_too:
                found.append(name)
        return found

    def _read(self, name: str) -> tuple[Sidecar | None, bool]:
        """(the sidecar, whether there is something that is none)."""
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            descriptor = os.open(self._path(name), flags | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:
            return None, False
        except OSError:
            return None, True
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None, True
            content = file.read(_LARGEST)
        try:
            return decode(content), False
        except InvalidValue:
            return None, True

    def _replace(self, name: str, content: bytes) -> None:
        """Atomic; a crash leaves the former one, or none, which the next pass makes."""
        path, fresh = self._path(name), self._path(f".{name}.new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        try:
            descriptor = os.open(fresh, flags | getattr(os, "O_BINARY", 0), 0o644)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            os.replace(fresh, path)
        except OSError as error:
            with suppress(OSError):
                os.unlink(fresh)
            raise StoreFull(
                f"{printable(path)} cannot be written ({error.strerror}); the note stands"
            ) from error

    def _remove(self, name: str) -> None:
        with suppress(OSError):  # it does no harm
            os.unlink(self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(self._folder.folder, name)


class _Known:
    """An embedder that knows the vectors of some texts already."""

    def __init__(self, embedder: Embedder, vectors: Mapping[str, bytes]) -> None:
        self.id, self.dim, self.limit = embedder.id, embedder.dim, embedder.limit
        self._embedder = embedder
        self._vectors = vectors

    @property
    def capabilities(self) -> frozenset[str]:
        return self._embedder.capabilities

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[float32]:
        from camillo.numeric import np

        known = self._vectors if role == "passage" else {}
        lacking = [text for text in texts if text not in known]
        made = iter(self._embedder.embed(lacking, role)) if lacking else iter(())
        rows = [floats(known[text]) if text in known else next(made) for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), self.dim)

    def embed_tokens(
        self, texts: Sequence[str], role: Role
    ) -> tuple[NDArray[float32], list[TokenVectors]]:
        """Token vectors are in no sidecar."""
        return self._embedder.embed_tokens(texts, role)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return self._embedder.pieces(ids)


def _sidecar_of(path: str) -> str:
    return path.removesuffix(".md") + SUFFIX
