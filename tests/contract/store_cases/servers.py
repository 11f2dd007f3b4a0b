"""Cases of a remote engine: several stores on one server, and a server that does not answer."""

from __future__ import annotations

import pytest

from camillo.errors import InvalidValue, StoreError
from camillo.model import Filter
from contract.applicable import needs
from contract.opener import Opener
from contract.specimens import memory


class ServerCases:
    """Spaces and addresses."""

    @needs("remote", "keeps", "feed")
    def test_two_spaces_of_a_server_are_two_stores(self, opener: Opener) -> None:
        one, other = opener.open(space="camillo_one"), opener.open(space="camillo_two")
        one.put([memory("a", "walrus"), memory("same", "in one")])
        other.put([memory("same", "in the other")])
        assert one.identity() != other.identity()
        assert [m.body for m in other.scan()] == ["in the other"]
        assert (one.count(), len(one.changes(0)), len(one.journal())) == (2, 2, 2)
        assert (other.count(), len(other.changes(0)), len(other.journal())) == (1, 1, 1)
        other.delete([memory("same").key])
        assert one.get([memory("same").key]) != [None]
        if "keyword" in one.capabilities:
            assert other.words().df(["walrus"]) == {"walrus": 0}
            assert other.words().keyword(["walrus"], 5, Filter()) == []
        one.close()
        other.close()

    @needs("remote", "keeps")
    def test_a_space_is_the_same_whoever_opens_it(self, opener: Opener) -> None:
        one = opener.open(space="camillo_one")
        one.put([memory("a", "text")])
        again = opener.open(space="camillo_one")
        assert again.identity() == one.identity()
        assert again.count() == 1
        one.close()
        again.close()

    @needs("remote")
    @pytest.mark.parametrize("path", ["", "nonsense", "postgresql://nobody@127.0.0.1:1/nowhere"])
    def test_an_address_that_leads_nowhere_is_an_error_of_ours(
        self, opener: Opener, path: str
    ) -> None:
        with pytest.raises((StoreError, InvalidValue)):
            Opener(opener.target, path, "").open().count()

    @needs("remote", "keeps")
    def test_a_store_that_was_closed_leaves_no_connection(self, opener: Opener) -> None:
        """Many stores one after the other: a leak would use up what the server allows."""
        for _ in range(80):
            store = opener.open()
            store.count()
            store.close()
