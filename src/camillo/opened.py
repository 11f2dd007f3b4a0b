"""An opened root: its store, the indexes that hang on it, and its notes; each opened on first use.

What keeps them in step stands here: catching up, mending, scrubbing. Which roots there are, and
which embedder and stages a search has, is the vault's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from camillo import registry
from camillo.config import Settings, mentions_wanted
from camillo.elsewhere import is_open
from camillo.errors import (
    CamilloError,
    InvalidValue,
    Refused,
    StoreBusy,
    StoreDamaged,
    StoreFull,
)
from camillo.leases import lock_file
from camillo.model import GLOBAL, NOT_NOTES, Filter
from camillo.projection import behind, catch_up
from camillo.roots import Root, keep_out_of_git, may_hold_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.forgotten import Forgotten
    from camillo.model import Key, Memory
    from camillo.notebook import Notebook
    from camillo.ports import (
        Embedder,
        Meaning,
        NoteFolder,
        Outline,
        Projection,
        Store,
        Tokens,
        Words,
    )
    from camillo.roots import Scope

__all__ = ["OpenRoot"]

# What a search takes in before it answers; a longer backlog is reported and left to its writer.
READ_BACKLOG = 20_000
LOOK_AGAIN = 0.5  # seconds in which the indexes of a store that searches itself are not looked at
READ_PATIENCE = 0.1  # seconds that a search waits for an index that another process writes


class OpenRoot:
    """One root with its store and the indexes that hang on it. Opened on first use."""

    def __init__(self, root: Root, settings: Settings, clock: Callable[[], float]) -> None:
        self.root = root
        self._settings = settings
        self._clock = clock
        self._store: Store | None = None
        self._file: Any = None
        self._indexes: dict[str, Any] = {}
        self._vectors: Meaning | None = None
        self._tokens: Tokens | None = None
        self._notebook: Notebook | None = None
        self._folded: tuple[int, Mapping[Key, Key]] | None = None
        self._refreshed = float("-inf")

    @property
    def scope(self) -> Scope:
        return self.root.scope

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def store(self) -> Store:
        if self._store is None:
            self._store = self._open_store()
        return self._store

    def _open_store(self) -> Store:
        memory = self._settings.memory
        engine = registry.load("engine", memory.backend)
        self.check_open()
        if not getattr(engine, "remote", False):
            if self.root.state:
                os.makedirs(self.root.state, mode=0o700, exist_ok=True)
            elif self.root.exists():
                keep_out_of_git(self.root, found=True)
            return engine(self.root.store_path, clock=self._clock)  # type: ignore[no-any-return]
        if not memory.dsn:
            raise InvalidValue(
                f"memory.backend = {memory.backend!r} needs the address of its server: "
                "set memory.dsn or CAMILLO_DSN"
            )
        return engine(  # type: ignore[no-any-return]
            memory.dsn, clock=self._clock, space=self._space()
        )

    def _space(self) -> str:
        """The part of the server that a setting gives this folder or its project, else its own."""
        folder = self.root.folder
        for named, space in self._settings.memory.spaces.items():
            place = os.path.abspath(os.path.expanduser(named))
            if place in (folder, os.path.dirname(folder)):
                return space
        return self.root.space

    @property
    def indexes(self) -> list[Any]:
        """The local indexes that follow this root's store, opened."""
        if not self._indexes:
            self._open_indexes()
        return list(self._indexes.values())

    @property
    def index_path(self) -> str:
        """The file of the local indexes. A server's store has one of its own, so that trying one
        does not cost those of the store in use."""
        engine = registry.load("engine", self._settings.memory.backend)
        path = self.root.index_path
        if not getattr(engine, "remote", False):
            return path
        return os.path.join(os.path.dirname(path), f"{self._settings.memory.backend}.db")

    @property
    def words(self) -> Words:
        """What searches this root by words: its store itself, or the local index `lexical`."""
        if self._searches_itself:
            return self.store.words()
        if not self._indexes:
            self._open_indexes()
        words: Words = self._indexes["lexical"]
        return words

    @property
    def meaning(self) -> Meaning:
        """What searches it by meaning: its store itself, or the local index `vectors`, which
        follows the passages of `lexical`."""
        if self._searches_itself:
            return self.store.meaning()
        if self._vectors is None:
            if self._file is None:
                self._open_indexes()
            by = self._settings.search.vectors
            self._vectors = registry.load("index", "vectors")(self._file, by, self.tokens)
        return self._vectors

    @property
    def tokens(self) -> Tokens | None:
        """Token vectors of what it holds; None where the store itself searches by meaning."""
        if self._searches_itself:
            return None
        if self._tokens is None:
            if self._file is None:
                self._open_indexes()
            budget = self._settings.search.tokens_mb
            self._tokens = registry.load("index", "tokens")(self._file, _projection_of, budget)
        return self._tokens

    @property
    def has_notes(self) -> bool:
        """Are notes files here, and may there be any?"""
        if self._settings.memory.notes != "markdown" or not self.root.folder:
            return False
        if self._notebook is not None or self.root.state:
            return True
        return may_hold_notes(self.root.folder) or self._had_notes()

    def _had_notes(self) -> bool:
        """May there be rows of notes whose files are gone, all of them?"""
        if self._file is None:
            if not os.path.exists(self.index_path):
                return self._holds_more_than_drawers()
            self._open_indexes()
        files = registry.load("index", "files")(self._file)
        return bool(files.any() if files.scanned() else self._holds_more_than_drawers())

    def _mark_empty(self) -> None:
        """Where no note was ever kept that is noted once, so that no search has to count."""
        if self._notebook is None and self._file is not None:
            files = registry.load("index", "files")(self._file)
            if not files.scanned() and not self._holds_more_than_drawers():
                with suppress(StoreBusy, StoreFull):
                    files.record((), (), time.time_ns())

    def _holds_more_than_drawers(self) -> bool:
        filter = Filter(None, archived=True)
        filed = filter._replace(kinds=tuple(sorted(NOT_NOTES)))
        return self.store.count(filter) > self.store.count(filed)

    @property
    def notebook(self) -> Notebook | None:
        """The notes' files; None where notes are kept as the drawers are."""
        if self._settings.memory.notes != "markdown" or not self.root.folder:
            return None
        if self._notebook is None:
            from camillo.notebook import Notebook

            if self._file is None:
                self._open_indexes()
            folder = self._note_folder()
            files = registry.load("index", "files")(self._file)
            self._notebook = Notebook(folder, self.store, files, self.scope, self._forgotten)
        return self._notebook

    def _forgotten(self) -> Forgotten:
        from camillo.forgotten import Forgotten

        return Forgotten(self.store, self.scope)

    def _note_folder(self) -> NoteFolder:
        """Of another program's folder that was opened, a vault's templates are no notes."""
        form, folder, left_out = self.root.form, self.root.folder, frozenset[str]()
        if form == "camillo" and self.root.state:
            from camillo.layouts import template_folders

            left_out = template_folders(folder)
        shared = not self.root.state
        return registry.open_note_folder(form, folder, self.root.writable, left_out, shared=shared)

    @property
    def closets(self) -> Any:
        if not self._indexes:
            self._open_indexes()
        return self._indexes["closets"]

    @property
    def edges(self) -> Any:
        if not self._indexes:
            self._open_indexes()
        return self._indexes["edges"]

    @property
    def aliases(self) -> Any:
        if not self._indexes:
            self._open_indexes()
        return self._indexes["aliases"]

    @property
    def outline(self) -> Outline:
        if not self._indexes:
            self._open_indexes()
        outline: Outline = self._indexes["outline"]
        return outline

    def superseded(self, held: Callable[[list[Key]], list[Memory | None]]) -> Mapping[Key, Key]:
        """Who stands for whom, of what newer memories supersede. `held` reads memories."""
        at = self.edges.cursor()
        if self._folded is None or self._folded[0] != at:
            self._folded = at, _folded(self.edges.superseders(), held)
        return self._folded[1]

    @property
    def _searches_itself(self) -> bool:
        """Words and meaning name passages by the same rows, so they are from one hand."""
        return self.store.capabilities >= {"keyword", "vector"}

    @contextmanager
    def lease(self, what: str) -> Iterator[bool]:
        """Yields whether this process may do a long job that one at a time should do. The kernel
        ends it with the process."""
        self.check_open()
        folder = os.path.dirname(self.root.index_path)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with lock_file(os.path.join(folder, f"{what}.lock")) as mine:
            yield mine

    def catch_up(
        self, *, at_most: int | None = None, told: Callable[[int], None] = lambda taken: None
    ) -> int:
        """Take in what changed; how many changes are left. A damaged index is built anew."""
        if "feed" not in self.store.capabilities:
            return 0
        self._let_go()
        try:
            left = catch_up(self.store, self.indexes, at_most=at_most, told=told)
        except Exception as error:
            if not self.mend(error):
                raise
            left = catch_up(self.store, self.indexes, told=told)
        self._mark_empty()
        return left

    def _let_go(self) -> None:
        """Of an index file that somebody deleted or made anew while it was open: the next use opens
        what is there. It is not closed, since another thread may be reading it."""
        if self._file is not None and not self._file.is_there():
            self._file = None
            self._indexes = {}
            self._vectors = self._tokens = self._notebook = self._folded = None

    def mend(self, error: Exception) -> bool:
        """Did the derived rows bring this error about? Then they are thrown away, for the next
        catch-up to make again."""
        if isinstance(error, StoreDamaged):
            damaged = error.path == self.index_path
        else:  # overwritten rows may fail in any way
            damaged = not isinstance(error, CamilloError) and bool(self._problems())
        if damaged:
            self.rebuild()
        return damaged

    def refresh(self) -> int:
        """Before a search: take in what changed unless another process is at it, and finish an
        erasure that a reader had held up. Returns how many changes are left."""
        if "feed" not in self.store.capabilities:
            return 0
        self._let_go()
        if self._searches_itself and time.monotonic() - self._refreshed < LOOK_AGAIN:
            return 0  # its words are current by themselves, and each look is a way to the server
        left = self.behind()
        try:
            if left:
                with self._file.database.patience(READ_PATIENCE):
                    self.catch_up(at_most=READ_BACKLOG)
                left = self.behind()
            if self.store.unclean():
                self.scrub()
        except (StoreBusy, StoreFull):  # what is there already can be read
            pass
        self._refreshed = time.monotonic()
        return left

    @contextmanager
    def briefly(self) -> Iterator[None]:
        """For what a search does on the way: it waits a moment only for an index that another
        process writes. Raises StoreBusy."""
        if self._file is None:
            self._open_indexes()
        with self._file.database.patience(READ_PATIENCE):
            yield

    def look_through_notes(self) -> int:
        """Take in what people changed in the note files by hand; how many notes."""
        self._let_go()
        try:
            return self._look()
        except Exception as error:
            if not self.mend(error):
                raise
            return self._look()

    def _look(self) -> int:
        return self.notebook.refresh() if self.has_notes and self.notebook is not None else 0

    def behind(self) -> int:
        """How many changes the slowest index has still to take in."""
        try:
            return behind(self.store, self.indexes)
        except Exception as error:
            if not self.mend(error):
                raise
            return behind(self.store, self.indexes)

    def rebuild(self) -> None:
        """Throw away the derived rows; the next catch-up makes them again."""
        if self._file is None:
            self._open_indexes()
        self._file.rebuild()
        self._make_indexes()

    def scrub(self) -> bool:
        """After a catch-up: no byte of erased text stays in the store's or the indexes' files.
        False while another process still reads the old state."""
        if "feed" not in self.store.capabilities:
            return True
        seen = min(index.cursor() for index in self.indexes)
        swept = self.meaning.sweep() and (self.tokens is None or self.tokens.sweep())
        if not swept:  # before the log is emptied, and again if it could not
            return False
        if self.store.erased():
            try:
                self._file.compact()
            except StoreBusy:
                return False
        return bool(self._file.database.empty_log()) and self.store.scrub(seen)

    def timed(self, wrapper: Callable[[Any], Any]) -> dict[str, Any]:
        """Put a wrapper with the same shape around the store and each index, for the bench."""
        self._indexes = {index.name: wrapper(index) for index in self.indexes}
        self._store = wrapper(self.store)
        return {"store": self._store, **self._indexes}

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        if self._store is not None:
            self._store.close()

    def check_open(self) -> None:
        """Raises Refused for a folder that was closed meanwhile: nothing is made of it again."""
        if not is_open(self.root):
            raise Refused(f"{self.root.folder} is not open as {self.name!r} any more")

    def _open_indexes(self) -> None:
        self.check_open()
        self._file = registry.open_index_file(self.index_path, self.store.identity())
        self._make_indexes()

    def _make_indexes(self) -> None:
        self._vectors = self._tokens = self._notebook = self._folded = None
        rules = self._settings.closets
        self._indexes = {
            "closets": registry.load("index", "closets")(self._file, rules),
            "edges": registry.load("index", "edges")(self._file, mentions_wanted(), self.root.form),
            "aliases": registry.load("index", "aliases")(self._file),
            "outline": registry.load("index", "outline")(self._file),
        }
        if not self._searches_itself:
            lexical = registry.load("index", "lexical")(self._file)
            self._indexes = {"lexical": lexical, **self._indexes}

    def _problems(self) -> list[str]:
        """What is wrong with the derived rows."""
        found: list[str] = []
        for index in self._indexes.values():
            try:
                found += index.check().problems
            except Exception as error:  # noqa: BLE001 (a check that fails has found something)
                found.append(str(error))
        return found


def _projection_of(embedder: Embedder) -> Projection | None:
    from camillo.embed.projection import projection_of

    return projection_of(embedder)


def _folded(
    links: Sequence[Any], held: Callable[[list[Key]], list[Memory | None]]
) -> Mapping[Key, Key]:
    if not links:
        return {}
    from camillo.graph.edges import graph_of
    from camillo.graph.folding import fold

    named = {end for link in links for end in (link.source, link.target)}
    ends = sorted(named | {end._replace(session=GLOBAL) for end in named})
    return fold(graph_of(each for each in held(ends) if each and not each.archived)).newest
