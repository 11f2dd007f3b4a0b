"""The `vectors` index: what passages mean, as numbers. Part of `index/index.db`.

Format owned: `models` and `vectors`. A vector is int8 with one scale, keyed by (model, hash of the
embedded text): the table is the cache as well, so equal texts are embedded once and a text that
comes back is not embedded again. What is still to embed is not kept in a list but asked of the
passages, so that a crash at any point loses nothing and repeats nothing. Vectors of two models are
never compared: searches use the newest model that is complete. A vector that does not match its
checksum is dropped, and then is one that is still to be made.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence

from camillo.errors import InvalidValue, StoreBusy, StoreDamaged, StoreFull
from camillo.indexes._file import IndexFile, facet_clause
from camillo.model import Filter, Health, Key, Memory
from camillo.ports import Hit, Store
from camillo.records import NamedTuple
from camillo.text.passages import passage, text_hash

TYPE_CHECKING = False  # NumPy is imported where it computes: to sweep takes none
if TYPE_CHECKING:
    from typing import Any

    from numpy import bool_, float32, int8, int64, intp
    from numpy.typing import NDArray

    from camillo.ports import Embedder

__all__ = ["Nearness", "VectorIndex", "quantised"]

_NEVER = -2.0  # below any cosine
_BATCH = 256  # passages that are embedded and written together
_BLOCK = 1024  # rows that are scanned together: their float copy stays in the processor's cache
_PATIENCE = 0.5  # seconds that a read, or a sweep, waits to write
_SCALE = 4  # bytes
_WITHOUT = "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.hash = p.hash AND v.model = ?)"


class Model(NamedTuple):
    """`complete`: every passage had a vector of it once, so searches may use it."""

    name: str
    dim: int
    made_with: str
    complete: bool


class _Wanting(NamedTuple):
    """A passage without a vector: `row` is its row, `hash` that of its text when it was indexed."""

    row: int
    key: Key
    number: int
    hash: bytes


class _Loaded(NamedTuple):
    """All vectors of one model in memory: row i belongs to passage i."""

    stamp: tuple[int, int]
    passages: NDArray[int64]
    facets: NDArray[int64]
    scales: NDArray[float32]
    codes: NDArray[int8]


class Nearness:
    """The cosine of every passage of one root to one query."""

    def __init__(self, index: VectorIndex, loaded: _Loaded, cosines: NDArray[float32]) -> None:
        self._index = index
        self._loaded = loaded
        self._cosines = cosines

    def __len__(self) -> int:
        """How many passages have a vector."""
        return len(self._cosines)

    def of(self, rows: Sequence[int]) -> list[float | None]:
        """The cosine of each passage by its row; None where it has no vector."""
        from camillo.numeric import np

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
        from camillo.numeric import np

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
        after = done = written = 0
        while at_most is None or done < at_most:
            wanting = self._wanting(model, after)
            if not wanting:
                if not written:
                    break
                after = written = 0  # rows may have come in below the last one
                continue
            after = wanting[-1].row
            batch = _with_texts(wanting, store)
            if batch:
                vectors = embedder.embed([text for _, text in batch], "passage")
                written += self._write(model, embedder.dim, [each for each, _ in batch], vectors)
                done += len(batch)
                told(len(batch))
        left = self.missing(embedder)
        if not left:
            self._completed(model)
        return left

    def _wanting(self, model: int, after: int) -> list[_Wanting]:
        """The next passages without a vector, each text once."""
        rows = self._file.database.rows(
            "SELECT p.rowid, f.namespace, f.scope, f.session, p.id, p.number, p.hash "
            "FROM passages p JOIN facets f ON f.rowid = p.facet "
            f"WHERE p.rowid > ? AND {_WITHOUT} ORDER BY p.rowid LIMIT ?",
            (after, model, _BATCH),
        )
        return list({row[6]: _Wanting(row[0], Key(*row[1:5]), *row[5:]) for row in rows}.values())

    def _write(
        self,
        model: int,
        dim: int,
        passages: Sequence[_Wanting],
        vectors: NDArray[float32],
    ) -> int:
        """Keep the vectors; how many. That of a text which was forgotten meanwhile is not kept."""
        if vectors.shape != (len(passages), dim):
            raise InvalidValue(
                f"the embedder gave vectors of shape {vectors.shape}, not {(len(passages), dim)}; "
                "check its settings"
            )
        rows = [
            (each.hash, data, zlib.crc32(data), each.row, each.hash, model)
            for each, data in zip(passages, _packed(vectors), strict=True)
        ]
        with self._file.database.write(durable=False) as connection:
            before = connection.total_changes()
            connection.executemany(
                "INSERT OR IGNORE INTO vectors(model, hash, data, crc) SELECT m.rowid, ?, ?, ? "
                "FROM passages p, models m WHERE p.rowid = ? AND p.hash = ? AND m.rowid = ?",
                rows,
            )
            return connection.total_changes() - before

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
            connection.execute("DELETE FROM models WHERE rowid <> ?", (model,))

    def sweep(self) -> bool:
        """Drop vectors of texts that no passage holds any more. False while another process
        writes: call again later."""
        database = self._file.database
        gone = database.rows(
            "SELECT rowid FROM vectors WHERE hash NOT IN (SELECT hash FROM passages)"
        )
        return not gone or self._drop([row[0] for row in gone])

    # --- searching -----------------------------------------------------------------------------

    def models(self) -> list[Model]:
        """The models that have vectors here, oldest first."""
        rows = self._file.database.rows(
            "SELECT name, dim, made_with, complete FROM models ORDER BY rowid"
        )
        return [Model(name, dim, made_with, bool(done)) for name, dim, made_with, done in rows]

    def nearness(self, embedder: Embedder, vector: NDArray[float32]) -> Nearness:
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
        from camillo.numeric import np

        rows = self._file.database.rows(
            "SELECT p.rowid, p.facet, CAST(v.data AS BLOB), v.crc, v.rowid FROM passages p "
            "JOIN vectors v ON v.hash = p.hash AND v.model = ? ORDER BY p.rowid",
            (model,),
        )
        damaged = [row[4] for row in rows if not _is_sound(row[2], row[3], dim)]
        if damaged:
            self._drop(damaged)  # or not: it is left out anyway
            rows = [row for row in rows if _is_sound(row[2], row[3], dim)]
        packed = np.frombuffer(b"".join(row[2] for row in rows), np.uint8)
        packed = packed.reshape(len(rows), _SCALE + dim)
        loaded = _Loaded(
            stamp,
            np.fromiter((row[0] for row in rows), np.int64, len(rows)),
            np.fromiter((row[1] for row in rows), np.int64, len(rows)),
            packed[:, :_SCALE].copy().view("<f4")[:, 0],
            packed[:, _SCALE:].copy().view(np.int8),
        )
        self._loaded = {model: loaded}
        return loaded

    def _drop(self, rows: Sequence[int]) -> bool:
        """These vectors go; False while another process writes, or when nothing can be written."""
        database = self._file.database
        try:
            with database.patience(_PATIENCE), database.write(durable=False) as connection:
                connection.executemany(
                    "DELETE FROM vectors WHERE rowid = ?", [(row,) for row in rows]
                )
        except (StoreBusy, StoreFull):
            return False
        return True

    def _stamp(self) -> tuple[int, int]:
        """Differs whenever rows of the file may differ: our own writes, and those of others."""
        connection = self._file.database.connection
        return int(connection.pragma("data_version")), connection.total_changes()

    def allowed(self, loaded: _Loaded, filter: Filter) -> NDArray[bool_] | None:
        """Which rows the filter admits; None when all are."""
        from camillo.numeric import np

        database = self._file.database
        clause, arguments = facet_clause(filter)
        barred = database.rows(f"SELECT f.rowid FROM facets f WHERE NOT ({clause})", arguments)
        allowed = np.ones(len(loaded.passages), np.bool_)
        if barred:
            allowed &= ~np.isin(loaded.facets, [row[0] for row in barred])
        clauses, values = _passage_clauses(filter)
        if clauses:
            rows = database.rows(f"SELECT p.rowid FROM passages p WHERE {clauses}", values)
            allowed &= np.isin(loaded.passages, [row[0] for row in rows])
        archived: list[Any] = []
        if not filter.archived:  # few, and found by their own index
            archived = database.rows("SELECT rowid FROM passages WHERE archived IS NOT NULL")
            allowed &= ~np.isin(loaded.passages, [row[0] for row in archived])
        return allowed if barred or clauses or archived else None

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
        rows = self._file.database.rows(
            "SELECT CAST(v.data AS BLOB), v.crc, m.dim FROM vectors v "
            "LEFT JOIN models m ON m.rowid = v.model"
        )
        bad = sum(not _is_sound(*row) for row in rows)
        problems = (f"{bad} vectors do not match their checksum",) if bad else ()
        facts = [("vectors", str(len(rows)))]
        facts += [
            ("model", f"{each.name}, {'complete' if each.complete else 'not complete'}")
            for each in self.models()
        ]
        return Health(self.name, problems, tuple(facts))

    def close(self) -> None:
        """The file is the vault's to close."""


