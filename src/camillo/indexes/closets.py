"""The `closets` index: pointer lines of each source, packed. Part of `index/index.db`.

Format owned: `closets` (compressed, since ids fill half of a line) and the contentless FTS5 table
`closet_words`. What a line says is `text/closets.py`'s. A source that changes in any way loses its
closets, always, and gets new ones while it has drawers; so a rebuild gives the same lines.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Sequence

import apsw

from camillo.errors import StoreDamaged
from camillo.indexes._facets import facet_clause, facet_of, source_of
from camillo.indexes._file import FTS_TOKENISER, Cursor, IndexFile, match
from camillo.model import Change, Filter, Health, Key, Memory
from camillo.ports import Store
from camillo.records import NamedTuple
from camillo.text.pointers import (
    CLOSET_VERSION,
    ClosetRules,
    closet_id,
    pack,
    render_line,
    said,
)
from camillo.text.tokens import TOKENISER_VERSION, token_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.text.closets import DrawerSpan

__all__ = ["SCHEMA", "Closet", "ClosetIndex"]

SCHEMA = f"""
CREATE TABLE closets(rowid INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES sources(rowid),
    facet INTEGER NOT NULL REFERENCES facets(rowid), number INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX closets_source ON closets(source);
CREATE VIRTUAL TABLE closet_words USING fts5(body, content='', {FTS_TOKENISER});
INSERT INTO closet_words(closet_words, rank) VALUES ('secure-delete', 1);
"""


class Closet(NamedTuple):
    """One packed closet. `score` orders the closets of one search, higher is better."""

    source: str
    namespace: str
    scope: str
    wing: str
    room: str
    number: int
    lines: tuple[str, ...]
    score: float = 0.0

    @property
    def id(self) -> str:
        return closet_id(self.wing, self.room, self.source, self.number)


class _Source(NamedTuple):
    namespace: str
    scope: str
    name: str


class _News:
    """What one batch of changes says about a source: its new drawers, and how many it has in all
    when its record is among the changes."""

    def __init__(self) -> None:
        self.drawers: dict[Key, Memory] = {}
        self.parts = -1

    def complete(self) -> bool:
        return len(self.drawers) == self.parts


class ClosetIndex:
    """Closets of one store, by the rules that the settings name."""

    name = "closets"

    def __init__(self, file: IndexFile, rules: ClosetRules = ClosetRules()) -> None:
        self._file = file
        self._rules = rules
        self._cursor = Cursor(file, self.name, TOKENISER_VERSION * 1000 + CLOSET_VERSION)

    def cursor(self) -> int:
        return self._cursor.get()

    # --- taking in -----------------------------------------------------------------------------

    def update(self, changes: Sequence[Change], store: Store) -> None:
        if not self._cursor.current():
            self.reset()
        with self._file.database.write(durable=False) as connection:
            seen = self.cursor()
            news = [change for change in changes if change.seq > seen]
            for source, told in _touched(news).items():
                self._purge(connection, source)
                drawers = told.drawers if told.complete() else _stored(source, store)
                self._build(connection, source, sorted(drawers.values(), key=_part))
            self._cursor.move(connection, max([seen, *(change.seq for change in news)]))

    def _build(
        self, connection: apsw.Connection, source: _Source, drawers: Sequence[Memory]
    ) -> None:
        if not drawers:
            return
        # What makes lines is not what a search needs, and a third of its imports.
        from camillo.text.closets import closet_lines

        first = drawers[0]
        text, spans = _joined(drawers)
        lines = closet_lines(
            text,
            spans,
            wing=first.place.wing,
            room=first.place.room,
            stem=os.path.splitext(os.path.basename(source.name))[0],
            date=_date(first),
            rules=self._rules,
            source_name=source.name,
        )
        facet = facet_of(connection, first)
        origin = source_of(connection, first)
        packed = pack([render_line(line) for line in lines], self._rules.closet_chars)
        for number, body in enumerate(packed, 1):
            connection.execute(
                "INSERT INTO closets(source, facet, number, body) VALUES (?, ?, ?, ?)",
                (origin, facet, number, zlib.compress(body.encode())),
            )
            connection.execute(
                "INSERT INTO closet_words(rowid, body) VALUES (?, ?)",
                (connection.last_insert_rowid(), _words(body)),
            )

    def _purge(self, connection: apsw.Connection, source: _Source) -> None:
        rows: list[Any] = connection.execute(
            "SELECT c.rowid, c.body FROM closets c JOIN sources s ON s.rowid = c.source "
            "JOIN facets f ON f.rowid = c.facet "
            "WHERE s.name = ? AND f.namespace = ? AND f.scope = ?",
            (source.name, source.namespace, source.scope),
        ).fetchall()
        for rowid, body in rows:
            connection.execute(
                "INSERT INTO closet_words(closet_words, rowid, body) VALUES ('delete', ?, ?)",
                (rowid, _words(zlib.decompress(body).decode())),
            )
            connection.execute("DELETE FROM closets WHERE rowid = ?", (rowid,))

    # --- finding -------------------------------------------------------------------------------

    def search(self, tokens: Sequence[str], k: int, filter: Filter) -> list[Closet]:
        """The k closets within the filter that hold any of the tokens, best first."""
        if not tokens:
            return []
        clause, arguments = facet_clause(filter)
        if filter.source is not None:
            clause += " AND s.name = ?"
            arguments.append(filter.source)
        return self._read(
            "JOIN closet_words w ON w.rowid = c.rowid",
            f"w.closet_words MATCH ? AND {clause} ORDER BY bm25(w.closet_words), c.rowid LIMIT ?",
            "-bm25(w.closet_words)",
            (match(tokens), *arguments, k),
        )

    def of_source(self, source: str) -> list[Closet]:
        """All closets of a source, in order."""
        return self._read("", "s.name = ? ORDER BY c.rowid", "0.0", (source,))

    def _read(
        self, join: str, where: str, score: str, arguments: Sequence[str | int]
    ) -> list[Closet]:
        rows = self._file.database.rows(
            f"SELECT s.name, f.namespace, f.scope, f.wing, f.room, c.number, c.body, {score} "
            "FROM closets c JOIN sources s ON s.rowid = c.source "
            f"JOIN facets f ON f.rowid = c.facet {join} WHERE {where}",
            arguments,
        )
        return [
            Closet._make((*place, tuple(zlib.decompress(body).decode().split("\n")), score))
            for *place, body, score in rows
        ]

    # --- care ----------------------------------------------------------------------------------

    def reset(self) -> None:
        with self._file.database.write(durable=False) as connection:
            connection.execute("INSERT INTO closet_words(closet_words) VALUES ('delete-all')")
            connection.execute("DELETE FROM closets")
            self._cursor.move(connection, 0)

    def check(self) -> Health:
        """Reads every row."""
        database = self._file.database
        problems = []
        try:
            with database.write(durable=False) as connection:
                connection.execute(
                    "INSERT INTO closet_words(closet_words) VALUES('integrity-check')"
                )
            for (body,) in database.rows("SELECT body FROM closets"):
                zlib.decompress(body).decode()
        except (StoreDamaged, zlib.error, UnicodeDecodeError, TypeError) as error:
            problems.append(f"closets: {error}")
        count = database.value("SELECT count(*) FROM closets")
        return Health(self.name, tuple(problems), (("closets", str(count)),))

    def close(self) -> None:
        """The file is the vault's to close."""


def _touched(changes: Iterable[Change]) -> dict[_Source, _News]:
    """The sources that changes are about, with what these say of their drawers."""
    found: dict[_Source, _News] = {}
    for change in changes:
        memory = change.memory or change.former
        if memory is None or memory.origin is None:
            continue
        if memory.kind == "drawer":
            news = found.setdefault(_source(memory), _News())
            if change.memory and not change.memory.archived:
                news.drawers[change.key] = memory
            else:
                news.drawers.pop(change.key, None)
        elif memory.kind == "source":
            news = found.setdefault(_source(memory), _News())
            news.parts = int(memory.extra.get("parts", -1)) if change.memory else -1
    return found


def _stored(source: _Source, store: Store) -> dict[Key, Memory]:
    filter = Filter(source.namespace, source.scope, source=source.name, kinds=("drawer",))
    return {drawer.key: drawer for drawer in store.scan(filter)}


def _source(memory: Memory) -> _Source:
    name = memory.origin.source if memory.origin else ""
    return _Source(memory.namespace, memory.scope, name)


def _part(drawer: Memory) -> int:
    return drawer.origin.part if drawer.origin else 0


def _joined(drawers: Sequence[Memory]) -> tuple[str, list[DrawerSpan]]:
    """The source's text from its drawers, overlaps once, and where each drawer stands in it."""
    from camillo.text.closets import DrawerSpan

    pieces: list[str] = []
    spans: list[DrawerSpan] = []
    at = end_byte = 0
    for drawer in drawers:
        origin = drawer.origin
        assert origin is not None  # drawers of a source have one
        body = drawer.body
        again = _characters(body, end_byte - origin.byte_start) if at else 0
        spans.append(
            DrawerSpan(
                drawer.id, at - again, at - again + len(body), origin.line_start, origin.line_end
            )
        )
        pieces.append(body[again:])
        at += len(body) - again
        end_byte = origin.byte_end
    return "".join(pieces), spans


def _characters(text: str, count: int) -> int:
    """How many characters the first `count` bytes of a text are; 0 for none."""
    return len(text.encode()[:count].decode(errors="ignore")) if count > 0 else 0


def _date(drawer: Memory) -> str | None:
    """The date of the content, else the day on which it was filed."""
    if drawer.happened_at:
        return drawer.happened_at[:10]
    from datetime import UTC, datetime

    return datetime.fromtimestamp(drawer.created / 1000, UTC).strftime("%Y-%m-%d")


def _words(body: str) -> str:
    """The tokens of a closet: topics and entities, not the pointers."""
    return token_text("\n".join(filter(None, map(said, body.split("\n")))))
