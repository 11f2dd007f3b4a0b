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

import pytest

from camillo.ports import Store
from contract.applicable import NOT_APPLICABLE, verdict
from contract.opener import Clock, Opener
from contract.store_cases.asking import AskingCases
from contract.store_cases.crowds import CrowdCases
from contract.store_cases.feed import FeedCases
from contract.store_cases.keeping import KeepingCases
from contract.store_cases.sources import SourceCases
from contract.store_cases.wording import WordingCases

__all__ = ["StoreContract"]


class StoreContract(KeepingCases, WordingCases, AskingCases, FeedCases, SourceCases, CrowdCases):
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
