"""Settings: what they are called, what they may be, where they come from.

Format owned: config.toml.

Defaults, then the user root's `config.toml`, then the project root's (only tables that can point
nowhere outside it), then CAMILLO_* variables, then `--config KEY=VALUE`. This is the only file that
reads the environment.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping

from camillo.errors import InvalidValue, UnknownName
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

__all__ = [
    "PRESETS",
    "ClosetSettings",
    "MemorySettings",
    "MineSettings",
    "OutlineSettings",
    "SearchSettings",
    "Settings",
    "child_environment",
    "claude_folder",
    "color_wanted",
    "commonplace_embedder",
    "commonplace_project_root",
    "commonplace_user_root",
    "debug",
    "environment",
    "load_settings",
    "mentions_wanted",
    "models_folder",
    "one_thread_for_new_libraries",
    "opencode_folder",
    "project_root_setting",
    "read_toml",
    "user_root",
]


class MemorySettings(NamedTuple):
    """[memory]: which engines hold what is written."""

    backend: str = "sqlite"  # engine of the drawers
    notes: str = "markdown"  # of the notes: files, or the same engine as the drawers
    dsn: str = ""  # address of a server engine
    spaces: Mapping[str, str] = {}  # folder of a root, or of its project -> its part of the server
    sidecars: str = "auto"  # vectors beside commonplace notes: auto, write, off
    foreign: tuple[str, ...] = ("claude", "commonplace", "oc")  # whose folders open by themselves


class MineSettings(NamedTuple):
    """[mine]: how sources become drawers."""

    preset: str = "camillo"  # camillo, palace (the constants of MemPalace)
    chunk_chars: int = 800
    overlap_chars: int = 0
    max_bytes: int = 500_000_000  # a larger file is skipped and listed
    max_chunks: int = 50_000  # a file with more is skipped and listed; 0 = no cap
    gitignore: bool = True
    include: tuple[str, ...] = ()  # patterns that are mined although something ignores them
    exclude: tuple[str, ...] = ()
    wings: Mapping[str, str] = {}  # folder pattern -> wing
    rooms: Mapping[str, str] = {}  # path pattern -> room


class ClosetSettings(NamedTuple):
    """[closets]: how a source becomes pointer lines."""

    topics: int = 12
    quotes: int = 3
    entities: int = 5
    ids_per_line: int = 3
    closet_chars: int = 1500
    window: int = 0  # characters of a source that are read for topics; 0 = all
    definitions: bool = True  # also names that source code defines


class SearchSettings(NamedTuple):
    """[search]: how memories are found."""

    preset: str = "default"
    k: int = 10
    embedder: str = "auto"
    vectors: str = "auto"  # scan, fast; auto: fast where it is installed and the store is large
    tokens_mb: int = 256  # token vectors of a root, for late interaction; 0 = none
    closet_boost: bool = True


class OutlineSettings(NamedTuple):
    """[outline]: the pages that say what notes there are."""

    compile: str = "auto"  # auto: after each write where ROOT.md has our regions; off
    language: str = "auto"  # of what is generated: auto, en, zh


class Settings(NamedTuple):
    memory: MemorySettings = MemorySettings()
    mine: MineSettings = MineSettings()
    closets: ClosetSettings = ClosetSettings()
    search: SearchSettings = SearchSettings()
    outline: OutlineSettings = OutlineSettings()

    def rules(self) -> str:
        """The settings that shape drawers and closets, as one short string: a source that was
        mined under another string is mined again."""
        mine, closets = self.mine, self.closets
        return (
            f"chunk {mine.chunk_chars}/{mine.overlap_chars} closet "
            f"{closets.topics}/{closets.quotes}/{closets.entities}/{closets.ids_per_line}/"
            f"{closets.closet_chars}/{closets.window}/{int(closets.definitions)}"
        )


_THREADS = (
    "BLIS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
PRESETS = ("default", "hybrid", "vectors", "words")  # of retrieval, which lists their stages

_LARGEST = 1_000_000  # bytes of a config.toml
_DOTS = 2000  # in it: the parser takes the square of the parts of a key, in time and in memory
_LONGEST = 100  # characters of a value in an error
_TABLES = {"memory", "mine", "closets", "search", "outline"}
# A project's own config may shape what is found in it, not where memories go.
_PROJECT_TABLES = {"mine", "closets", "search", "outline"}
_EMBEDDERS = frozenset({"auto", "e5", "hashing", "light", "none"})  # built in
_FOREIGN = ("claude", "commonplace", "oc")
_CHOICES = (
    ("memory.sidecars", ("auto", "off", "write")),
    ("mine.preset", ("camillo", "palace")),
    ("outline.compile", ("auto", "off")),
    ("outline.language", ("auto", "en", "zh")),
    ("search.preset", PRESETS),
    ("search.vectors", ("auto", "fast", "scan")),
)
_BOUNDS = (  # of numbers: the least and the most
    ("mine.chunk_chars", 1, 1_000_000),
    ("mine.overlap_chars", 0, 500_000),
    ("mine.max_bytes", 0, 1_000_000_000_000),
    ("mine.max_chunks", 0, 1_000_000_000),
    ("closets.topics", 0, 1000),
    ("closets.quotes", 0, 1000),
    ("closets.entities", 0, 1000),
    ("closets.ids_per_line", 1, 1000),
    ("closets.closet_chars", 1, 1_000_000),
    ("closets.window", 0, 1_000_000_000_000),
    ("search.k", 1, 1000),
    ("search.tokens_mb", 0, 1_000_000),
)
_PALACE: dict[str, dict[str, Any]] = {
    "mine": {"overlap_chars": 100},
    "closets": {"window": 5000, "definitions": False},
}


def load_settings(
    user_config: str,
    project_config: str | None = None,
    overrides: Mapping[str, str] | None = None,
    notes: list[str] | None = None,
) -> Settings:
    """Settings from the files that exist, the environment and the overrides (`search.k` → `"20"`).

    Raises UnknownName naming the nearest for a key that does not exist, InvalidValue for a value
    of the wrong type or range. A project's config comes with the project, perhaps from a stranger:
    where it is wrong or sets what is not its own, it is left out whole, and `notes` says so.
    """
    tables: dict[str, dict[str, Any]] = {}
    _merge(tables, read_toml(user_config), user_config, _TABLES)
    if project_config:
        _merge_project(tables, project_config, notes if notes is not None else [])
    for key, text in {**_from_environment(), **(overrides or {})}.items():
        table, _, name = key.partition(".")
        _merge(tables, {table: {name: text}}, f"--config {key}", _TABLES)
    return _applied(tables)


def _applied(tables: Mapping[str, Mapping[str, Any]]) -> Settings:
    """The defaults with these values; raises InvalidValue for one that is out of range."""
    if tables.get("mine", {}).get("preset") == "palace":
        tables = {t: {**_PALACE.get(t, {}), **tables.get(t, {})} for t in _TABLES}
    settings = Settings()
    for table, values in tables.items():
        group = getattr(settings, table)
        settings = settings._replace(**{table: group._replace(**values)})
    _check(settings)
    return settings


def _merge_project(into: dict[str, dict[str, Any]], path: str, notes: list[str]) -> None:
    theirs: dict[str, dict[str, Any]] = {}
    try:
        if os.path.islink(path):
            raise InvalidValue(f"{path} is a link, and a project's settings must lie in it")
        _merge(theirs, read_toml(path), path, _PROJECT_TABLES)
        _applied({table: {**into.get(table, {}), **theirs.get(table, {})} for table in _TABLES})
    except InvalidValue as error:
        notes.append(f"the project's settings are left out: {error}")
        return
    for table, values in theirs.items():
        into.setdefault(table, {}).update(values)


def user_root() -> str:
    return os.environ.get("CAMILLO_USER_DIR") or os.path.join(_home(), ".camillo")


def project_root_setting() -> str:
    """CAMILLO_PROJECT_DIR, or "" when the project is to be found from the working directory."""
    return os.environ.get("CAMILLO_PROJECT_DIR", "")


def commonplace_user_root() -> str:
    """Where commonplace keeps a person's notes."""
    named = os.environ.get("COMMONPLACE_USER_DIR") or os.environ.get("COMMONPLACE_MEMORY_DIR")
    return named or os.path.join(_home(), ".commonplace", "memory")


