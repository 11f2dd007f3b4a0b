"""Every engine of the registry under the contract of a store.

A new engine is one line in `OPENERS` and its column in the golden matrix, which
`CAMILLO_WRITE_GOLDEN=1` rewrites: read the difference before you keep it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from camillo import registry
from contract.applicable import cases, verdict
from contract.opener import Opener
from contract.store_contract import StoreContract
from postgres_server import ServerAbsent, absence

GOLDEN = Path(__file__).parent / "golden" / "capabilities.json"


def _file(engine: str) -> Callable[[pytest.FixtureRequest, Path], Opener]:
    """An engine whose path is a file in a folder that is there."""

    def opener(request: pytest.FixtureRequest, folder: Path) -> Opener:
        target = registry.ENGINES[engine]
        return Opener(target, str(folder / "store.db"), str(folder / "another.db"))

    return opener


def _server(engine: str, databases: str) -> Callable[[pytest.FixtureRequest, Path], Opener]:
    """An engine whose path is the address of a database; a fixture makes them."""

    def opener(request: pytest.FixtureRequest, folder: Path) -> Opener:
        target = registry.ENGINES[engine]
        new: Callable[[], str] = request.getfixturevalue(databases)
        return Opener(target, new(), new)

    return opener


OPENERS: dict[str, Callable[[pytest.FixtureRequest, Path], Opener]] = {
    "memory": _file("memory"),
    "none": _file("none"),
    "postgres": _server("postgres", "new_postgres"),
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
    request: pytest.FixtureRequest, outside: Mapping[str, str], tmp_path: Path
) -> None:
    """What must hold here: an engine may be able to do more than its class declares, by what its
    server can. Columns of engines without a server are left as they are, and that is said."""
    kept = json.loads(GOLDEN.read_text(encoding="utf-8"))
    found, absent = {}, ""
    for engine in registry.names("engine"):
        try:
            capabilities = OPENERS[engine](request, tmp_path).capabilities
        except ServerAbsent as reason:
            found[engine], absent = kept.get(engine), f"{engine}: {reason}"
            continue
        found[engine] = {
            name: verdict(case, capabilities) for name, case in sorted(cases(TestStore).items())
        }
    if outside.get("CAMILLO_WRITE_GOLDEN"):
        GOLDEN.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        kept = found
    assert kept == found
    if absent:
        raise ServerAbsent(absent)


def test_the_page_of_stores_says_what_each_engine_declares(root: Path) -> None:
    if reason := absence():  # then an engine may lack its library
        raise ServerAbsent(reason)
    page = (root / "docs" / "STORES.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(\w+)` \| ([a-z, ]+[a-z])(?: \(.*\))? \|$", page, re.MULTILINE))
    declared = {
        engine: ", ".join(sorted(registry.load("engine", engine).capabilities))
        for engine in registry.names("engine")
    }
    assert told == declared


def test_every_engine_declares_how_its_changes_are_found() -> None:
    if reason := absence():
        raise ServerAbsent(reason)
    for engine in registry.names("engine"):
        capabilities = registry.load("engine", engine).capabilities
        assert capabilities & {"feed", "manifest"}, engine
