"""What `store.db` tells of its changes, in the order of their numbers, and what it keeps of old
text until nobody needs it any more."""

from __future__ import annotations

from collections.abc import Sequence

from camillo.database import Database, legible
from camillo.engines._sqlite_rows import LIVE, VERSION, checked, memory_of
from camillo.engines._sqlite_shared import Shared
from camillo.errors import StoreBusy
from camillo.model import Change, Key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import apsw

__all__ = ["Feed", "note_erased"]

_FORGET_TEXT = (
    "UPDATE retired SET title = NULL, summary = NULL, body = NULL, detail = NULL, hash = x'' "
    "WHERE seq <= ? AND body IS NOT NULL"
)
# Rows of `places` that only tombstones name are emptied. They stay, so that no number comes to mean
# another place to whoever has read it; the kind is none that a memory can have.
_EMPTY_PLACES = (
    "UPDATE places SET source = NULL, kind = x'', wing = '', room = '', hall = '' "
    "WHERE kind <> x'' AND rowid NOT IN "
    "(SELECT place FROM memories UNION SELECT place FROM retired WHERE body IS NOT NULL)"
)
_DROP_SOURCES = (
    "DELETE FROM sources WHERE rowid NOT IN (SELECT source FROM places WHERE source IS NOT NULL)"
)
# 1: the log may hold text of retired versions; 2: the pages may, too, since some were deleted
_HOLDS_TEXT = "INSERT OR REPLACE INTO meta VALUES ('log_holds_text', ?)"
_RETIRED_TEXT = "SELECT 1 FROM retired WHERE body IS NOT NULL LIMIT 1"
_PLACE, _BODY = 3, 6  # in a row that begins with the number


class Feed:
    def __init__(self, database: Database, shared: Shared) -> None:
        self._database = database
        self._shared = shared

    def changes(self, since: int, limit: int) -> list[Change]:
        with self._database.reading() as connection, legible(self._database.path):
            live: list[Any] = connection.execute(
                f"{LIVE} WHERE m.seq > ? ORDER BY m.seq LIMIT ?", (since, limit)
            ).fetchall()
            gone: list[Any] = connection.execute(
                f"{VERSION}, m.former FROM retired m WHERE m.seq > ? ORDER BY m.seq LIMIT ?",
                (since, limit),
            ).fetchall()
            self._shared.learn({row[_PLACE] for row in (*live, *gone)})
        changes = [*map(self._put, live), *map(self._retirement, gone)]
        return sorted(changes, key=_number)[:limit]

    def last_change(self) -> int:
        return int(self._database.value("SELECT value FROM meta WHERE key = 'next_seq'")) - 1

    def _put(self, row: Sequence[Any]) -> Change:
        memory = checked(row, self._shared, self._database.path)
        return Change(row[0], memory.key, memory)

    def _retirement(self, row: Sequence[Any]) -> Change:
        key = Key(*self._shared.owned_by(row[2]), row[1])
        former = memory_of(row[:-1], self._shared) if row[_BODY] is not None else None
        return Change(row[0], key, None, row[-1], former)

    # --- former texts --------------------------------------------------------------------------

    def scrub(self, seen: int) -> bool:
        if not self.unclean():
            return True
        erased = self.erased()
        with self._database.write() as connection:
            connection.execute(_FORGET_TEXT, (seen,))
            if erased:
                connection.execute(_EMPTY_PLACES)
                connection.execute(_DROP_SOURCES)
                self._shared.clear_places()
            connection.execute(_HOLDS_TEXT, (2 if erased else 1,))
        if erased:
            try:
                self._database.compact()
            except StoreBusy:
                return False
        if not self._database.empty_log():
            return False
        if not self._database.value(_RETIRED_TEXT):
            with self._database.write(durable=False) as connection:
                connection.execute("DELETE FROM meta WHERE key = 'log_holds_text'")
        return True

    def erased(self) -> bool:
        held = self._database.value("SELECT value FROM meta WHERE key = 'log_holds_text'")
        return bool(held == 2)

    def unclean(self) -> bool:
        held = self._database.value("SELECT 1 FROM meta WHERE key = 'log_holds_text'")
        return bool(held or self._database.value(_RETIRED_TEXT))


def note_erased(connection: apsw.Connection) -> None:
    """Inside the transaction that deletes: what it deleted is to be scrubbed."""
    connection.execute(_HOLDS_TEXT, (2,))


def _number(change: Change) -> int:
    return change.seq