def commonplace_project_root() -> str:
    """Where it is told to keep a project's, or ""."""
    return os.environ.get("COMMONPLACE_PROJECT_DIR", "")


def opencode_folder() -> str:
    """Where opencode keeps what is the person's."""
    named = os.environ.get("OPENCODE_CONFIG_DIR")
    above = os.environ.get("XDG_CONFIG_HOME") or os.path.join(_home(), ".config")
    return os.path.abspath(named or os.path.join(above, "opencode"))


def claude_folder() -> str:
    """Where Claude Code does."""
    return os.path.abspath(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(_home(), ".claude"))


def commonplace_embedder() -> tuple[str, str]:
    """The embedder that commonplace's variables name, and what is to be said about it. ("", "")
    where they name none, or ours do."""
    named = os.environ.get("COMMONPLACE_MODEL") or os.environ.get("COMMONPLACE_MODEL_ID") or ""
    if not named or os.environ.get("CAMILLO_EMBEDDER"):
        return "", ""
    if named in _EMBEDDERS or os.path.isdir(named):
        return named, ""
    folder = os.path.join(models_folder(), named.rpartition("/")[2])
    if ".." not in named and os.path.isdir(folder):
        return folder, ""
    return "", f"COMMONPLACE_MODEL is {named!r}, which is not in {models_folder()}: not used"


