"""Settings: where they come from, what they may be, what an error says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from camillo import config
from camillo.config import Settings, load_settings
from camillo.errors import InvalidValue, UnknownName
from camillo.retrieval import presets

KEYS: list[tuple[str, Any]] = [
    (f"{table}.{name}", value)
    for table, group in Settings()._asdict().items()
    for name, value in group._asdict().items()
]


def _load(tmp_path: Path, text: str = "", **overrides: str) -> Settings:
    path = tmp_path / "config.toml"
    path.write_text(text, "utf-8")
    given = {key.replace("__", "."): value for key, value in overrides.items()}
    return load_settings(str(path), None, given)


def test_without_a_file_they_are_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CAMILLO_EMBEDDER")
    monkeypatch.delenv("CAMILLO_PRESET")
    assert load_settings(str(tmp_path / "none.toml")) == Settings()


def test_a_file_beats_the_defaults_and_an_option_beats_the_file(tmp_path: Path) -> None:
    text = "[mine]\nchunk_chars = 400\nmax_chunks = 9\n"
    settings = _load(tmp_path, text, mine__chunk_chars="500")
    assert (settings.mine.chunk_chars, settings.mine.max_chunks) == (500, 9)


def test_the_environment_beats_the_file_and_an_option_beats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAMILLO_BACKEND", "memory")
    assert _load(tmp_path, '[memory]\nbackend = "none"\n').memory.backend == "memory"
    assert _load(tmp_path, memory__backend="sqlite").memory.backend == "sqlite"


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("Yes", True), ("on", True), ("0", False), ("no", False), ("OFF", False)],
)
def test_a_switch_is_written_in_words(tmp_path: Path, text: str, value: bool) -> None:
    assert _load(tmp_path, mine__gitignore=text).mine.gitignore is value


def test_a_list_is_written_with_commas_or_as_a_list(tmp_path: Path) -> None:
    assert _load(tmp_path, mine__exclude="*.log, tmp/").mine.exclude == ("*.log", "tmp/")
    assert _load(tmp_path, '[mine]\nexclude = ["*.log"]\n').mine.exclude == ("*.log",)


def test_rooms_are_a_table(tmp_path: Path) -> None:
    settings = _load(tmp_path, '[mine.rooms]\n"docs/*" = "writing"\n')
    assert settings.mine.rooms == {"docs/*": "writing"}


@pytest.mark.promise(25)
@pytest.mark.parametrize("key", [key for key, _ in KEYS])
def test_a_misspelt_key_is_told_the_right_one(tmp_path: Path, key: str) -> None:
    table, name = key.split(".")
    with pytest.raises(UnknownName, match=f"did you mean '{key}'"):
        _load(tmp_path, f"[{table}]\n{name}x = 1\n")


@pytest.mark.promise(25)
def test_a_misspelt_table_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="known: "):
        _load(tmp_path, "[minne]\nchunk_chars = 1\n")


@pytest.mark.parametrize(("key", "value"), KEYS)
def test_a_value_of_the_wrong_type_is_named(tmp_path: Path, key: str, value: Any) -> None:
    table, name = key.split(".")
    wrong = "[1]" if isinstance(value, str | int) else "1.5"
    with pytest.raises(InvalidValue, match=key.replace(".", r"\.")):
        _load(tmp_path, f"[{table}]\n{name} = {wrong}\n")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mine.chunk_chars", "0"),
        ("mine.overlap_chars", "-1"),
        ("mine.overlap_chars", "401"),
        ("mine.preset", "temple"),
        ("closets.closet_chars", "0"),
        ("closets.ids_per_line", "0"),
        ("search.k", "0"),
        ("search.k", "1001"),
        ("search.k", "ten"),
        ("search.k", "9" * 5000),
        ("search.preset", "bogus"),
        ("mine.max_bytes", "99999999999999999999999"),
    ],
)
@pytest.mark.case("mempalace-25")
def test_a_value_out_of_range_is_named(tmp_path: Path, key: str, value: str) -> None:
    with pytest.raises(InvalidValue, match=key.replace(".", r"\.")):
        _load(tmp_path, **{key.replace(".", "__"): value})


@pytest.mark.parametrize("text", ["[mine", "mine = 3\n", "= 1\n", "[mine]\na = 1\na = 2\n"])
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidValue, match=r"config\.toml"):
        _load(tmp_path, text)


def test_a_file_that_is_no_unicode_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"[mine]\n# caf\xe9\n")
    with pytest.raises(InvalidValue, match=r"config\.toml"):
        load_settings(str(tmp_path / "config.toml"))


def test_a_byte_order_mark_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xef\xbb\xbf[search]\r\nk = 3\r\n")
    assert load_settings(str(tmp_path / "config.toml")).search.k == 3


@pytest.mark.promise(23)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[memory]\nbackend = "none"\n', "not a project's to set"),
        ('[mine]\ninclude = [".env"]\n', "lets secrets in"),
        ('[search]\nembedder = "/models/x"\n', "cannot name a model folder"),
        ('[search]\nvectors = "fast"\n', "cannot ask for 'fast'"),
        ("[mine]\nchunk_chars = 50\n", "overlap_chars"),  # with the user's overlap
        ("[mine\n", "not valid TOML"),
    ],
)
def test_what_a_project_cannot_set_is_left_out_and_told(
    tmp_path: Path, text: str, reason: str
) -> None:
    user, project = tmp_path / "user.toml", tmp_path / "project.toml"
    user.write_text("[mine]\noverlap_chars = 60\n", "utf-8")
    project.write_text(text, "utf-8")
    notes: list[str] = []
    assert load_settings(str(user), str(project), None, notes) == load_settings(str(user))
    [note] = notes
    assert reason in note
    assert str(project) in note or "overlap" in reason


# What no parser, no database and no message can hold.
UNREADABLE = {
    "nested": "x = " + "[" * 5000,
    "a chain": ".".join("a" * 100_000) + " = 1",
    "a chain of rooms": "[mine]\nrooms." + ".".join("a" * 1900) + " = 1",
    "digits": "[mine]\nchunk_chars = " + "9" * 5000,
    "hexadecimal digits": "[mine]\nchunk_chars = 0x" + "f" * 5000,
    "a list of digits": "[mine]\nchunk_chars = [0x" + "f" * 5000 + "]",
    "a number": "[search]\nk = 99999999999999999999999",
    "a preset": '[search]\npreset = "bogus"',
    "a text": '[search]\npreset = "' + "k" * 400_000 + '"',
    "a name": "[mine]\n" + "k" * 400_000 + " = 1",
}


@pytest.mark.promise(23)
@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_whatever_a_project_sets_stops_nothing(tmp_path: Path, text: str) -> None:
    project = tmp_path / "config.toml"
    project.write_text(text, "utf-8")
    notes: list[str] = []
    assert load_settings("none.toml", str(project), None, notes) == load_settings("none.toml")
    [note] = notes
    assert note.startswith("the project's settings are left out: ")
    assert len(note) < 2000


@pytest.mark.parametrize("name", ["nested", "a chain", "digits"])
def test_what_no_parser_takes_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidValue, match=r"config\.toml"):
        _load(tmp_path, UNREADABLE[name])


def test_the_presets_are_those_that_search_has() -> None:
    assert set(config.PRESETS) == set(presets.PRESETS)


@pytest.mark.promise(23)
def test_a_project_may_set_its_pages(tmp_path: Path) -> None:
    project = tmp_path / "project.toml"
    project.write_text('[outline]\ncompile = "off"\nlanguage = "zh"\n', "utf-8")
    settings = load_settings(str(tmp_path / "none.toml"), str(project))
    assert settings.outline == ("off", "zh")


@pytest.mark.promise(23)
def test_what_a_project_may_set_counts(tmp_path: Path) -> None:
    project = tmp_path / "project.toml"
    project.write_text('[mine]\nexclude = ["*.log"]\n[search]\nembedder = "none"\n', "utf-8")
    settings = load_settings(str(tmp_path / "none.toml"), str(project))
    assert (settings.mine.exclude, settings.search.embedder) == (("*.log",), "none")


@pytest.mark.promise(23)
@pytest.mark.parametrize("there", [True, False])
def test_a_projects_settings_that_are_a_link_are_left_out_and_told(
    tmp_path: Path, there: bool
) -> None:
    private = tmp_path / "private.toml"  # what is in it would show in the error
    if there:
        private.write_text('[search]\nk = 3\n[keys]\nbank = "1234"\n', "utf-8")
    project = tmp_path / "config.toml"
    project.symlink_to(private)
    notes: list[str] = []
    assert load_settings("none.toml", str(project), None, notes) == load_settings("none.toml")
    assert notes == [
        f"the project's settings are left out: {project} is a link, and a project's settings must "
        "lie in it"
    ]


def test_a_users_settings_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text("[search]\nk = 3\n", "utf-8")
    (tmp_path / "config.toml").symlink_to(tmp_path / "dotfiles.toml")
    assert load_settings(str(tmp_path / "config.toml")).search.k == 3


class TestThePalacePreset:
    def test_it_sets_its_constants(self, tmp_path: Path) -> None:
        settings = _load(tmp_path, mine__preset="palace")
        assert (settings.mine.chunk_chars, settings.mine.overlap_chars) == (800, 100)
        assert (settings.closets.window, settings.closets.definitions) == (5000, False)

    def test_what_is_set_besides_stays(self, tmp_path: Path) -> None:
        settings = _load(tmp_path, '[mine]\npreset = "palace"\n[closets]\nwindow = 7\n')
        assert (settings.mine.overlap_chars, settings.closets.window) == (100, 7)


class TestRules:
    @pytest.mark.parametrize(
        "key",
        ["mine.chunk_chars", "mine.overlap_chars", "closets.topics", "closets.quotes",
         "closets.entities", "closets.ids_per_line", "closets.closet_chars", "closets.window"],
    )  # fmt: skip
    def test_what_shapes_drawers_or_closets_is_part_of_them(self, tmp_path: Path, key: str) -> None:
        changed = _load(tmp_path, **{key.replace(".", "__"): "77"})
        assert changed.rules() != Settings().rules()

    def test_what_shapes_neither_is_not(self, tmp_path: Path) -> None:
        changed = _load(tmp_path, search__k="3", mine__max_bytes="9", mine__exclude="x")
        assert changed.rules() == Settings().rules()
