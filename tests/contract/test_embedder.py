"""Every embedder of the registry under the contract of an embedder.

`e5` needs its model on this machine; a small ONNX folder, built here, stands for any other.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from camillo import registry
from camillo.embed.golden import TOLERANCE, golden_vectors, strangeness
from camillo.ports import Embedder
from contract.embedder_contract import EmbedderContract
from embedding.tiny import tiny_folder

NAMES = [*registry.names("embedder"), "folder"]


def _folder(name: str, request: pytest.FixtureRequest) -> str:
    if name == "e5":
        folder: Path = request.getfixturevalue("models") / "e5"
        if not folder.is_dir():
            pytest.skip("no e5 on this machine: camillo setup e5")
        return str(folder)
    make: Callable[[str], Path] = request.getfixturevalue("tmp_path_factory").mktemp
    return str(tiny_folder(make("tiny"))) if name == "folder" else ""


@pytest.fixture(scope="module", params=NAMES)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    name: str = request.param
    made: Embedder = registry.load("embedder", "e5" if name == "folder" else name)(
        _folder(name, request)
    )
    return made


class TestEmbedder(EmbedderContract):
    """All cases on all embedders."""


def test_vectors_are_the_golden_ones(embedder: Embedder) -> None:
    if not golden_vectors(embedder.id):
        pytest.skip("not a model that is shipped")
    assert strangeness(embedder) <= TOLERANCE
