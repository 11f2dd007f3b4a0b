"""Model folders: ours, and those of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from camillo.embed.models import (
    MANIFEST,
    file_facts,
    is_model_folder,
    problems,
    read_model_folder,
)
from camillo.errors import InvalidValue
from embedding.tiny import DIM, LIMIT, tiny_folder

DESCRIPTION = {
    "schema": 1, "name": "tiny", "version": "2", "quantisation": "none", "dim": DIM,
    "limit": LIMIT, "pooling": "cls", "prefixes": {"query": "Q ", "passage": "P "},
}  # fmt: skip


def described(folder: Path, **changes: object) -> Path:
    tiny_folder(folder)
    files = {name: file_facts(str(folder / name)) for name in ("model.onnx", "tokenizer.json")}
    text = json.dumps({**DESCRIPTION, "files": files, **changes})
    (folder / MANIFEST).write_text(text, "utf-8")
    return folder


def test_our_manifest_says_everything(tmp_path: Path) -> None:
    found = read_model_folder(str(described(tmp_path)))
    assert found.id == f"tiny/2/none/{DIM}"
    assert (found.dim, found.limit, found.pooling) == (DIM, LIMIT, "cls")
    assert (found.query, found.passage) == ("Q ", "P ")


@pytest.mark.parametrize("broken", [{"schema": 9}, {"dim": "wide"}, {"prefixes": {}}])
def test_a_manifest_that_says_too_little_is_refused(tmp_path: Path, broken: dict[str, str]) -> None:
    with pytest.raises(InvalidValue, match="does not describe its model"):
        read_model_folder(str(described(tmp_path, **broken)))


@pytest.mark.promise(27)
def test_an_export_is_known_by_its_weights(tmp_path: Path) -> None:
    one = read_model_folder(str(tiny_folder(tmp_path)))
    with (tmp_path / "model.onnx").open("ab") as file:
        file.write(b"\0")
    two = read_model_folder(str(tmp_path))
    assert one.id.startswith(f"{tmp_path.name}/")
    assert one.id.endswith(f"/{DIM}")
    assert one.id != two.id


def test_an_export_says_how_it_pools_and_prompts(tmp_path: Path) -> None:
    tiny_folder(tmp_path)
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    prompts = {"prompts": {"query": "ask: ", "document": "text: "}}
    (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    found = read_model_folder(str(tmp_path))
    assert (found.pooling, found.query, found.passage) == ("cls", "ask: ", "text: ")


def test_an_export_of_e5_has_the_prefixes_of_e5(tmp_path: Path) -> None:
    folder = tmp_path / "multilingual-e5-base"
    folder.mkdir()
    found = read_model_folder(str(tiny_folder(folder)))
    assert (found.query, found.passage) == ("query: ", "passage: ")


def test_positions_that_count_from_the_padding_are_fewer(tmp_path: Path) -> None:
    found = read_model_folder(str(tiny_folder(tmp_path, model_type="xlm-roberta")))
    assert found.limit == LIMIT - 2


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    assert not is_model_folder(str(tmp_path))
    with pytest.raises(InvalidValue, match=r"holds no model: looked for model\.onnx"):
        read_model_folder(str(tmp_path))
    tiny_folder(tmp_path)
    (tmp_path / "config.json").unlink()
    with pytest.raises(InvalidValue, match=r"neither camillo\.json nor config\.json"):
        read_model_folder(str(tmp_path))
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(InvalidValue, match=r"holds no tokenizer\.json"):
        read_model_folder(str(tmp_path))


def test_damage_is_found_in_any_file(tmp_path: Path) -> None:
    folder = described(tmp_path)
    assert problems(str(folder)) == []
    content = bytearray((folder / "model.onnx").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "model.onnx").write_bytes(content)
    (folder / "tokenizer.json").unlink()
    damaged, missing = problems(str(folder))
    assert "model.onnx is damaged" in damaged
    assert "tokenizer.json is missing" in missing
