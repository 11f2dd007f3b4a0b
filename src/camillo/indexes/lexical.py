"""The `lexical` index: which passages hold which words. Part of `index/index.db`.

Format owned: `passages` and the contentless FTS5 table `words`, whose rows leave by its 'delete'
command with the tokens that they came with. Those tokens are made again from the former version
that the feed hands over; for a store that cannot hand it over, the passage keeps its own copy.
It nominates; scoring is the pipeline's.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import apsw

from camillo.errors import StoreDamaged
from camillo.indexes._facets import facet_clause, facet_of, source_of
from camillo.indexes._file import FTS_TOKENISER, Cursor, IndexFile, match
from camillo.indexes._passages import REMOVED
from camillo.model import INTERNAL_KINDS, Change, Filter, Health, Key, Memory
from camillo.ports import Hit, Store
from camillo.text.passages import PassageText, passages, text_hash
from camillo.text.tokens import TOKENISER_VERSION, token_text, word_count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.indexes.postings import Occurrences, Postings

__all__ = ["SCHEMA", "LexicalIndex"]

_AT_ONCE = 500  # rows that one statement asks for
_COUNTED = 20_000  # tokens whose counts are kept, as long as nothing changes

SCHEMA = f"""
CREATE TABLE passages(rowid INTEGER PRIMARY KEY, version INTEGER NOT NULL, number INTEGER NOT NULL,
    facet INTEGER NOT NULL REFERENCES facets(rowid), source INTEGER REFERENCES sources(rowid),
    id TEXT NOT NULL, words INTEGER NOT NULL, happened_at TEXT, archived INTEGER,
    hash BLOB NOT NULL, copy BLOB);
