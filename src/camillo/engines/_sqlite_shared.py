"""Values that thousands of rows of `store.db` share: owners, places and their sources.

A row names them by number. What a number means never changes, but that of a place which no memory
has any more may be emptied, and is then no longer the number of what it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from camillo.database import Database
from camillo.model import Place
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["OWNER", "Filed", "Shared"]

OWNER = "SELECT rowid FROM owners WHERE namespace = ? AND scope = ? AND session = ?"
_OWNER_OF = "SELECT namespace, scope, session FROM owners WHERE rowid = ?"
_PLACES_OF = (
    "SELECT p.rowid, p.kind, p.wing, p.room, p.hall, coalesce(s.name, '') FROM places p "
    "LEFT JOIN sources s ON s.rowid = p.source WHERE p.rowid IN "
)
_MOST = 50_000  # that are remembered of each


class Filed(NamedTuple):
    """A row of `places`, and the same as a part of what is hashed."""

    kind: str
    place: Place
    source: str
    hashed: str


_NOWHERE = Filed("", Place(), "", "")


class Shared:
    """Reads each once. `owner` and `place` are for inside a write transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._owners: dict[tuple[Any, ...], int] = {}
        self._places: dict[tuple[Any, ...], int] = {}
        self._sources: dict[tuple[str], int] = {}
        self._owner_of: dict[int, tuple[str, str, str]] = {}
        self._filed: dict[int, Filed] = {}

    def clear(self) -> None:
        """Rows that are remembered may have been undone."""
        self.clear_places()
        for known in (self._owners, self._owner_of, self._filed):
            known.clear()

    def clear_places(self) -> None:
        """Numbers of places may have come to mean none."""
        self._places.clear()
        self._sources.clear()

    # --- the number of a value -----------------------------------------------------------------

    def owner(self, *value: str) -> int:
        """Of a namespace, a scope and a session."""
        return self._interned(self._owners, "owners", ("namespace", "scope", "session"), value)

    def place(self, kind: str, wing: str, room: str, hall: str, source: str) -> int:
        number = self._interned(self._sources, "sources", ("name",), (source,)) if source else None
        return self._interned(
            self._places,
            "places",
            ("source", "kind", "wing", "room", "hall"),
            (number, kind, wing, room, hall),
        )

    def _interned(
        self,
        known: dict[Any, int],
        table: str,
        columns: Sequence[str],
        value: tuple[Any, ...],
    ) -> int:
        """The row of a value, made when it is new."""
        if value in known:
            return known[value]
        connection = self._database.connection
        where = " AND ".join(f"{column} IS ?" for column in columns)
        row = connection.execute(f"SELECT rowid FROM {table} WHERE {where}", value).get
        if row is None:
            marks = ", ".join("?" * len(columns))
            connection.execute(f"INSERT INTO {table}({', '.join(columns)}) VALUES ({marks})", value)
            row = connection.last_insert_rowid()
        if len(known) > _MOST:
            known.clear()
        known[value] = int(row)
        return int(row)

    # --- the value of a number -----------------------------------------------------------------

    def owned_by(self, owner: int) -> tuple[str, str, str]:
        """Namespace, scope and session."""
        held = self._owner_of.get(owner)
        if held is None:
            rows = self._database.rows(_OWNER_OF, (owner,))
            held = self._owner_of[owner] = rows[0] if rows else ("", "", "")
        return held

    def place_of(self, place: int) -> Filed:
        if place not in self._filed:
            self.learn({place})
        return self._filed.get(place, _NOWHERE)

    def learn(self, places: Iterable[int]) -> None:
        """Read rows of `places` that are not known yet, all at once."""
        if len(self._filed) > _MOST:
            self._filed.clear()
        new = [place for place in places if place not in self._filed]
        if new:
            marks = ", ".join("?" * len(new))
            for number, kind, wing, room, hall, source in self._database.rows(
                f"{_PLACES_OF}({marks})", new
            ):
                hashed = repr((kind, wing, room, hall, source))
                self._filed[number] = Filed(kind, Place(wing, room, hall), source, hashed)
