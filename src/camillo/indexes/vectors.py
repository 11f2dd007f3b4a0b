"""The `vectors` index: what passages mean, as numbers. Part of `index/index.db`.

Format owned: `models` and `vectors`. A vector is int8 with one scale, keyed by (model, hash of the
embedded text): the table is the cache as well, so equal texts are embedded once and a text that
comes back is not embedded again. What is still to embed is not kept in a list but asked of the
passages, so that a crash at any point loses nothing and repeats nothing. Vectors of two models are
never compared: searches use the newest model that is complete. A vector that does not match its
checksum is dropped, and then is one that is still to be made.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence

from camillo.errors import MissingExtra, StoreBusy, StoreFull
from camillo.indexes import fast
from camillo.indexes._file import IndexFile
from camillo.indexes._loaded_vectors import LoadedVectors, Vectors
from camillo.indexes._nearness import Nearness
from camillo.indexes._passages import Columns, stamp_of
from camillo.indexes._vector_bytes import is_sound, packed, quantised
from camillo.model import Filter, Health, Key
from camillo.ports import Model, Store
from camillo.text.passages import text_hash
from camillo.unembedded import Unembedded, embed_all

TYPE_CHECKING = False  # NumPy is imported where it computes: to sweep takes none
if TYPE_CHECKING:
    import apsw
    from numpy import bool_, float32
    from numpy.typing import NDArray

    from camillo.database import Database
    from camillo.indexes._token_filling import TokenFilling
    from camillo.indexes.tokens import TokenIndex
    from camillo.ports import Embedder

__all__ = ["Nearness", "VectorIndex", "quantised"]

_BATCH = 256  # passages that are embedded and written together
_PATIENCE = 0.5  # seconds that a read, or a sweep, waits to write
_BRIEFLY = 0.05  # the same for what is only to spare work
_REMOVED = (
    "INSERT INTO meta VALUES ('vectors_removed', 1) "
    "ON CONFLICT(key) DO UPDATE SET value = value + 1"
)
_WITHOUT = "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.hash = p.hash AND v.model = ?)"
_PASSAGES = "passages p JOIN facets f ON f.rowid = p.facet"
_NEWEST = 2**63 - 1  # before which all rows are


class VectorIndex:
    """Vectors of one store's passages. `lexical` keeps the passages; this follows them."""

    name = "vectors"

    def __init__(self, file: IndexFile, by: str = "auto", tokens: TokenIndex | None = None) -> None:
        """`by` as the setting `search.vectors`. `tokens` is filled in the same pass."""
        self._file = file
        self._tokens = tokens
        self._folder = os.path.dirname(file.path)
        self._by = by
        self._loaded: dict[int, LoadedVectors] = {}
        self._codes: dict[int, fast.Codes] = {}

    # --- filling -------------------------------------------------------------------------------

    def missing(self, embedder: Embedder) -> int:
        """How many texts have no vector of this model yet, or lack their token vectors."""
        lacking, arguments = self._lacking_tokens(embedder)
        sql = f"SELECT count(DISTINCT p.hash) FROM {_PASSAGES} WHERE {_WITHOUT} OR {lacking}"
        return int(self._file.database.value(sql, (self._model(embedder), *arguments)))

    def _lacking_tokens(self, embedder: Embedder) -> tuple[str, tuple[int, ...]]:
        """What is true of a passage that is to get token vectors, as SQL."""
        lacking = self._tokens.lacking(embedder) if self._tokens else None
        return lacking or ("0", ())

    def fill(
        self,
        store: Store,
        embedder: Embedder,
        made_with: str,
        *,
        at_most: int | None = None,
        told: Callable[[int], None] = lambda done: None,
    ) -> int:
        """Embed what has no vector; how many texts are left. May be killed and run again: each
        batch is kept as soon as it is embedded. The model counts as complete when none is left."""
        model = self._model(embedder, made_with)
        tokens = self._tokens.filling(embedder) if self._tokens else None
        embed_all(
            lambda before: self._wanting(embedder, before),
            lambda passages, vectors: self._write(model, passages, vectors, tokens),
            text_hash,
            store,
            embedder,
            embed=tokens.embed if tokens else None,
            newest_first=True,
            at_most=at_most,
            told=told,
        )
        left = self.missing(embedder)
        if not left:
            self._completed(model)
            if self._tokens:
                self._tokens.completed(embedder)
        return left

    def _wanting(self, embedder: Embedder, before: int) -> list[Unembedded]:
        """The next passages below a row (0: the newest) that are to be embedded."""
        lacking, arguments = self._lacking_tokens(embedder)
        rows = self._file.database.rows(
            f"SELECT p.rowid, f.namespace, f.scope, f.session, p.id, p.number, p.hash, {lacking} "
            f"FROM {_PASSAGES} WHERE p.rowid < ? AND ({_WITHOUT} OR {lacking}) "
            "ORDER BY p.rowid DESC LIMIT ?",
            (*arguments, before or _NEWEST, self._model(embedder), *arguments, _BATCH),
        )
        # Of equal texts one that is to get token vectors, or it would be embedded again for them.
        rows.sort(key=lambda row: (row[7], row[0]))
        chosen = {row[6]: row for row in rows}.values()
        return [Unembedded(row[0], Key(*row[1:5]), *row[5:7]) for row in sorted(chosen)]

    def _write(
        self,
        model: int,
        passages: Sequence[Unembedded],
        vectors: NDArray[float32],
        tokens: TokenFilling | None,
    ) -> int:
        """Keep the vectors, and the token vectors that came with them; how many. Those of a text
        which was forgotten meanwhile are not kept."""
        rows = [
            (each.hash, data, zlib.crc32(data), each.row, each.hash, model)
            for each, data in zip(passages, packed(vectors), strict=True)
        ]
        with self._file.database.write(durable=False) as connection:
            before = connection.total_changes()
            connection.executemany(
                "INSERT OR IGNORE INTO vectors(model, hash, data, crc) SELECT m.rowid, ?, ?, ? "
                "FROM passages p, models m WHERE p.rowid = ? AND p.hash = ? AND m.rowid = ?",
                rows,
            )
            written = connection.total_changes() - before
            return written + (tokens.write(connection) if tokens else 0)

    def _model(self, embedder: Embedder, made_with: str = "") -> int:
        """The row of the embedder's model, made when it is new and `made_with` is given; else 0."""
        database = self._file.database
        sql = "SELECT rowid FROM models WHERE name = ?"
        found = database.value(sql, (embedder.id,))
        if found is None and made_with:
            with database.write(durable=False) as connection:
                connection.execute(
                    "INSERT OR IGNORE INTO models(name, dim, made_with) VALUES (?, ?, ?)",
                    (embedder.id, embedder.dim, made_with),
                )
            found = database.value(sql, (embedder.id,))
        return int(found or 0)

    def _completed(self, model: int) -> None:
        """From now on searches use this model; vectors of others go."""
        rows = self._file.database.rows("SELECT rowid, complete FROM models")
        if rows == [(model, 1)]:
            return
        with self._file.database.write(durable=False) as connection:
            connection.execute("UPDATE models SET complete = 1 WHERE rowid = ?", (model,))
            connection.execute("DELETE FROM vectors WHERE model <> ?", (model,))
            self._went(connection)
            connection.execute("DELETE FROM models WHERE rowid <> ?", (model,))

    def sweep(self) -> bool:
        """Drop vectors of texts that no passage holds any more. False while another process
        writes: call again later."""
        database = self._file.database
        gone = database.rows(
            "SELECT rowid FROM vectors WHERE hash NOT IN (SELECT hash FROM passages)"
        )
        if gone:
            return self._drop([row[0] for row in gone])
        try:
            fast.drop_strays(database, self._folder)
        except OSError:  # another process has it open
            return False
        return True

    # --- searching -----------------------------------------------------------------------------

    def models(self) -> list[Model]:
        """The models that have vectors here, oldest first."""
        rows = self._file.database.rows(
            "SELECT name, dim, made_with, complete FROM models ORDER BY rowid"
        )
        return [Model(name, dim, made_with, bool(done)) for name, dim, made_with, done in rows]

    def nearness(self, embedder: Embedder, vector: NDArray[float32]) -> Nearness:
        """How near every passage is to a query's vector (float32, (dim,), unit length) of this
        embedder. Exact: what codes nominate is scored from the vectors. Raises MissingExtra."""
        model = self._model(embedder)
        with self._file.database.lock:
            vectors = self._load(model, embedder.dim)
            codes = self._coded(model, embedder, vectors)
        return Nearness(self, vectors, (model, vector), codes)

    def kept(self, model: int, hashes: Sequence[bytes]) -> dict[bytes, bytes]:
        """The vectors of these texts as they are kept, those that are there and sound."""
        rows = self._file.database.rows(
            "SELECT v.hash, CAST(v.data AS BLOB), v.crc, m.dim FROM vectors v "
            "JOIN models m ON m.rowid = v.model WHERE v.model = ? "
            f"AND v.hash IN ({', '.join('?' * len(hashes))})",
            (model, *hashes),
        )
        return {hash_: data for hash_, data, *rest in rows if is_sound(data, *rest)}

    def count(self, embedder: Embedder) -> int:
        """How many vectors of this model there are."""
        sql = "SELECT count(*) FROM vectors v JOIN models m ON m.rowid = v.model WHERE m.name = ?"
        return int(self._file.database.value(sql, (embedder.id,)))

    def _load(self, model: int, dim: int) -> Vectors:
        """The model's vectors in memory: what came since the last time is added, and all are read
        again when some have gone."""
        database = self._file.database
        with database.reading():
            columns, stamp = self._file.passages.current(), stamp_of(database)
            held = self._loaded.get(model)
            if held is not None and held.codes.shape[1] != dim:
                held = None  # of another model that has no row either
            if held is not None and held.stamp == stamp:
                return held.state()
            removed = _removals(database)
            newest = database.value("SELECT max(rowid) FROM vectors") or 0
            if (
                held is None
                or held.removed != removed
                or held.columns.generation != columns.generation
            ):
                held, damaged = self._read_all(model, dim, columns)
            else:
                held.extend(columns)
                damaged = self._read_new(model, held, newest)
            held.stamp, held.removed, held.newest = stamp, removed, newest
            self._loaded = {model: held}
            state = held.state()
        if damaged:
            self._drop(damaged)  # or not: they are left out anyway
        return state

    def _coded(self, model: int, embedder: Embedder, vectors: Vectors) -> fast.Codes | None:
        """The codes of these vectors, or None where all of them are compared."""
        if self._by == "scan" or not fast.fits(embedder.dim):
            return None
        if self._by == "fast":
            return self._followed(model, embedder, vectors)
        if len(vectors.there) < fast.FROM or int(vectors.there.sum()) < fast.FROM:
            return None
        try:
            return self._followed(model, embedder, vectors)
        except MissingExtra:
            return None

    def _followed(self, model: int, embedder: Embedder, vectors: Vectors) -> fast.Codes:
        """Codes of these vectors: those of the last search, or of a file, brought up to date."""
        codes = self._codes.get(model)
        if codes is None:
            kept = fast.load_codes(self._file.database, self._folder, embedder.id, embedder.dim)
            codes = kept if kept is not None else fast.Codes(embedder.dim)
        codes.follow(vectors)
        self._codes = {model: codes}
        if codes.drifted:
            self._keep(model, embedder, codes)
        return codes

    def _keep(self, model: int, embedder: Embedder, codes: fast.Codes) -> None:
        """Write the codes down, unless a vector that they were made of has gone meanwhile."""
        database = self._file.database
        form = fast.form(embedder.id, embedder.dim, codes)
        codes.settle()
        try:
            with database.patience(_BRIEFLY), database.write(durable=False) as connection:
                if _removals(database) == self._loaded[model].removed:
                    fast.save_codes(connection, self._folder, embedder.id, form)
        except (OSError, StoreBusy, StoreFull):  # they are made again, that is all
            pass

    def _read_all(self, model: int, dim: int, columns: Columns) -> tuple[LoadedVectors, list[int]]:
        loaded = LoadedVectors(columns, dim)
        return loaded, self._take(model, loaded, "1", ())

    def _read_new(self, model: int, loaded: LoadedVectors, newest: int) -> list[int]:
        """The vectors of passages that had none, of which few are read: those that are new, since
        their texts may have vectors of old, and those whose texts got a vector since."""
        damaged: list[int] = []
        lacking = loaded.columns.rows[~loaded.there]
        old, upto = lacking[lacking <= loaded.upto], loaded.upto
        if len(lacking) > len(old):
            damaged += self._take(model, loaded, "p.rowid > ?", (upto,))
            loaded.upto = int(loaded.columns.rows[-1])
        if len(old) and newest > loaded.newest:
            damaged += self._take(
                model,
                loaded,
                "p.rowid BETWEEN ? AND ? AND p.hash IN (SELECT hash FROM vectors WHERE rowid > ?)",
                (int(old[0]), int(old[-1]), loaded.newest),
            )
        return damaged

    def _take(
        self, model: int, loaded: LoadedVectors, where: str, arguments: Sequence[int]
    ) -> list[int]:
        """Read vectors of some passages into memory; which are damaged."""
        rows = self._file.database.rows(
            "SELECT p.rowid, CAST(v.data AS BLOB), v.crc, v.rowid FROM passages p "
            f"CROSS JOIN vectors v ON v.hash = p.hash AND v.model = ? WHERE {where}",
            (model, *arguments),
        )
        dim = loaded.codes.shape[1]
        sound = [row for row in rows if is_sound(row[1], row[2], dim)]
        loaded.take([row[0] for row in sound], [row[1] for row in sound])
        return [row[3] for row in rows if not is_sound(row[1], row[2], dim)]

    def admitted(self, columns: Columns, filter: Filter) -> NDArray[bool_] | None:
        return columns.admitted(self._file.database, filter)

    def _drop(self, rows: Sequence[int]) -> bool:
        """These vectors go; False while another process writes, or when nothing can be written."""
        database = self._file.database
        try:
            with database.patience(_PATIENCE), database.write(durable=False) as connection:
                connection.executemany(
                    "DELETE FROM vectors WHERE rowid = ?", [(row,) for row in rows]
                )
                self._went(connection)
        except (OSError, StoreBusy, StoreFull):
            return False
        return True

    def _went(self, connection: apsw.Connection) -> None:
        """Inside the transaction that takes vectors away: what was made of them goes too."""
        connection.execute(_REMOVED)
        fast.drop_files(connection, self._folder)

    # --- care ----------------------------------------------------------------------------------

    def reset(self) -> None:
        with self._file.database.write(durable=False) as connection:
            connection.execute("DELETE FROM vectors")
            self._went(connection)
            connection.execute("DELETE FROM models")
        self._loaded.clear()
        self._codes.clear()

    def check(self) -> Health:
        rows = self._file.database.rows(
            "SELECT CAST(v.data AS BLOB), v.crc, m.dim FROM vectors v "
            "LEFT JOIN models m ON m.rowid = v.model"
        )
        bad = sum(not is_sound(*row) for row in rows)
        problems = (f"{bad} vectors do not match their checksum",) if bad else ()
        facts = [("vectors", str(len(rows)))]
        facts += [
            ("model", f"{each.name}, {'complete' if each.complete else 'not complete'}")
            for each in self.models()
        ]
        return Health(self.name, problems, tuple(facts))

    def close(self) -> None:
        """The file is the vault's to close."""


def _removals(database: Database) -> int:
    """A counter that moves whenever vectors go."""
    return int(database.value("SELECT value FROM meta WHERE key = 'vectors_removed'") or 0)
