"""The definition of a store: subclass `StoreContract` and give it an `opener` fixture.

    class TestMyStore(StoreContract):
        @pytest.fixture
        def opener(self, tmp_path):
            return Opener("my.package:MyStore", str(tmp_path / "a"), str(tmp_path / "b"))

The class is constructed as `MyStore(path, clock=…)`. Cases that a store cannot have by its declared
`capabilities` are skipped; all others must pass. The cases lie in `store_cases/`, one file a
subject; the obligations are those of `camillo.ports.Store`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from camillo.ports import Store
from contract.applicable import NOT_APPLICABLE, verdict
from contract.opener import Clock, Opener
from contract.searched import Searched
from contract.store_cases.asking import AskingCases
from contract.store_cases.crowds import CrowdCases
from contract.store_cases.feed import FeedCases
from contract.store_cases.finding import FindingCases
from contract.store_cases.keeping import KeepingCases
from contract.store_cases.meaning import MeaningCases
from contract.store_cases.servers import ServerCases
from contract.store_cases.sources import SourceCases
from contract.store_cases.wording import WordingCases
from contract.store_cases.words import WordCases

__all__ = ["StoreContract"]


class StoreContract(
    KeepingCases,
    WordingCases,
    AskingCases,
    FeedCases,
    SourceCases,
    CrowdCases,
    WordCases,
    MeaningCases,
    FindingCases,
    ServerCases,
):
    """Every case, with the fixtures that they share."""

    @pytest.fixture(autouse=True)
    def _applicable(self, request: pytest.FixtureRequest, opener: Opener) -> None:
        case: Callable[..., None] = request.function
        if verdict(case, opener.capabilities) == NOT_APPLICABLE:
            pytest.skip("not applicable by declared capability")

    @pytest.fixture
    def store(self, opener: Opener) -> Iterator[Store]:
        store = opener.open(clock=Clock())
        yield store
        store.close()

    @pytest.fixture
    def searched(self, opener: Opener, tmp_path: Path) -> Iterator[Searched]:
        """The store with what searches it. Opened when it is asked for, under the same path
        where that is a server's."""
        searched = Searched(opener, tmp_path)
        yield searched
        searched.close()