def mentions_wanted() -> bool:
    """Are `[[names]]` in a text links? Only the exact word switches them off."""
    return os.environ.get("COMMONPLACE_EXTRACT_MENTIONS") != "false"


def models_folder() -> str:
    return os.environ.get("CAMILLO_MODELS") or os.path.join(_home(), ".cache", "camillo", "models")


def child_environment(**changes: str) -> dict[str, str]:
    """This process's environment for a child, with changes."""
    return {**os.environ, **changes}


def environment() -> Mapping[str, str]:
    """For what reads other programs' variables (git's); nothing else may."""
    return os.environ


def one_thread_for_new_libraries() -> AbstractContextManager[None]:
    """While it lasts, a linear algebra library that is loaded makes no threads of its own."""
    from contextlib import contextmanager

    @contextmanager
    def limited() -> Iterator[None]:
        held = {name: os.environ.get(name) for name in _THREADS}
        os.environ.update(dict.fromkeys(_THREADS, "1"))
        try:
            yield
        finally:
            for name, value in held.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    return limited()


def debug() -> bool:
    return os.environ.get("CAMILLO_DEBUG", "") not in ("", "0")


def color_wanted() -> bool:
    """May colours be used on a terminal? (https://no-color.org)"""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _home() -> str:
    return os.path.expanduser("~")


def _from_environment() -> dict[str, str]:
    variables = {
        "CAMILLO_DSN": "memory.dsn",
        "CAMILLO_BACKEND": "memory.backend",
        "CAMILLO_EMBEDDER": "search.embedder",
        "CAMILLO_PRESET": "search.preset",
    }
    return {key: os.environ[name] for name, key in variables.items() if os.environ.get(name)}


