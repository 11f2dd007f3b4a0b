"""The vault: opened roots with their stores and indexes, the settings, the pipeline.

The only file that builds things: engines, indexes and stages by their registry names, from the
settings. It opens what is asked for and nothing else; decisions are left to ops and stages.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from camillo import registry
from camillo.config import Settings, load_settings
from camillo.errors import CamilloError, Refused, StoreDamaged
from camillo.model import Author
from camillo.projection import behind, catch_up
from camillo.roots import Root, Scope, find_project_root, make_root, project_root, user_root

if TYPE_CHECKING:
    from camillo.ports import Store

__all__ = ["OpenRoot", "Progress", "Vault", "open_vault"]

# (done, of how many or None, what) -> shown by a surface
Progress = Callable[[int, "int | None", str], None]

# What a search takes in before it answers; a longer backlog is reported and left to its writer.
READ_BACKLOG = 2000


class OpenRoot:
    """One root with its store and the indexes that hang on it. Opened on first use."""

    def __init__(self, root: Root, settings: Settings, clock: Callable[[], float]) -> None:
        self.root = root
        self._settings = settings
        self._clock = clock
        self._store: Store | None = None
        self._file: Any = None
        self._indexes: dict[str, Any] = {}

    @property
    def scope(self) -> Scope:
        return self.root.scope

    @property
    def store(self) -> Store:
        if self._store is None:
            engine = registry.load("engine", self._settings.memory.backend)
            self._store = engine(self.root.store_path, clock=self._clock)
        return self._store

    @property
    def indexes(self) -> list[Any]:
        """The indexes of this root, opened; `lexical` and `closets`."""
        if not self._indexes:
            self._open_indexes()
        return list(self._indexes.values())

    @property
    def lexical(self) -> Any:
        return self.indexes and self._indexes["lexical"]

    @property
    def closets(self) -> Any:
        return self.indexes and self._indexes["closets"]

    def catch_up(
        self, *, at_most: int | None = None, told: Callable[[int], None] = lambda taken: None
    ) -> int:
        """Take in what changed; how many changes are left. A damaged index is built anew."""
        if "feed" not in self.store.capabilities:
            return 0
        try:
            return catch_up(self.store, self.indexes, at_most=at_most, told=told)
        except StoreDamaged:
            if self.store.health().problems:
                raise
            self.rebuild()
            return catch_up(self.store, self.indexes, told=told)

    def behind(self) -> int:
        return behind(self.store, self.indexes)

    def rebuild(self) -> None:
        """Throw away the derived rows; the next catch-up makes them again."""
        if not self._indexes:
            self._open_indexes()
        self._file.rebuild()

    def scrub(self) -> bool:
        """After a catch-up: no byte of erased text stays in the store's or the indexes' files.
        False while another process still reads the old state."""
        if "feed" not in self.store.capabilities:
            return True
        seen = min(index.cursor() for index in self.indexes)
        return self.store.scrub(seen) & self._file.database.empty_log()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        if self._store is not None:
            self._store.close()

    def _open_indexes(self) -> None:
        self._file = registry.open_index_file(self.root.index_path, self.store.identity())
        rules = self._settings.closets
        self._indexes = {
            "lexical": registry.load("index", "lexical")(self._file),
            "closets": registry.load("index", "closets")(self._file, rules),
        }


class Vault:
    """The library's handle. A context manager; closing it closes every file."""

    def __init__(
        self,
        cwd: str,
        settings: Settings,
        roots: Mapping[Scope, Root],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.cwd = cwd
        self.settings = settings
        self.clock = clock
        self.author = Author()
        self.progress: Progress = lambda done, total, what: None
        self._roots = dict(roots)
        self._open: dict[Scope, OpenRoot] = {}

    def root(self, scope: Scope, *, create: bool = False) -> OpenRoot:
        """The root of a scope. `create` makes its folder; without it a missing one is an error
        that says how to make it."""
        if scope not in self._open:
            root = self._roots.get(scope)
            if root is None:
                raise Refused(
                    f"{self.cwd} is in no project: run `camillo init --scope project` in one, "
                    "or use --scope user"
                )
            if create:
                make_root(root)
            elif not root.exists():
                raise Refused(f"nothing is kept in {root.folder} yet: run `camillo init` or mine")
            self._open[scope] = OpenRoot(root, self.settings, self.clock)
        return self._open[scope]

    def roots(self, scope: Scope | None = None) -> Iterator[OpenRoot]:
        """The roots that exist, the project's first."""
        for name in ("project", "user"):
            root = self._roots.get(name)  # type: ignore[call-overload]
            if root is not None and root.exists() and scope in (None, name):
                yield self.root(name)  # type: ignore[arg-type]

    def folder(self, scope: Scope) -> str | None:
        """Where the root of a scope is or would be."""
        root = self._roots.get(scope)
        return root.folder if root else None

    def pipeline(self, preset: str | None = None) -> list[tuple[str, Any]]:
        """The stages of a preset, in order: (name, callable)."""
        from camillo.retrieval.presets import stages

        return [(name, registry.load("stage", name)) for name in stages(preset, self.settings)]

    def close(self) -> None:
        for root in self._open.values():
            root.close()
        self._open.clear()

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
    cwd = cwd or os.getcwd()
    user = user_root()
    project = project_root(cwd)
    roots: dict[Scope, Root] = {"user": user}
    if project:
        roots["project"] = project
    project_config = project.config_path if project else None
    try:
        settings = load_settings(user.config_path, project_config, overrides)
    except CamilloError:
        if not lenient:
            raise
        settings = Settings()
    return Vault(cwd, settings, roots, clock)


def project_here(cwd: str) -> Root:
    """The project root that `init` makes: at the nearest project folder, else at `cwd` itself."""
    folder = find_project_root(cwd) or os.path.realpath(cwd)
    return Root("project", os.path.join(folder, ".camillo"))
