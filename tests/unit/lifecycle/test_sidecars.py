"""Which roots keep sidecars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from camillo.lifecycle.sidecars import sidecars_of
from camillo.ports import Embedder
from camillo.vault import Vault, open_vault


@pytest.fixture
def store(home: Path) -> Path:
    folder = home / ".commonplace" / "memory"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("---\nname: a\ndescription: d\ntype: user\n---\n", "utf-8")
    return folder


def _kept(vault: Vault, wanted: str, name: str = "user-commonplace") -> bool:
    return sidecars_of(vault.root(name), vault.open_embedder("hashing"), wanted) is not None


def test_those_of_our_model_are_kept_and_others_are_not(store: Path) -> None:
    with open_vault() as vault:
        assert not _kept(vault, "auto")
        assert _kept(vault, "write")
        sidecars_of(
            vault.root("user-commonplace"), vault.open_embedder("hashing"), "write"
        ).refresh()
        assert _kept(vault, "auto")
        assert not _kept(vault, "off")


def test_a_root_of_camillo_and_a_vault_without_embedder_have_none(store: Path) -> None:
    with open_vault() as vault:
        vault.root("user", create=True)
        assert not _kept(vault, "write", "user")
        assert sidecars_of(vault.root("user-commonplace"), None, "write") is None


def test_a_short_notes_vector_comes_from_its_sidecar(store: Path) -> None:
    (store / "a.md").write_text(
        "---\nname: a\ndescription: d\ntype: user\n---\nThe gate is oak.\n", "utf-8"
    )
    with open_vault() as vault:
        root, embedder = vault.root("user-commonplace"), vault.open_embedder("hashing")
        assert embedder is not None
        root.look_through_notes()
        root.catch_up()
        sidecars_of(root, embedder, "write").refresh()
        counting = _Counting(embedder)
        known = sidecars_of(root, counting, "auto").known()
        assert root.meaning.fill(root.store, known, "hashing") == 0
        assert "The gate is oak.\n" not in counting.asked
        assert root.meaning.count(embedder) == 2


class _Counting:
    """An embedder that notes what it is asked."""

    def __init__(self, embedder: Embedder) -> None:
        self.id, self.dim, self.limit = embedder.id, embedder.dim, embedder.limit
        self.capabilities: frozenset[str] = frozenset()
        self._embedder = embedder
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], role: Any) -> Any:
        self.asked += texts
        return self._embedder.embed(texts, role)

    def embed_tokens(self, texts: Sequence[str], role: Any) -> Any:
        return self._embedder.embed_tokens(texts, role)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return self._embedder.pieces(ids)
