"""Which embedder is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from camillo.embed.choice import Choice, choose, lasting_name, missing, open_embedder
from camillo.errors import MissingExtra, UnknownName
from embedding.tiny import tiny_folder


def test_none_is_words_only(tmp_path: Path) -> None:
    assert choose("none", str(tmp_path)) is None
    assert open_embedder("none", str(tmp_path)) is None


def test_auto_takes_light_where_there_is_no_e5(tmp_path: Path) -> None:
    assert choose("auto", str(tmp_path)) == Choice("light")


def test_auto_takes_e5_where_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "e5"
    folder.mkdir()
    (folder / "camillo.json").write_text("{}")
    assert choose("auto", str(tmp_path)) == Choice("e5", str(folder))


def test_e5_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(MissingExtra, match="run `camillo setup e5`"):
        choose("e5", str(tmp_path))


def test_light_lacks_nothing(tmp_path: Path) -> None:
    assert missing("light", str(tmp_path)) == ""


def test_a_folder_is_an_embedder(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path)
    assert choose(str(folder), "") == Choice("e5", str(folder.resolve()))


@pytest.mark.promise(27)
def test_what_is_written_beside_vectors_opens_the_same_embedder_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not `auto`, which means another one tomorrow, nor a path from where one stood."""
    folder = tiny_folder(tmp_path)
    monkeypatch.chdir(folder.parent)
    assert lasting_name(f"./{folder.name}", "") == str(folder.resolve())
    assert lasting_name("auto", str(tmp_path / "none")) == "light"
    assert [lasting_name(name, "") for name in ("hashing", "none")] == ["hashing", "none"]


@pytest.mark.promise(25)
def test_an_unknown_name_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'hashing'"):
        choose("hasing", str(tmp_path))


def test_a_folder_without_a_model_is_no_embedder(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"a model folder holds model\.onnx"):
        choose(str(tmp_path), "")
