"""The `vectors` index: what passages mean, as numbers. Part of `index/index.db`.

Format owned: `models` and `vectors`. A vector is int8 with one scale, keyed by (model, hash of the
embedded text): the table is the cache as well, so equal texts are embedded once and a text that
comes back is not embedded again. What is still to embed is not kept in a list but asked of the
passages, so that a crash at any point loses nothing and repeats nothing. Vectors of two models are
never compared: searches use the newest model that is complete.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from camillo.errors import StoreDamaged
from camillo.indexes._file import IndexFile, facet_clause
from camillo.model import Filter, Health, Key
from camillo.numeric import np
from camillo.ports import Hit, Store
from camillo.text.passages import passage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from camillo.ports import Embedder

__all__ = ["Nearness", "VectorIndex", "quantised"]

_NEVER = -2.0  # below any cosine
_BATCH = 256  # passages that are embedded and written together
_BLOCK = 8192  # rows that are scanned together: their float copy stays in the processor's cache
_WITHOUT = "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.hash = p.hash AND v.model = ?)"


class Model(NamedTuple):
    """`complete`: every passage had a vector of it once, so searches may use it."""

    name: str
    dim: int
    made_with: str
    complete: bool


class _Loaded(NamedTuple):
    """All vectors of one model in memory: row i belongs to passage i."""

    stamp: tuple[int, int]
    passages: NDArray[np.int64]
    facets: NDArray[np.int32]
    scales: NDArray[np.float32]
    codes: NDArray[np.int8]


class Nearness:
    """The cosine of every passage of one root to one query."""

    def __init__(self, index: VectorIndex, loaded: _Loaded, cosines: NDArray[np.float32]) -> None:
        self._index = index
        self._loaded = loaded
        self._cosines = cosines

    def __len__(self) -> int:
        """How many passages have a vector."""
        return len(self._cosines)

    def of(self, rows: Sequence[int]) -> list[float | None]:
        """The cosine of each passage by its row; None where it has no vector."""
        held = self._loaded.passages
        if not len(held):
            return [None] * len(rows)
        at = np.searchsorted(held, rows).clip(max=len(held) - 1)
        return [
            float(self._cosines[i]) if held[i] == row else None
            for i, row in zip(at, rows, strict=True)
        ]

    def best(self, k: int, filter: Filter) -> list[Hit]:
        """The k nearest passages that the filter admits, nearest first."""
        if not len(self._cosines):
            return []
        allowed = self._index.allowed(self._loaded, filter)
        scores = self._cosines if allowed is None else np.where(allowed, self._cosines, _NEVER)
        chosen = [
            (int(self._loaded.passages[i]), float(scores[i]))
            for i in _best(scores, k)
            if scores[i] > _NEVER
        ]
        return self._index.hits(chosen)


class VectorIndex:
    """Vectors of one store's passages. `lexical` keeps the passages; this follows them."""

    name = "vectors"

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._loaded: dict[int, _Loaded] = {}

    # --- filling -------------------------------------------------------------------------------

    def missing(self, embedder: Embedder) -> int:
        """How many texts have no vector of this model yet."""
        model = self._model(embedder)
        sql = f"SELECT count(DISTINCT p.hash) FROM passages p WHERE {_WITHOUT}"
        return int(self._file.database.value(sql, (model,)))

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
        done = 0
        while at_most is None or done < at_most:
            batch = self._batch(model, store)
            if not batch:
                self._completed(model)
                return 0
            vectors = embedder.embed([text for _, text in batch], "passage")
            self._write(model, embedder.dim, [digest for digest, _ in batch], vectors)
            done += len(batch)
            told(len(batch))
        return self.missing(embedder)

    def _batch(self, model: int, store: Store) -> list[tuple[bytes, str]]:
        """The next texts without a vector, with their hashes."""
        rows = self._file.database.rows(
            "SELECT f.namespace, f.scope, f.session, p.id, p.number, p.hash FROM passages p "
            f"JOIN facets f ON f.rowid = p.facet WHERE {_WITHOUT} GROUP BY p.hash "
            "ORDER BY p.rowid LIMIT ?",
            (model, _BATCH),
        )
        memories = store.get([Key(*row[:4]) for row in rows])
        return [
            (row[5], passage(memory, row[4]).shown)
            for row, memory in zip(rows, memories, strict=True)
            if memory is not None
        ]

    def _write(
        self, model: int, dim: int, hashes: Sequence[bytes], vectors: NDArray[np.float32]
    ) -> None:
        if vectors.shape != (len(hashes), dim):
            raise StoreDamaged(
                f"the embedder gave vectors of shape {vectors.shape}, not {(len(hashes), dim)}; "
                "check its settings"
            )
        codes, scales = quantised(vectors)
        with self._file.database.write(durable=False) as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO vectors(model, hash, scale, data, crc) "
                "VALUES (?, ?, ?, ?, ?)",
                [
                    (model, digest, float(scale), data, zlib.crc32(data))
                    for digest, scale, data in zip(
                        hashes, scales, (row.tobytes() for row in codes), strict=True
                    )
                ],
            )

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
        if self._file.database.value("SELECT complete FROM models WHERE rowid = ?", (model,)):
            return
        with self._file.database.write(durable=False) as connection:
            connection.execute("UPDATE models SET complete = 1 WHERE rowid = ?", (model,))
            connection.execute("DELETE FROM vectors WHERE model <> ?", (model,))
            connection.execute("DELETE FROM models WHERE rowid <> ?", (model,))

    def sweep(self) -> int:
        """Drop vectors of texts that no passage holds any more; how many went."""
        with self._file.database.write(durable=False) as connection:
            connection.execute("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM passages)")
            return connection.changes()

    # --- searching -----------------------------------------------------------------------------

    def models(self) -> list[Model]:
        """The models that have vectors here, oldest first."""
        rows = self._file.database.rows(
            "SELECT name, dim, made_with, complete FROM models ORDER BY rowid"
        )
        return [Model(name, dim, made_with, bool(done)) for name, dim, made_with, done in rows]

    def nearness(self, embedder: Embedder, vector: NDArray[np.float32]) -> Nearness:
        """How near every passage is to a query's vector (float32, (dim,), unit length) of this
        embedder. Exact: all vectors are compared."""
        loaded = self._load(self._model(embedder), embedder.dim)
        return Nearness(self, loaded, _cosines(loaded, vector))

    def count(self, embedder: Embedder) -> int:
        """How many vectors of this model there are."""
        sql = "SELECT count(*) FROM vectors v JOIN models m ON m.rowid = v.model WHERE m.name = ?"
        return int(self._file.database.value(sql, (embedder.id,)))

    def _load(self, model: int, dim: int) -> _Loaded:
        """The model's vectors in memory, read again when another one was written."""
        held = self._loaded.get(model)
        stamp = self._stamp()
        if held is not None and held.stamp == stamp:
            return held
        rows = self._file.database.rows(
            "SELECT p.rowid, p.facet, v.scale, v.data, v.crc FROM passages p "
            "JOIN vectors v ON v.hash = p.hash AND v.model = ? ORDER BY p.rowid",
            (model,),
        )
        for _, _, _, data, crc in rows:
            if zlib.crc32(data) != crc or len(data) != dim:
                raise StoreDamaged(f"{self._file.path}: a vector is damaged; rebuild the index")
        loaded = _Loaded(
            stamp,
            np.fromiter((row[0] for row in rows), np.int64, len(rows)),
            np.fromiter((row[1] for row in rows), np.int32, len(rows)),
            np.fromiter((row[2] for row in rows), np.float32, len(rows)),
            np.frombuffer(b"".join(row[3] for row in rows), np.int8).reshape(len(rows), dim),
        )
        self._loaded = {model: loaded}
        return loaded

    def _stamp(self) -> tuple[int, int]:
        """Differs whenever rows of the file may differ: our own writes, and those of others."""
        connection = self._file.database.connection
        return int(connection.pragma("data_version")), connection.total_changes()

    def allowed(self, loaded: _Loaded, filter: Filter) -> NDArray[np.bool_] | None:
        """Which rows the filter admits; None when all are."""
        database = self._file.database
        clause, arguments = facet_clause(filter)
        barred = database.rows(f"SELECT f.rowid FROM facets f WHERE NOT ({clause})", arguments)
        allowed: NDArray[np.bool_] | None = None
        if barred:
            allowed = ~np.isin(loaded.facets, np.array([row[0] for row in barred], np.int32))
        clauses, values = _passage_clauses(filter)
        if clauses:
            rows = database.rows(f"SELECT p.rowid FROM passages p WHERE {clauses}", values)
            inside = np.isin(loaded.passages, np.array([row[0] for row in rows], np.int64))
            allowed = inside if allowed is None else allowed & inside
        return allowed

    def hits(self, chosen: Sequence[tuple[int, float]]) -> list[Hit]:
        if not chosen:
            return []
        marks = ", ".join("?" * len(chosen))
        rows = self._file.database.rows(
            "SELECT p.rowid, f.namespace, f.scope, f.session, p.id, p.number FROM passages p "
            f"JOIN facets f ON f.rowid = p.facet WHERE p.rowid IN ({marks})",
            [rowid for rowid, _ in chosen],
        )
        by_row = {row[0]: (Key(*row[1:5]), row[5]) for row in rows}
        return [Hit(*by_row[rowid], score, rowid) for rowid, score in chosen if rowid in by_row]

    # --- care ----------------------------------------------------------------------------------

    def reset(self) -> None:
        with self._file.database.write(durable=False) as connection:
            connection.execute("DELETE FROM vectors")
            connection.execute("DELETE FROM models")
        self._loaded.clear()

    def check(self) -> Health:
        rows = self._file.database.rows("SELECT data, crc FROM vectors")
        bad = sum(zlib.crc32(data) != crc for data, crc in rows)
        problems = (f"{bad} vectors do not match their checksum",) if bad else ()
        facts = [("vectors", str(len(rows)))]
        facts += [
            ("model", f"{each.name}, {'complete' if each.complete else 'not complete'}")
            for each in self.models()
        ]
        return Health(self.name, problems, tuple(facts))

    def close(self) -> None:
        """The file is the vault's to close."""


def quantised(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """int8 codes (n, dim) and scales (n,) with codes * scale ≈ vectors."""
    import numpy as np

    scales = np.abs(vectors).max(axis=1) / 127
    safe = np.where(scales > 0, scales, 1).astype(np.float32)
    codes = np.rint(vectors / safe[:, None]).astype(np.int8)
    return codes, scales.astype(np.float32)


def _cosines(loaded: _Loaded, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    scores = np.empty(len(loaded.passages), np.float32)
    for start in range(0, len(scores), _BLOCK):
        block = loaded.codes[start : start + _BLOCK].astype(np.float32)
        scores[start : start + len(block)] = block @ vector
    scores *= loaded.scales
    return scores


def _best(scores: NDArray[np.float32], k: int) -> NDArray[np.intp]:
    """Places of the k highest, highest first; equal ones in order of place."""
    import numpy as np

    k = min(k, len(scores))
    found = np.argpartition(-scores, k - 1)[:k]
    return found[np.lexsort((found, -scores[found]))]


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
    if not filter.archived:
        clauses.append("p.archived IS NULL")
    return " AND ".join(clauses), values
