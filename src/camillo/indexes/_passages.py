"""The passages of an index file in memory, as columns: what a process that searches often keeps.

Row i of each column is the same passage; `rows` rises. When others are added they are appended;
when some have gone (the counter `passages_removed` in `meta` moved) all are read again. The counter
of each file begins elsewhere, so that one which was built anew is told from the former.
"""

from __future__ import annotations

from collections.abc import Callable

from camillo.indexes._facets import facet_clause
from camillo.model import Filter
from camillo.records import NamedTuple

TYPE_CHECKING = False  # NumPy is imported where it computes
if TYPE_CHECKING:
    from typing import Any

    from numpy import bool_, float32, int64
    from numpy.typing import NDArray

    from camillo.database import Database

__all__ = ["REMOVED", "Columns", "LoadedPassages", "numbers", "stamp_of"]

# Inside the transaction that takes passages away: what is in memory no longer holds.
REMOVED = (
    "INSERT INTO meta VALUES ('passages_removed', 1) "
    "ON CONFLICT(key) DO UPDATE SET value = value + 1"
)


class Columns(NamedTuple):
    """`generation` differs when more than an appending lies between two states. `numbers` are those
    of passages in their memories, whose first is 0."""

    generation: int
    rows: NDArray[int64]
    words: NDArray[float32]
    facets: NDArray[int64]
    numbers: NDArray[int64]

    def admitted(self, database: Database, filter: Filter) -> NDArray[bool_] | None:
        """Which passages the filter admits; None when all are."""
        from camillo.numeric import np

        clause, arguments = facet_clause(filter)
        barred = database.rows(f"SELECT f.rowid FROM facets f WHERE NOT ({clause})", arguments)
        admitted = np.ones(len(self.rows), np.bool_)
        if barred:
            admitted &= ~np.isin(self.facets, [row[0] for row in barred])
        clauses, values = _passage_clauses(filter)
        if clauses:
            chosen = f"SELECT p.rowid FROM passages p WHERE {clauses}"
            admitted &= np.isin(self.rows, numbers(database, chosen, values))
        archived = False
        if not filter.archived:  # few, and found by their own index
            gone = numbers(database, "SELECT rowid FROM passages WHERE archived IS NOT NULL")
            archived = bool(len(gone))
            if archived:
                admitted &= ~np.isin(self.rows, gone)
        return admitted if barred or clauses or archived else None


class LoadedPassages:
    """Columns of the file that `database` gives, read as they change."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database
        self._stamp: tuple[Any, ...] = ()
        self._removed = -1
        self._columns: Columns | None = None

    def current(self) -> Columns:
        """Inside `Database.reading`, so that what is read after it is of the same state."""
        database = self._database()
        stamp = stamp_of(database)
        if self._columns is None or stamp != self._stamp:
            self._columns = self._read(database, self._columns, self._stamp[:1] == stamp[:1])
            self._stamp = stamp
        return self._columns

    def _read(self, database: Database, held: Columns | None, same_file: bool) -> Columns:
        from camillo.numeric import np

        removed = database.value("SELECT value FROM meta WHERE key = 'passages_removed'") or 0
        appending = held is not None and same_file and removed == self._removed
        self._removed = removed
        last = int(held.rows[-1]) if held is not None and appending and len(held.rows) else 0
        sql = "SELECT {} FROM passages WHERE rowid > ? ORDER BY rowid"
        rows, words, facets, places = (
            numbers(database, sql.format(name), (last,))
            for name in ("rowid", "words", "facet", "number")
        )
        generation = held.generation if held is not None else 0
        if held is None or not appending:
            return Columns(generation + 1, rows, words.astype(np.float32), facets, places)
        if not len(rows):
            return held
        return Columns(
            generation,
            np.concatenate([held.rows, rows]),
            np.concatenate([held.words, words.astype(np.float32)]),
            np.concatenate([held.facets, facets]),
            np.concatenate([held.numbers, places]),
        )


def stamp_of(database: Database) -> tuple[Any, ...]:
    """Differs whenever rows of the file may differ: our own writes, and those of others."""
    connection = database.connection
    return connection, int(connection.pragma("data_version")), connection.total_changes()


def numbers(database: Database, sql: str, arguments: Any = ()) -> NDArray[int64]:
    """The one column of whole numbers that a query gives. As one string: ten times faster than as
    rows."""
    from camillo.numeric import np

    name = sql.split(" ", 2)[1].rpartition(".")[2]
    joined = database.value(f"SELECT group_concat({name}) FROM ({sql})", arguments)
    if joined is None:
        return np.empty(0, np.int64)
    return np.fromstring(str(joined), np.int64, sep=",")


def _passage_clauses(filter: Filter) -> tuple[str, list[Any]]:
    """What a filter asks of a passage `p` itself; "" when nothing."""
    clauses: list[str] = []
    values: list[Any] = []
    for clause, value in (
        ("p.source = (SELECT rowid FROM sources WHERE name = ?)", filter.source),
        ("p.happened_at >= ?", filter.since),
        ("p.happened_at < ?", filter.before),
    ):
        if value:
            clauses.append(clause)
            values.append(value)
    return " AND ".join(clauses), values
