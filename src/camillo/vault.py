"""The vault: opened roots with their stores and indexes, the settings, the pipeline.

The only file that builds things: engines, indexes and stages by their registry names, from the
settings. It opens what is asked for and nothing else; decisions are left to ops and stages.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from camillo import registry
from camillo.config import (
    Settings,
    commonplace_embedder,
    load_settings,
    mentions_wanted,
    models_folder,
    project_root_setting,
)
from camillo.errors import (
    CamilloError,
    InvalidValue,
    MissingExtra,
    Refused,
    StoreBusy,
    StoreDamaged,
    StoreFull,
)
from camillo.leases import lock_file
from camillo.model import GLOBAL, NOT_NOTES, Author, Filter
from camillo.projection import behind, catch_up
from camillo.records import NamedTuple
from camillo.roots import (
    Root,
    check_inside,
    commonplace_root,
    find_project_root,
    foreign_roots,
    keep_out_of_git,
    make_root,
    may_hold_notes,
    project_root,
    user_root,
)
from camillo.trust import is_trusted, set_trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.model import Key, Memory
    from camillo.notebook import Notebook
    from camillo.ports import Embedder, Meaning, Store, Words
    from camillo.roots import Scope

__all__ = ["OpenRoot", "Plan", "Progress", "Vault", "open_vault"]

# (done, of how many or None, what) -> shown by a surface
Progress = Callable[[int, "int | None", str], None]

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
        if not getattr(engine, "remote", False):
            if self.root.form != "camillo":
                keep_out_of_git(self.root)
            return engine(self.root.store_path, clock=self._clock)  # type: ignore[no-any-return]
        if not memory.dsn:
            raise InvalidValue(
                f"memory.backend = {memory.backend!r} needs the address of its server: "
                "set memory.dsn or CAMILLO_DSN"
            )
        return engine(  # type: ignore[no-any-return]
            memory.dsn, clock=self._clock, space=self.root.space
        )

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
            self._vectors = registry.load("index", "vectors")(self._file, by)
        return self._vectors

    @property
    def has_notes(self) -> bool:
        """Are notes files here, and may there be any?"""
        if self._settings.memory.notes != "markdown" or not self.root.folder:
            return False
        return self._notebook is not None or may_hold_notes(self.root.folder) or self._had_notes()

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
            from camillo.forgotten import Forgotten
            from camillo.notebook import Notebook

            if self._file is None:
                self._open_indexes()
            folder = registry.open_note_folder(self.root.form, self.root.folder, self.root.writable)
            files = registry.load("index", "files")(self._file)
            self._notebook = Notebook(
                folder, self.store, files, self.scope, partial(Forgotten, self.store, self.scope)
            )
        return self._notebook

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
            self._vectors = self._notebook = self._folded = None

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
        if not self.meaning.sweep():  # before the log is emptied, and again if it could not
            return False
        if self.store.erased():
            try:
                self._file.database.compact()
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

    def _open_indexes(self) -> None:
        self._file = registry.open_index_file(self.index_path, self.store.identity())
        self._make_indexes()

    def _make_indexes(self) -> None:
        self._vectors = self._notebook = self._folded = None
        rules = self._settings.closets
        self._indexes = {
            "closets": registry.load("index", "closets")(self._file, rules),
            "edges": registry.load("index", "edges")(self._file, mentions_wanted()),
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


class Plan(NamedTuple):
    """How a search is answered; `notes` say what was asked for and is missing."""

    preset: str
    stages: list[tuple[str, Any]]
    embedder: Embedder | None
    notes: list[str]


class Vault:
    """The library's handle. A context manager; closing it closes every file."""

    def __init__(
        self,
        cwd: str,
        settings: Settings,
        roots: Mapping[str, Root],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.cwd = cwd
        self.settings = settings
        self.clock = clock
        self.author = Author()
        self.progress: Progress = lambda done, total, what: None
        self.notice: Callable[[str], None] = lambda text: None
        self.notes: list[str] = []  # what every report has to say, as settings that were left out
        self.warm = True  # may this process load a model for a search?
        self.attended = False  # does a person wait and see the progress of long work?
        self.later: Callable[[list[str]], None] | None = None  # starts a command in the background
        self._embedders: list[Embedder | None] = []
        self._reopened: dict[str, Embedder | None] = {}
        self._roots = dict(roots)  # by name
        self._open: dict[str, OpenRoot] = {}
        self._scratch: list[OpenRoot] = []

    def root(self, name: str, *, create: bool = False) -> OpenRoot:
        """The root of a scope, or with another name of `roots`. `create` makes its folder; without
        it a missing one is an error that says how to make it."""
        if name not in self._open:
            root = self._roots.get(name)
            if root is None:
                raise Refused(
                    f"{self.cwd} is in no project: run `camillo init --scope project` in one, "
                    "or use --scope user"
                )
            check_inside(root)
            made = create and make_root(root)
            if made and root.scope == "project":  # by ourselves, so it is no stranger's
                set_trust(self.root("user", create=True).store, root.folder, trusted=True)
            if not create and not root.exists():
                raise Refused(f"nothing is kept in {root.folder} yet: run `camillo init` or mine")
            self._open[name] = OpenRoot(root, self.settings, self.clock)
        return self._open[name]

    def roots(self, scope: Scope | None = None) -> Iterator[OpenRoot]:
        """The roots that exist, the project's first."""
        ranked = sorted(self._roots.items(), key=lambda item: item[1].scope != "project")
        for name, root in ranked:
            if root.exists() and scope in (None, root.scope):
                opened = self.root(name)
                with suppress(StoreBusy, StoreFull):  # what is there already can be read
                    opened.look_through_notes()
                yield opened

    def trusts(self, root: OpenRoot) -> bool:
        """May what this root holds be offered unasked? The user's own always, a project's when a
        person said so or made it here."""
        if root.scope == "user":
            return True
        users = self._roots["user"]
        return users.exists() and is_trusted(self.root("user").store, root.root.folder)

    def new_root(self, scope: Scope, form: str = "camillo") -> Root:
        """Where the root of a scope is, or is to be made: a project's at the nearest project
        folder, else at the working directory itself."""
        folder = find_project_root(self.cwd) or os.path.realpath(self.cwd)
        if form == "commonplace":
            root = commonplace_root(scope, project_root_setting() or folder)
        elif scope in self._roots:
            root = self._roots[scope]
        else:
            root = Root("project", os.path.join(folder, ".camillo"))
        users = [each.folder for each in self._roots.values() if each.scope == "user"]
        if root.scope == "project" and root.folder in [*users, commonplace_root("user").folder]:
            raise Refused(f"{root.folder} is your user root: run this inside a project")
        return self._roots.setdefault(root.name, root)

    def scratch(self, folder: str = "", scope: Scope = "user") -> OpenRoot:
        """A root that nobody keeps: in `folder`, or without one in memory and without indexes."""
        if folder:  # never the user's own server
            backend = "sqlite"
        else:
            backend = "memory"
        memory = self.settings.memory._replace(backend=backend)
        root = OpenRoot(Root(scope, folder), self.settings._replace(memory=memory), self.clock)
        self._scratch.append(root)
        return root

    def folder(self, scope: Scope) -> str | None:
        """Where the root of a scope is or would be."""
        root = self._roots.get(scope)
        return root.folder if root else None

    def plan(self, preset: str | None = None, *, expand: bool = False) -> Plan:
        """What answers a search: the preset that is asked for, else the settings', with its
        embedder. `default` is hybrid with an embedder and words without; a process that would load
        a model for one question (not `warm`) answers by words, and says so, unless a preset or an
        embedder was named. `expand` follows links out of what is found."""
        from camillo.retrieval.presets import DEFAULT, EMBEDDING, stages

        name = preset or self.settings.search.preset
        notes: list[str] = []
        if name == DEFAULT:
            name = "words" if self._words_only(notes) else "hybrid"
        built = [(each, registry.load("stage", each)) for each in stages(name, expand=expand)]
        embedder = self.embedder if name in EMBEDDING else None
        if name == "vectors" and embedder is None:
            raise MissingExtra("preset 'vectors' needs an embedder: run `camillo setup light`")
        return Plan(name, built, embedder, notes)

    def _words_only(self, notes: list[str]) -> bool:
        """Is there no embedder for the default preset? Then `notes` says why."""
        named = self.settings.search.embedder
        if named == "auto" and not self.warm:
            notes.append(
                "words only; --preset hybrid searches by meaning too (it loads a model first)"
            )
            return True
        try:
            missing = self.embedder is None
        except MissingExtra as error:
            notes.append(f"words only: {error}")
            return True
        if missing:
            notes.append("words only: no embedder")
        return missing

    @property
    def embedder(self) -> Embedder | None:
        """The embedder that the settings name, opened once; None for words only."""
        if not self._embedders:
            self._embedders.append(self.open_embedder(self.settings.search.embedder))
        return self._embedders[0]

    def open_embedder(self, name: str) -> Embedder | None:
        """Raises UnknownName, MissingExtra."""
        from camillo.embed.choice import open_embedder

        return open_embedder(name, models_folder())

    def reopen_embedder(self, name: str) -> Embedder | None:
        """The embedder that made vectors once; None when it is not here any more."""
        if name not in self._reopened:
            try:
                self._reopened[name] = self.open_embedder(name)
            except CamilloError:
                self._reopened[name] = None
        return self._reopened[name]

    def embed(self, root: OpenRoot, told: Callable[[int], None] = lambda done: None) -> int:
        """Give every passage of a root its vector; how many are left. Nothing without an embedder,
        nor while another process is at it."""
        embedder = self.embedder
        if embedder is None or "feed" not in root.store.capabilities:
            return 0
        from camillo.embed.choice import lasting_name

        name = lasting_name(self.settings.search.embedder, models_folder())
        with root.lease("vectors") as mine:
            if not mine:
                return root.meaning.missing(embedder)
            from camillo.lifecycle.sidecars import sidecars_of

            sidecars = sidecars_of(root, embedder, self.settings.memory.sidecars)
            known = sidecars.known() if sidecars else embedder
            left = root.meaning.fill(root.store, known, name, told=told)
            if sidecars:
                sidecars.refresh()
            return left

    def close(self) -> None:
        for root in (*self._open.values(), *self._scratch):
            root.close()
        self._open.clear()
        self._scratch.clear()

    def __enter__(self) -> Vault:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def open_vault(
    cwd: str | None = None,
    overrides: Mapping[str, str] | None = None,
    *,
    clock: Callable[[], float] = time.time,
    lenient: bool = False,
) -> Vault:
    """A vault for the working directory: its project's root, if it has one, and the user's.

    `overrides` are settings by key (`search.k` → `"20"`). `lenient` (servers, hooks) starts with
    the defaults where a setting is wrong, instead of raising.
    """
    try:
        cwd = cwd or os.getcwd()
    except FileNotFoundError as error:
        raise Refused("the working directory is gone: change to one that exists") from error
    user = user_root()
    project = project_root(cwd)
    roots = {root.name: root for root in (user, project, *foreign_roots(cwd)) if root}
    project_config = project.config_path if project else None
    notes: list[str] = []
    try:
        settings = load_settings(user.config_path, project_config, overrides, notes)
    except CamilloError as error:
        if not lenient:
            raise
        settings = Settings()
        notes.append(f"started with the default settings: {error}")
    if settings.search.embedder == "auto" and any(r.form == "commonplace" for r in roots.values()):
        named, note = commonplace_embedder()
        settings = settings._replace(
            search=settings.search._replace(embedder=named or settings.search.embedder)
        )
        notes += [note] if note else []
    vault = Vault(cwd, settings, roots, clock)
    vault.notes += notes
    return vault