def quantised(vectors: NDArray[float32]) -> tuple[NDArray[int8], NDArray[float32]]:
    """int8 codes (n, dim) and scales (n,) with codes * scale ≈ vectors."""
    from camillo.numeric import np

    scales = np.abs(vectors).max(axis=1) / 127
    safe = np.where(scales > 0, scales, 1).astype(np.float32)
    codes = np.rint(vectors / safe[:, None]).astype(np.int8)
    return codes, scales.astype(np.float32)


def _cosines(loaded: _Loaded, vector: NDArray[float32]) -> NDArray[float32]:
    from camillo.numeric import np

    scores = np.empty(len(loaded.passages), np.float32)
    buffer = np.empty((min(_BLOCK, len(scores)), len(vector)), np.float32)
    for start in range(0, len(scores), _BLOCK):
        codes = loaded.codes[start : start + _BLOCK]
        block = buffer[: len(codes)]
        np.copyto(block, codes)
        np.dot(block, vector, out=scores[start : start + len(codes)])
    scores *= loaded.scales
    return scores


def _with_texts(wanting: Sequence[_Wanting], store: Store) -> list[tuple[_Wanting, str]]:
    """Each with its text. One that has changed since it was indexed waits for the catch-up, one
    that is damaged for its mending."""
    memories = list(_held(store, [each.key for each in wanting]))
    found = []
    for each, memory in zip(wanting, memories, strict=True):
        if memory is not None:
            text = passage(memory, each.number).embedded
            if text_hash(text) == each.hash:
                found.append((each, text))
    return found


def _held(store: Store, keys: Sequence[Key]) -> Iterator[Memory | None]:
    try:
        yield from store.get(keys)
    except StoreDamaged:
        if len(keys) == 1:
            yield None
        else:
            for key in keys:
                yield from _held(store, [key])


def _packed(vectors: NDArray[float32]) -> list[bytes]:
    """Each vector as it is kept: its scale, then its codes."""
    codes, scales = quantised(vectors)
    return [
        scale.tobytes() + row.tobytes()
        for scale, row in zip(scales.astype("<f4"), codes, strict=True)
    ]


def _is_sound(data: Any, crc: Any, dim: Any) -> bool:
    """Is this what was written? Overwritten rows may hold anything."""
    return isinstance(data, bytes) and len(data) - _SCALE == dim and zlib.crc32(data) == crc


def _best(scores: NDArray[float32], k: int) -> NDArray[intp]:
    """Places of the k highest, highest first; equal ones in order of place."""
    from camillo.numeric import np

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
    return " AND ".join(clauses), values
