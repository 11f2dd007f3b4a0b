"""docs/SETTINGS.md: every setting with its default, no other, and an example that loads."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from camillo.config import Settings, load_settings

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "SETTINGS.md").read_text("utf-8")

_ROW = re.compile(r"^\| `([a-z_]+\.[a-z_]+)` \| `([^`]*)` \| (.+) \|$", re.MULTILINE)
_VARIABLE = re.compile(r"^\| `(CAMILLO_[A-Z_]+)` \|", re.MULTILINE)


def settings() -> Iterator[tuple[str, Any]]:
    defaults = Settings()
    for table in defaults._fields:
        group = getattr(defaults, table)
        for setting in group._fields:
            yield f"{table}.{setting}", getattr(group, setting)


def test_the_table_has_every_setting_in_order_with_its_default() -> None:
    documented = [(name, default) for name, default, _ in _ROW.findall(PAGE)]
    assert documented == [(name, _written(default)) for name, default in settings()]


def test_every_setting_is_explained_in_a_sentence() -> None:
    for name, _, meaning in _ROW.findall(PAGE):
        assert meaning.endswith("."), name


def test_the_example_loads(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "config.toml"
    path.write_text(example, "utf-8")
    loaded = load_settings(str(path))
    held = tomllib.loads(example)
    assert loaded.closets.topics == held["closets"]["topics"]
    assert loaded.mine.exclude == tuple(held["mine"]["exclude"])
    assert dict(loaded.mine.rooms) == held["mine"]["rooms"]


@pytest.mark.parametrize("name", sorted(set(_VARIABLE.findall(PAGE))))
def test_every_documented_variable_is_read_somewhere(name: str) -> None:
    assert any(name in text for text in _sources())


def test_every_variable_that_is_read_is_documented() -> None:
    read = {name for text in _sources() for name in re.findall(r"\bCAMILLO_[A-Z_]*[A-Z]\b", text)}
    assert read == set(_VARIABLE.findall(PAGE))


def _sources() -> list[str]:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tools").glob("*.*"), ROOT / "camillo"]
    return [file.read_text("utf-8") for file in files]


def _written(default: Any) -> str:
    """The default as config.toml has it."""
    if isinstance(default, tuple):
        default = list(default)
    return "{}" if default == {} else json.dumps(default)