def read_toml(path: str) -> dict[str, Any]:
    """{} where there is no such file. Raises InvalidValue for what is none of TOML."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode) or os.path.getsize(path) > _LARGEST:
            raise InvalidValue(f"{path} must be an ordinary file of at most {_LARGEST} bytes")
        with open(path, "rb") as file:
            content = file.read()
        if content.count(b".") > _DOTS:
            raise InvalidValue(f"{path} holds more than {_DOTS} dots, too many for settings")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise InvalidValue(f"{path} cannot be read: {error.strerror}") from error
    import tomllib

    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except RecursionError:
        raise InvalidValue(f"{path} is nested too deeply to be read") from None
    except ValueError as error:  # TOMLDecodeError, UnicodeDecodeError, a number of 5,000 digits
        raise InvalidValue(f"{path} is not valid TOML: {_cut(str(error))}") from error


def _merge(
    into: dict[str, dict[str, Any]], read: Mapping[str, Any], where: str, allowed: set[str]
) -> None:
    for table, values in read.items():
        if table not in _TABLES:
            raise UnknownName.of(f"setting (in {where})", table[:_LONGEST], _keys())
        if table not in allowed:
            raise InvalidValue(
                f"{where}: [{table}] is not a project's to set; put it into the user root's config"
            )
        if not isinstance(values, Mapping):
            raise InvalidValue(f"{where}: {table} must be a table, [{table}]")
        group = getattr(Settings(), table)
        types = group._asdict()
        for name, value in values.items():
            if name not in types:
                key = f"{table}.{name}"[:_LONGEST]
                raise UnknownName.of(f"setting (in {where})", key, _keys())
            parsed = _parsed(f"{table}.{name}", value, types[name])
            if allowed is _PROJECT_TABLES:
                _check_project(where, name, parsed)
            into.setdefault(table, {})[name] = parsed


def _check_project(where: str, name: str, value: Any) -> None:
    """A clone may not ask for the secrets that lie in it, nor for files outside of it, nor for what
    another machine has not."""
    if name == "include":
        raise InvalidValue(
            f"{where}: mine.include is not a project's to set, since it lets secrets in; "
            "put it into the user root's config"
        )
    if name == "vectors" and value == "fast":
        raise InvalidValue(
            f"{where}: a project cannot ask for 'fast', which is not everywhere; 'auto' takes it "
            "where it is"
        )
    if name == "embedder" and value not in _EMBEDDERS:
        raise InvalidValue(
            f"{where}: a project cannot name a model folder, here {_shown(value)}; "
            f"known: {', '.join(sorted(_EMBEDDERS))}"
        )


def _parsed(key: str, value: Any, default: Any) -> Any:
    """`value` as the type that the default has; text is read as the command line writes it."""
    if isinstance(default, bool):
        words = {"true": True, "yes": True, "on": True, "1": True}
        words |= {"false": False, "no": False, "off": False, "0": False}
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in words:
            return words[value.lower()]
        raise InvalidValue(f"{key} must be true or false, not {_shown(value)}")
    if isinstance(default, int):
        try:
            if isinstance(value, (int, str)) and not isinstance(value, bool):
                return int(value)
        except ValueError:
            pass
        raise InvalidValue(f"{key} must be a whole number, not {_shown(value)}")
    if isinstance(default, tuple):
        items = value.split(",") if isinstance(value, str) else value
        if isinstance(items, list) and all(isinstance(item, str) for item in items):
            return tuple(item.strip() for item in items if item.strip())
        raise InvalidValue(f"{key} must be a list of strings, not {_shown(value)}")
    if isinstance(default, Mapping):
        if isinstance(value, Mapping) and all(isinstance(v, str) for v in value.values()):
            return dict(value)
        raise InvalidValue(f"{key} must be a table of pattern = name, not {_shown(value)}")
    if not isinstance(value, str):
        raise InvalidValue(f"{key} must be text, not {_shown(value)}")
    return value


def _shown(value: object) -> str:
    """A value in an error, however large."""
    try:
        return _cut(repr(value))
    except (ValueError, RecursionError):  # a number, or a list in a list, that no text can show
        return "one that is too large to be shown"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _value(settings: Settings, key: str) -> Any:
    table, _, name = key.partition(".")
    return getattr(getattr(settings, table), name)


def _keys() -> list[str]:
    settings = Settings()
    return [f"{t}.{name}" for t in sorted(_TABLES) for name in getattr(settings, t)._fields]


def _check(settings: Settings) -> None:
    mine, memory = settings.mine, settings.memory
    for key, known in _CHOICES:
        if (chosen := _value(settings, key)) not in known:
            raise UnknownName.of(key, chosen[:_LONGEST], known)
    for folder, space in memory.spaces.items():
        if not (space.isascii() and space.isidentifier() and space.islower() and len(space) <= 50):
            raise InvalidValue(
                f"memory.spaces: {_shown(space)} for {_shown(folder)} is no name of a space: "
                "lower-case letters a to z, digits and '_', at most 50"
            )
    for form in memory.foreign:
        if form not in _FOREIGN:
            raise UnknownName.of("memory.foreign", form, _FOREIGN)
    if memory.notes not in ("markdown", memory.backend):
        raise InvalidValue(
            f"memory.notes must be 'markdown' or the engine of the drawers, {memory.backend!r}; "
            f"not {memory.notes!r}"
        )
    for key, least, most in _BOUNDS:
        value = _value(settings, key)
        if not least <= value <= most:
            bound = f"at least {least}" if value < least else f"at most {most}"
            raise InvalidValue(f"{key} must be {bound}, not {_shown(value)}")
    if mine.overlap_chars > mine.chunk_chars // 2:
        raise InvalidValue(
            f"mine.overlap_chars must be at most half of mine.chunk_chars "
            f"({mine.chunk_chars // 2}), not {mine.overlap_chars}"
        )
