"""Every engine of the registry under the contract of a store.

A new engine is one line in `OPENERS` and its column in the golden matrix, which
`CAMILLO_WRITE_GOLDEN=1` rewrites: read the difference before you keep it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from camillo import registry
from contract.applicable import cases, verdict
from contract.opener import Opener
from contract.store_contract import StoreContract

GOLDEN = Path(__file__).parent / "golden" / "capabilities.json"


def _file(engine: str) -> Callable[[pytest.FixtureRequest, Path], Opener]:
    """An engine whose path is a file in a folder that is there."""

    def opener(request: pytest.FixtureRequest, folder: Path) -> Opener:
        target = registry.ENGINES[engine]
        return Opener(target, str(folder / "store.db"), str(folder / "another.db"))

    return opener


# A server engine takes its server from a fixture: request.getfixturevalue("postgres_server").
OPENERS: dict[str, Callable[[pytest.FixtureRequest, Path], Opener]] = {
    "memory": _file("memory"),
    "none": _file("none"),
    "sqlite": _file("sqlite"),
}


@pytest.fixture(params=registry.names("engine"))
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def opener(request: pytest.FixtureRequest, engine: str, tmp_path: Path) -> Opener:
    return OPENERS[engine](request, tmp_path)


class TestStore(StoreContract):
    """All cases on all engines."""


def test_the_golden_matrix_has_a_cell_for_every_engine_and_case(
    outside: Mapping[str, str],
) -> None:
    found = {
        engine: {
            name: verdict(case, registry.load("engine", engine).capabilities)
            for name, case in sorted(cases(TestStore).items())
        }
        for engine in registry.names("engine")
    }
    if outside.get("CAMILLO_WRITE_GOLDEN"):
        GOLDEN.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    assert json.loads(GOLDEN.read_text(encoding="utf-8")) == found


def test_every_engine_declares_how_its_changes_are_found() -> None:
    for engine in registry.names("engine"):
        capabilities = registry.load("engine", engine).capabilities
        assert capabilities & {"feed", "manifest"}, engine