CREATE INDEX passages_version ON passages(version);
CREATE INDEX passages_archived ON passages(archived) WHERE archived IS NOT NULL;
CREATE VIRTUAL TABLE words USING fts5(title, summary, body, content='', {FTS_TOKENISER});
INSERT INTO words(words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab('words', 'row');
INSERT INTO meta VALUES ('passages', 0), ('words', 0), ('passages_removed', random() >> 24);
"""


class LexicalIndex:
    """Words of one store. `update` and `search` may run in several processes at once."""

    name = "lexical"

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._cursor = Cursor(file, self.name, TOKENISER_VERSION)
        self._facets: dict[tuple[Any, ...], int] = {}
        self._counted: dict[str, int] = {}
        self._counted_at: tuple[Any, ...] = ()
        self._postings: Postings | None = None

    def cursor(self) -> int:
        return self._cursor.get()

    def size(self) -> tuple[int, int]:
        """(passages, words in them all)."""
        rows = self._file.database.rows(
            "SELECT value FROM meta WHERE key IN ('passages', 'words') ORDER BY key"
        )
        return int(rows[0][0]), int(rows[1][0])

    # --- taking in -----------------------------------------------------------------------------

    def update(self, changes: Sequence[Change], store: Store) -> None:
        if not self._cursor.current():
            self.reset()
        try:
            with self._file.database.write(durable=False) as connection:
                self._facets.clear()  # another process may have built the file anew meanwhile
                seen = self.cursor()
                for change in changes:
                    if change.seq > seen:
                        self._take(connection, change, "feed" not in store.capabilities)
                        seen = change.seq
                self._cursor.move(connection, seen)
        except BaseException:
            self._facets.clear()  # rows that they name may have been rolled back
            raise

    def _take(self, connection: apsw.Connection, change: Change, own_copy: bool) -> None:
        if own_copy:
            self._remove_copies(connection, change.key)
        elif change.memory is None:
            self._remove_version(connection, change)
        if change.memory is not None and change.memory.kind not in INTERNAL_KINDS:
            self._add(connection, change.seq, change.memory, own_copy)

    def _add(
        self, connection: apsw.Connection, version: int, memory: Memory, own_copy: bool
    ) -> None:
        facet = self._facet(connection, memory)
        source = source_of(connection, memory) if memory.origin else None
        count = total = 0
        for passage in passages(memory):
            fields = _fields(passage)
            words = word_count(passage.text)
            copy = zlib.compress("\n".join(fields).encode()) if own_copy else None
            connection.execute(
                "INSERT INTO passages(version, number, facet, source, id, words, happened_at, "
                "archived, hash, copy) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (version, passage.number, facet, source, memory.id, words,
                 memory.happened_at or None, memory.archived or None,
                 text_hash(passage.embedded), copy),
            )  # fmt: skip
            connection.execute(
                "INSERT INTO words(rowid, title, summary, body) VALUES (?, ?, ?, ?)",
                (connection.last_insert_rowid(), *fields),
            )
            count, total = count + 1, total + words
        self._resize(connection, count, total)

    def _remove_version(self, connection: apsw.Connection, change: Change) -> None:
        """Take back the rows of a retired version, if this index ever held it."""
        rows: list[Any] = connection.execute(
            "SELECT rowid, number, words FROM passages WHERE version = ?", (change.former_seq,)
        ).fetchall()
        if not rows:
            return
        if change.former is None:
            raise StoreDamaged(
                f"{self._file.path}: words of {change.key.id!r} are still here and its former "
                "text is gone; rebuild the index",
                self._file.path,
            )
        texts = {passage.number: _fields(passage) for passage in passages(change.former)}
        for rowid, number, words in rows:
            self._remove(connection, rowid, texts[number], words)

    def _remove_copies(self, connection: apsw.Connection, key: Key) -> None:
        rows: list[Any] = connection.execute(
            "SELECT p.rowid, p.copy, p.words FROM passages p JOIN facets f ON f.rowid = p.facet "
            "WHERE p.id = ? AND f.namespace = ? AND f.scope = ? AND f.session = ?",
            (key.id, key.namespace, key.scope, key.session),
        ).fetchall()
        for rowid, copy, words in rows:
            title, summary, body = zlib.decompress(copy).decode().split("\n")
            self._remove(connection, rowid, (title, summary, body), words)

    def _remove(
        self, connection: apsw.Connection, rowid: int, fields: tuple[str, str, str], words: int
    ) -> None:
        connection.execute(
            "INSERT INTO words(words, rowid, title, summary, body) VALUES ('delete', ?, ?, ?, ?)",
            (rowid, *fields),
        )
        connection.execute("DELETE FROM passages WHERE rowid = ?", (rowid,))
        connection.execute(REMOVED)
        self._resize(connection, -1, -words)

    def _resize(self, connection: apsw.Connection, passages: int, words: int) -> None:
        connection.execute(
            "UPDATE meta SET value = value + CASE key WHEN 'passages' THEN ? ELSE ? END "
            "WHERE key IN ('passages', 'words')",
            (passages, words),
        )

    def _facet(self, connection: apsw.Connection, memory: Memory) -> int:
        value = (memory.namespace, memory.scope, memory.session, memory.kind, memory.place)
        if value not in self._facets:
            self._facets[value] = facet_of(connection, memory)
        return self._facets[value]

    # --- nominating ----------------------------------------------------------------------------

    def df(self, tokens: Sequence[str]) -> dict[str, int]:
        """In how many passages each token stands."""
        connection = self._file.database.connection
        if connection.in_transaction:  # what is counted now may yet be undone
            return self._count(tokens)
        # A common word takes a tenth of a millisecond to count, and is asked for again.
        version = self._file.database.value("PRAGMA data_version")
        state = (connection, version, connection.total_changes())
        counted = self._counted
        if state != self._counted_at or len(counted) > _COUNTED:
            counted = {}  # another thread may go on with the former one
            self._counted, self._counted_at = counted, state
        new = [token for token in tokens if token not in counted]
        if new:
            counted.update(self._count(new))
        return {token: counted[token] for token in tokens}

    def _count(self, tokens: Sequence[str]) -> dict[str, int]:
        with self._file.database.reading() as connection:
            sql = "SELECT doc FROM vocabulary WHERE term = ?"
            return {token: connection.execute(sql, (token,)).get or 0 for token in tokens}

    def keyword(self, tokens: Sequence[str], k: int, filter: Filter) -> list[tuple[int, float]]:
        """(row, score) of the k passages within the filter that hold any of the tokens, best
        first."""
        if not tokens:
            return []
        clause, arguments = self._restriction(filter)
        # Not ORDER BY rank: FTS5 sorts all matches with their positions then, at twice the cost.
        sql = "SELECT w.rowid, -bm25(w.words) AS score FROM words w "
        if clause:
            sql += (
                "JOIN passages p ON p.rowid = w.rowid JOIN facets f ON f.rowid = p.facet "
                f"WHERE w.words MATCH ? AND {clause} "
            )
        else:
            sql += "WHERE w.words MATCH ? "
        sql += "ORDER BY score DESC, w.rowid LIMIT ?"
        return self._file.database.rows(sql, (match(tokens), *arguments, k))

    def hits(self, chosen: Sequence[tuple[int, float]]) -> list[Hit]:
        """The passages behind these (row, score), in order; one that is gone is left out."""
        found: dict[int, tuple[Key, int]] = {}
        for start in range(0, len(chosen), _AT_ONCE):
            rows = [row for row, _ in chosen[start : start + _AT_ONCE]]
            held = self._file.database.rows(
                "SELECT p.rowid, f.namespace, f.scope, f.session, p.id, p.number FROM passages p "
                "JOIN facets f ON f.rowid = p.facet "
                f"WHERE p.rowid IN ({', '.join('?' * len(rows))})",
                rows,
            )
            found.update({row[0]: (Key(*row[1:5]), row[5]) for row in held})
        return [Hit(*found[row], score, row) for row, score in chosen if row in found]

    def occurrences(self, tokens: Sequence[str]) -> Occurrences | None:
        """Where each token stands, of all passages. None without NumPy."""
        if self._postings is None:
            try:
                from camillo.indexes.postings import Postings
            except ModuleNotFoundError:
                return None
            self._postings = Postings(self._file)
        return self._postings.occurrences(tokens)

    def conversations(self) -> bool:
        """Does any passage belong to a session?"""
        sql = "SELECT 1 FROM facets WHERE session <> '' LIMIT 1"
        return bool(self._file.database.value(sql))

    def kinds(self) -> frozenset[str]:
        return frozenset(
            row[0] for row in self._file.database.rows("SELECT DISTINCT kind FROM facets")
        )

    def _restriction(self, filter: Filter) -> tuple[str, list[Any]]:
        """The filter as SQL over p and f; empty when it admits every passage that is here."""
        clause, arguments = facet_clause(filter)
        database = self._file.database
        clauses = [clause]
        if not database.value(f"SELECT 1 FROM facets f WHERE NOT ({clause}) LIMIT 1", arguments):
            clauses, arguments = [], []
        if filter.source is not None:
            clauses.append("p.source = (SELECT rowid FROM sources WHERE name = ?)")
            arguments.append(filter.source)
        for clause, day in (("p.happened_at >= ?", filter.since),
                            ("p.happened_at < ?", filter.before)):  # fmt: skip
            if day:
                clauses.append(clause)
                arguments.append(day)
        if not filter.archived and database.value(
            "SELECT 1 FROM passages WHERE archived IS NOT NULL LIMIT 1"
        ):
            clauses.append("p.archived IS NULL")
        return " AND ".join(clauses), arguments

    def same_text(self, texts: Sequence[str]) -> list[Key]:
        """The memories that hold one of these texts as a passage, letter for letter."""
        hashes = [text_hash(text) for text in texts]
        rows = self._file.database.rows(
            "SELECT DISTINCT f.namespace, f.scope, f.session, p.id FROM passages p "
            f"JOIN facets f ON f.rowid = p.facet WHERE p.hash IN ({', '.join('?' * len(hashes))})",
            hashes,
        )
        return [Key(*row) for row in rows]

    # --- care ----------------------------------------------------------------------------------

    def reset(self) -> None:
        with self._file.database.write(durable=False) as connection:
            connection.execute("INSERT INTO words(words) VALUES ('delete-all')")
            connection.execute("DELETE FROM passages")
            connection.execute(REMOVED)
            connection.execute("UPDATE meta SET value = 0 WHERE key IN ('passages', 'words')")
            self._cursor.move(connection, 0)

    def check(self) -> Health:
        """Reads every row."""
        database = self._file.database
        problems = []
        try:
            with database.write(durable=False) as connection:
                connection.execute("INSERT INTO words(words) VALUES ('integrity-check')")
            problems += [
                str(row[0]) for row in database.rows("PRAGMA quick_check") if row[0] != "ok"
            ]
            for table in ("passages", "facets", "sources", "meta", "cursors"):
                database.rows(f"SELECT * FROM {table}")
        except StoreDamaged as error:
            problems.append(str(error))
        held = database.value("SELECT count(*) FROM passages")
        counted = self.size()[0]
        if held != counted:
            problems.append(f"{held} passages, {counted} counted")
        return Health(self.name, tuple(problems), (("passages", str(held)),))

    def close(self) -> None:
        """The file is the vault's to close."""


def _fields(passage: PassageText) -> tuple[str, str, str]:
    return (
        token_text(passage.title) if passage.title else "",
        token_text(passage.summary) if passage.summary else "",
        token_text(passage.body) if passage.body else "",
    )
