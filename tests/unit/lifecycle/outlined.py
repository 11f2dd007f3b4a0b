"""A folder of notes with its outline, compiled as programs do that were just started."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from camillo import registry
from camillo.engines.markdown.folder import NoteFolder
from camillo.engines.sqlite import SqliteStore
from camillo.forgotten import Forgotten
from camillo.lifecycle.compile import Compiled, compile_pages
from camillo.model import Key
from camillo.notebook import Notebook
from camillo.ports import Outline
from camillo.projection import catch_up

__all__ = ["Meddler", "Tree"]


class Tree:
    """Notes in `folder`, what camillo keeps of them in `state`. Both are there."""

    def __init__(self, folder: Path, state: Path, dialect: type[Any]) -> None:
        self.folder = folder
        self.notes = NoteFolder(str(folder), dialect())
        self.store = SqliteStore(str(state / "store.db"))
        self._file = registry.open_index_file(str(state / "index.db"), self.store.identity())

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_bytes(text.encode())

    def read(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode()

    def pages(self) -> dict[str, str]:
        found = [*self.folder.glob("ROOT.md"), *self.folder.glob("**/index.md")]
        names = (path.relative_to(self.folder).as_posix() for path in found)
        return {name: self.read(name) for name in names}

    def times(self) -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in self.folder.rglob("*")}

    def look(self) -> Outline:
        """The outline, after a look through the folder."""
        files = registry.load("index", "files")(self._file)
        forgotten = partial(Forgotten, self.store, "project")
        Notebook(self.notes, self.store, files, "project", forgotten).refresh()
        outline: Outline = registry.load("index", "outline")(self._file)
        catch_up(self.store, [outline])
        return outline

    def lose_index(self) -> None:
        self._file.rebuild()

    def compile(
        self, superseded: tuple[str, ...] = (), folder: Any = None, **more: Any
    ) -> dict[str, Compiled]:
        """What became of each page."""
        gone = {Key("", "project", "", name) for name in superseded}
        more = {"scope": "project", "label": "proj", **more}
        done = compile_pages(folder or self.notes, self.look(), lambda: gone, **more)
        return {each.path: each for each in done}

    def statuses(self, **more: Any) -> dict[str, str]:
        return {path: each.status for path, each in self.compile(**more).items()}

    def close(self) -> None:
        self._file.close()
        self.store.close()


class Meddler:
    """A note folder for which something happens before each write and removal."""

    def __init__(self, folder: NoteFolder, before: Callable[[str], None]) -> None:
        self._folder = folder
        self._before = before

    def __getattr__(self, name: str) -> Any:
        return getattr(self._folder, name)

    def write(self, path: str, content: bytes, expected: bytes | None) -> Any:
        self._before(path)
        return self._folder.write(path, content, expected)

    def remove(self, path: str, expected: bytes) -> None:
        self._before(path)
        self._folder.remove(path, expected)
