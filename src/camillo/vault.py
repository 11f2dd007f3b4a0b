"""The vault: opened roots with their stores and indexes, the settings, the pipeline.

The only file that builds things: engines, indexes and stages by their registry names, from the
settings. It opens what is asked for and nothing else; decisions are left to ops and stages.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from camillo import registry
from camillo.config import (
    Settings,
    commonplace_embedder,
    load_settings,
    models_folder,
    project_root_setting,
)
from camillo.elsewhere import is_open, new_oc_root, other_roots
from camillo.errors import (
    CamilloError,
    MissingExtra,
    NotFound,
    Refused,
    StoreBusy,
    StoreFull,
    UnknownName,
)
from camillo.model import Author
from camillo.opened import OpenRoot
from camillo.records import NamedTuple
from camillo.roots import (
    Root,
    check_inside,
    commonplace_root,
    find_project_root,
    foreign_roots,
    make_root,
    project_root,
    user_root,
)
from camillo.trust import is_trusted, set_trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.ports import Embedder
    from camillo.roots import Scope

__all__ = ["OpenRoot", "Plan", "Progress", "Vault", "open_vault"]

# (done, of how many or None, what) -> shown by a surface
Progress = Callable[[int, "int | None", str], None]


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
            if not root.state:
                check_inside(root)
            made = create and make_root(root)
            if made and root.scope == "project":  # by ourselves, so it is no stranger's
                set_trust(self.root("user", create=True).store, root.folder, trusted=True)
            if not create and not root.exists():
                raise Refused(f"nothing is kept in {root.folder} yet: run `camillo init` or mine")
            self._open[name] = OpenRoot(root, self.settings, self.clock)
        return self._open[name]

    def roots(self, scope: str | None = None) -> Iterator[OpenRoot]:
        """The roots that exist, the project's first; of a scope, or the one of this name. Raises
        UnknownName."""
        there = {name for name, root in self._roots.items() if root.exists() and is_open(root)}
        if scope and scope not in (known := there | {"project", "user"}):
            raise UnknownName.of("root", scope, known)
        ranked = sorted(self._roots.items(), key=lambda item: item[1].scope != "project")
        for name, root in ranked:
            if name in there and scope in (None, root.scope, name):
                opened = self.root(name)
                with suppress(StoreBusy, StoreFull):  # what is there already can be read
                    opened.look_through_notes()
                yield opened

    def trusts(self, root: OpenRoot) -> bool:
        """May what this root holds be offered unasked? The user's own always, a project's when a
        person said so or made it here."""
        if root.scope == "user" or root.root.state:  # it lies where the user's own things lie
            return True
        users = self._roots["user"]
        return users.exists() and is_trusted(self.root("user").store, root.root.folder)

    def new_root(self, scope: Scope, form: str = "camillo") -> Root:
        """Where the root of a scope is, or is to be made: a project's at the nearest project
        folder, else at the working directory itself."""
        folder = find_project_root(self.cwd) or os.path.realpath(self.cwd)
        if form == "commonplace":
            root = commonplace_root(scope, project_root_setting() or folder)
        elif form == "oc":
            root = new_oc_root(scope, project_root_setting() or folder)
        elif scope in self._roots:
            root = self._roots[scope]
        else:
            root = Root("project", os.path.join(folder, ".camillo"))
        users = [each.folder for each in self._roots.values() if each.scope == "user"]
        if root.scope == "project" and root.folder in [*users, commonplace_root("user").folder]:
            raise Refused(f"{root.folder} is your user root: run this inside a project")
        return self._roots.setdefault(root.name, root)

    def named(self, name: str) -> Root | None:
        """The root of this name, open or not."""
        return self._roots.get(name)

    def folders(self) -> list[tuple[str, Root]]:
        """Each root by its name, open or not."""
        return list(self._roots.items())

    def project_folder(self) -> str:
        """The project that the working directory is in. Raises Refused outside of any."""
        folder = find_project_root(self.cwd)
        if folder is None:
            raise Refused(f"{self.cwd} is in no project: run `camillo init --scope project` in one")
        return folder

    def add_opened(self, name: str) -> OpenRoot:
        """The root of a folder that was opened just now."""
        for root in other_roots(self.cwd, (), self.notes):
            if root.name == name:
                self._roots[name] = root
                if former := self._open.pop(name, None):
                    former.close()
                return self.root(name)
        raise NotFound(f"no folder is open as {name!r}")

    def kept(self, root: Root) -> OpenRoot:
        """A root as it is kept, without a look at its folder, which may be gone; the caller closes
        it."""
        return OpenRoot(root, self.settings, self.clock)

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

    def look_at(self, folder: str, form: str, state: str) -> OpenRoot:
        """A folder of notes as a root that nobody keeps, with its indexes in the folder `state`;
        the caller closes it."""
        memory = self.settings.memory._replace(backend="sqlite")
        root = Root("project", folder, form, state=state)
        return OpenRoot(root, self.settings._replace(memory=memory), self.clock)

    def folder(self, scope: Scope) -> str | None:
        """Where the root of a scope is or would be."""
        root = self._roots.get(scope)
        return root.folder if root else None

    def plan(self, preset: str | None = None, *, expand: bool = False) -> Plan:
        """What answers a search: the preset that is asked for, else the settings', with its
        embedder. `default` is hybrid where token vectors are not to be had; it, and what the
        settings name, is words without an embedder; a process that would load a model for one
        question (not `warm`) answers by words, and says so, unless a preset or an embedder was
        named. `expand` follows links out of what is found."""
        from camillo.retrieval.presets import DEFAULT, EMBEDDING, stages

        name = preset or self.settings.search.preset
        notes: list[str] = []
        if name == DEFAULT:
            name = "words" if self._cold(notes) or self._lacks(notes) else self._by_meaning()
        elif not preset and name in EMBEDDING and self._lacks(notes):
            name = "words"  # a setting is a standing wish, and may be a stranger's
        built = [(each, registry.load("stage", each)) for each in stages(name, expand=expand)]
        embedder = self.embedder if name in EMBEDDING else None
        if name == "vectors" and embedder is None:
            raise MissingExtra("preset 'vectors' needs an embedder: run `camillo setup light`")
        return Plan(name, built, embedder, notes)

    def _by_meaning(self) -> str:
        """The default preset with an embedder."""
        from camillo.embed.projection import projection_of

        embedder = self.embedder
        late = embedder and self.settings.search.tokens_mb and projection_of(embedder)
        return "default" if late else "hybrid"

    def _cold(self, notes: list[str]) -> bool:
        """Would the default preset load a model for one question? Then `notes` says so."""
        if self.settings.search.embedder != "auto" or self.warm:
            return False
        notes.append("words only; --preset hybrid searches by meaning too (it loads a model first)")
        return True

    def _lacks(self, notes: list[str]) -> bool:
        """Is there no embedder? Then `notes` says why."""
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

    def has_embedder(self) -> bool:
        """Is there one? Without opening it. Raises UnknownName, MissingExtra."""
        from camillo.embed.choice import choose

        return choose(self.settings.search.embedder, models_folder()) is not None

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

    def embed(
        self,
        root: OpenRoot,
        told: Callable[[int], None] = lambda done: None,
        *,
        at_most: int | None = None,
    ) -> int:
        """Give every passage of a root its vector, or at most so many; how many are left. Nothing
        without an embedder, nor while another process is at it."""
        embedder = self.embedder
        if embedder is None or "feed" not in root.store.capabilities:
            return 0
        from camillo.embed.choice import lasting_name

        name = lasting_name(self.settings.search.embedder, models_folder())

        def go_on(done: int) -> None:
            root.check_open()  # while this goes on for minutes, it may be closed
            told(done)

        with root.lease("vectors") as mine:
            if not mine:
                return root.meaning.missing(embedder)
            from camillo.lifecycle.sidecars import sidecars_of

            sidecars = sidecars_of(root, embedder, self.settings.memory.sidecars)
            known = sidecars.known() if sidecars else embedder
            left = root.meaning.fill(root.store, known, name, at_most=at_most, told=go_on)
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
    project_config = project.config_path if project else None
    notes: list[str] = []
    try:
        settings = load_settings(user.config_path, project_config, overrides, notes)
    except CamilloError as error:
        if not lenient:
            raise
        settings = Settings()
        notes.append(f"started with the default settings: {error}")
    foreign = settings.memory.foreign
    theirs = [each for each in foreign_roots(cwd) if each.form in foreign]
    theirs += other_roots(cwd, foreign, notes)
    roots: dict[str, Root] = {}
    for root in (user, project, *theirs):
        if root:
            roots.setdefault(root.name, root)
    if settings.search.embedder == "auto" and any(r.form == "commonplace" for r in roots.values()):
        named, note = commonplace_embedder()
        settings = settings._replace(
            search=settings.search._replace(embedder=named or settings.search.embedder)
        )
        notes += [note] if note else []
    vault = Vault(cwd, settings, roots, clock)
    vault.notes += notes
    return vault
