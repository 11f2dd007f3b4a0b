"""A folder to mine and the product to mine it with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from camillo.vault import Vault, open_vault
from flows.command import Camillo


@pytest.fixture
def camillo(capsys: pytest.CaptureFixture[str]) -> Camillo:
    return Camillo(capsys)


@pytest.fixture
def shop(home: Path) -> Path:
    """An empty folder that a test fills and mines."""
    folder = home / "work" / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def user(home: Path) -> Path:
    """The user root; nothing is there yet."""
    return home / ".camillo"


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    with open_vault() as opened:
        yield opened
